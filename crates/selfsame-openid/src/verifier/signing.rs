//! What a request by a browser is made of: who signs it, and the pages that ask (OpenID4VP 1.0 Appendix A.2).

use selfsame_credential::evidence::{Evidence, Step};
use selfsame_credential::signer::Signer;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::hash;
use selfsame_driver::Result;
use selfsame_openid4vc::Error;
use selfsame_openid4vc::verifier::{Asked, VerificationState};
use selfsame_openid4vc::wire::request::ClientId;

use super::Verifier;
use crate::refusal::refusal;
use selfsame_core::certificate::Certificate;
use selfsame_core::gather::Freshness;

/// An identity that a verifier signs requests with.
pub struct SigningClient {
    /// Its client identifier.
    pub client: ClientId,
    /// Its key.
    pub signer: Signer,
}

impl Verifier {
    /// A request that can still be answered.
    ///
    /// # Errors
    /// `NotFound`; `Gone` if it is answered or declined.
    pub async fn open_request(&self, id: &str) -> Result<Asked> {
        let (record, version) = self.record(id).await?;
        let asked = match &record.state {
            VerificationState::Created(_) | VerificationState::Fetched(_) => {
                Ok(record.state.asked().clone())
            }
            VerificationState::Answered(_) | VerificationState::Declined(_) => {
                Err(refusal(Error::Expired("the request has been answered")))
            }
        };
        self.records.keep(version, record);
        asked
    }

    /// The identities that it signs requests with; that of this request comes first. By HAIP 1.0 §5 it is `x509_hash`
    /// alone.
    #[must_use]
    pub fn signing_clients(&self, asked: &Asked) -> Vec<SigningClient> {
        let mut clients = vec![ClientId::DecentralizedIdentifier(self.client_did())];
        if let Some(certificate) = &self.context.verifier_certificate {
            clients.push(hash_of(certificate));
            clients.push(ClientId::X509SanDns(certificate.name.clone()));
        }
        let is_free = self.context.config.verifier.profile.is_none();
        clients.retain(|client| is_free || matches!(client, ClientId::X509Hash(_)));
        clients.sort_by_key(|client| client.to_string() != asked.client_id);
        let signing = clients.into_iter().map(|client| SigningClient {
            signer: self.signer_of(Some(&client)),
            client,
        });
        signing.collect()
    }

    /// Gathers for a step what it needs, such as signatures of this verifier.
    ///
    /// # Errors
    /// Those of the step, and of what it needs.
    pub async fn run<T: Send>(
        &self,
        step: impl FnMut(&Evidence) -> Result<Step<T>> + Send,
    ) -> Result<T> {
        let freshness = Freshness { max_status_age: 0 };
        self.shared.run(self.tenant(), freshness, step).await
    }

    /// The time and the randomness of a step.
    #[must_use]
    pub fn ctx(&self) -> Ctx {
        self.shared.clock.ctx()
    }

    /// The origins of the pages on which it asks: where its people work, its own addresses, and those of the settings.
    #[must_use]
    pub fn origins(&self) -> Vec<String> {
        let own = [&self.shared.config.origin, &self.context.organisation.base];
        let mut origins: Vec<String> = own
            .into_iter()
            .map(|url| url.origin().ascii_serialization())
            .chain(self.context.config.verifier.origins.iter().cloned())
            .collect();
        let mut seen = std::collections::BTreeSet::new();
        origins.retain(|origin| seen.insert(origin.clone()));
        origins
    }
}

/// The client that is known by the hash of this certificate.
pub(super) fn hash_of(certificate: &Certificate) -> ClientId {
    let leaf = certificate.signer.x5c.first();
    ClientId::X509Hash(hash::sha256(leaf.map_or(&[][..], Vec::as_slice)))
}
