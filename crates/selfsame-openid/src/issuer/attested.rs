//! Wallets that are attested: their challenges, and who redeems codes.

use selfsame_attester::{AttestationHeaders, AttestedClient, ChallengeAnswer, PresentedClient};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_oauth::{Code, TokenRequest};

use super::Issuer;
use crate::refusal::refusal;

/// The kind of the records of proofs of possession that were used.
pub(super) const POP: &str = "attestation_pop";

impl Issuer {
    /// A challenge for the next proof of possession of an attested key; `None` where attestations do not count.
    #[must_use]
    pub fn challenge(&self) -> Option<ChallengeAnswer> {
        let server = &self.context.organisation.identifier;
        let ctx = self.shared.clock.ctx();
        self.context.gate.challenge(server, &ctx)
    }

    /// The wallet that redeems a code, if it is attested. It is the client of the request.
    pub(super) fn attested(
        &self,
        headers: Option<AttestationHeaders<'_>>,
        request: &mut TokenRequest,
    ) -> Result<Option<AttestedClient>> {
        let presented = PresentedClient {
            headers,
            client_id: request.client_id.as_deref(),
            server: &self.context.organisation.identifier,
        };
        let admitted = self
            .context
            .gate
            .admitted(&presented, self.shared.clock.now())
            .map_err(selfsame_openid4vc::Error::from)
            .map_err(refusal)?;
        if let Some(attested) = &admitted {
            request.client_id = Some(attested.client_id.clone());
        }
        Ok(admitted)
    }
}

/// The refusal of a proof of possession that was used before.
pub(super) fn replayed() -> Error {
    let code = Code::InvalidClientAttestation.as_str();
    Error::new(ErrorKind::Unauthenticated, "attestation-pop-used").with_code(code)
}
