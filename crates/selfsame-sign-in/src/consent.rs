//! What a person agreed to: remembered, so that they are asked again only about something else.

use selfsame_core::Shared;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::{sha256, sha256_parts};
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_oauth::ScopeSet;
use selfsame_oidc::claims::ClaimQuestion;
use selfsame_store::{Put, Tag, TenantId};
use serde::{Deserialize, Serialize};

use crate::record::{AgreedTo, PERSON_TAG};

/// The kind of the records of agreements.
pub const CONSENT: &str = "sign_in_consent";

/// What a person is asked.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct ConsentQuestion {
    /// The claims.
    pub claims: ClaimQuestion,
    /// The scopes that do not stand for claims.
    pub scopes: ScopeSet,
}

impl ConsentQuestion {
    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.claims.essential.is_empty()
            && self.claims.voluntary.is_empty()
            && self.scopes.is_empty()
    }

    /// A hash by which an equal question is known again.
    pub fn hash(&self) -> [u8; 32] {
        let lists = [&self.claims.essential, &self.claims.voluntary];
        let [essential, voluntary] = lists.map(|list| {
            let names: Vec<&str> = list.iter().map(String::as_str).collect();
            names.join(" ")
        });
        let text = format!("{essential}\n{voluntary}\n{}", self.scopes);
        sha256(text.as_bytes())
    }
}

/// An agreement.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct ConsentRecord {
    /// The client.
    pub client_id: String,
    /// The hash of the question.
    pub question: [u8; 32],
    /// What was agreed to.
    pub agreed: AgreedTo,
    /// When.
    pub at: UnixTime,
}

/// The id of the record of a person's agreement with a client.
pub(crate) fn consent_id(client_id: &str, handle: &str) -> String {
    let length = client_id.len().to_be_bytes();
    let digest = sha256_parts(&[&length, client_id.as_bytes(), handle.as_bytes()]);
    base64url_encode(&digest)
}

impl ConsentRecord {
    /// Its record.
    ///
    /// # Errors
    /// `Internal` if it can't be encoded.
    pub fn put(&self, handle: &str, expires: UnixTime) -> Result<Put> {
        let id = consent_id(&self.client_id, handle);
        let put = Put::new(CONSENT, id, encode(self)?);
        Ok(put.tag(Tag::hashed(PERSON_TAG, handle)).expires(expires))
    }

    /// What a person agreed to with a client.
    ///
    /// # Errors
    /// The store's.
    pub async fn find(
        shared: &Shared,
        tenant: &TenantId,
        client_id: &str,
        handle: &str,
    ) -> Result<Option<Self>> {
        let id = consent_id(client_id, handle);
        let record = shared.store.read(tenant, CONSENT, &id).await?;
        let read = record.map(|record| decode(&record.value));
        read.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_that_becomes_essential_makes_another_question() {
        let question = |essential: &[&str], voluntary: &[&str]| {
            let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            let claims = ClaimQuestion {
                essential: set(essential),
                voluntary: set(voluntary),
            };
            let scopes = ScopeSet::default();
            ConsentQuestion { claims, scopes }.hash()
        };
        assert_eq!(question(&["a"], &["b", "c"]), question(&["a"], &["c", "b"]));
        assert_ne!(question(&["a"], &["b"]), question(&[], &["a", "b"]));
        assert_ne!(question(&["a", "b"], &[]), question(&["a"], &["b"]));
    }
}
