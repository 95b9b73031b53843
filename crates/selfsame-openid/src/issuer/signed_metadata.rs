//! The issuer's metadata, signed by it (OpenID4VCI 1.0 §12.2.3): by the certificate that its SD-JWT VCs are signed by, or
//! else by the key of its credentials.

use std::sync::{Mutex, PoisonError};

use selfsame_credential::Format;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_openid4vc::wire::signed_metadata::{SignedTerms, draft};

use super::Issuer;
use super::signing::{CredentialKind, Signatory, header, signatory};
use crate::refusal::refusal;
use crate::view::documents::DocumentsId;

/// Seconds for which signed metadata hold.
const LIFETIME: u64 = 24 * 3600;
/// Seconds after which they are signed anew.
const RENEWED_AFTER: u64 = LIFETIME / 2;

/// The metadata that were signed last.
#[derive(Default)]
pub(super) struct LastSigned(Mutex<Option<HeldToken>>);

#[derive(Clone)]
struct HeldToken {
    of: DocumentsId,
    signed: UnixTime,
    token: String,
}

impl LastSigned {
    fn find(&self, of: DocumentsId, now: UnixTime) -> Option<String> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_fresh = |held: &&HeldToken| held.of == of && now < held.signed.plus(RENEWED_AFTER);
        held.as_ref()
            .filter(is_fresh)
            .map(|held| held.token.clone())
    }

    fn hold(&self, token: HeldToken) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *held = Some(token);
    }
}

impl Issuer {
    /// Whether it signs its metadata. By HAIP 1.0 §4.1 that takes a certificate, which not each organisation has.
    #[must_use]
    pub fn signs_metadata(&self) -> bool {
        let is_certified = self.context.issuer_certificate.is_some();
        self.context.config.issuer.profile.is_none() || is_certified
    }

    /// Its metadata as a JWT.
    ///
    /// # Errors
    /// The store's and the key store's.
    pub async fn signed_metadata(&self) -> Result<String> {
        let current = self.current_shown().await?;
        let (of, now) = (current.documents, self.shared.clock.now());
        if let Some(token) = self.signed.find(of, now) {
            return Ok(token);
        }
        let published = self.documents_of(&current)?;
        let kind = CredentialKind::of(Format::DEFAULT);
        let Signatory { issuer, signer } = signatory(&self.context, &self.identity, kind);
        let terms = SignedTerms {
            header: &header(&signer),
            subject: &self.context.organisation.identifier,
            signer: &issuer,
            issued_at: now,
            expires_at: now.plus(LIFETIME),
        };
        let draft = draft(&published.issuer, &terms).map_err(refusal)?;
        let (keys, tenant) = (&self.shared.keys, self.identity.tenant());
        let signature = keys
            .sign(tenant, &signer.key, draft.signing_input())
            .await?;
        let token = draft.finish(&signature);
        let (signed, kept) = (now, token.clone());
        self.signed.hold(HeldToken {
            of,
            signed,
            token: kept,
        });
        Ok(token)
    }
}
