//! The sessions of people at the provider: a browser that proved who its person is need not do so for each client.

use selfsame_core::Shared;
use selfsame_crypto::SecretString;
use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_oauth::secret;
use selfsame_oidc::FactorKind;
use selfsame_store::{Put, Tag, TenantId};
use serde::{Deserialize, Serialize};

use crate::record::PERSON_TAG;

/// The kind of the records of sessions.
pub const SIGN_IN_SESSION: &str = "sign_in_session";

/// A session.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct ProviderSession {
    /// The identity system's handle of the person.
    pub handle: String,
    /// The subject, if the identity system makes subjects; then it is of one party alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The identity system's token.
    #[serde(with = "secret")]
    pub token: SecretString,
    /// The factors that were checked.
    pub factors: Vec<FactorKind>,
    /// When.
    pub at: UnixTime,
    /// Its identifier for clients.
    pub sid: String,
}

/// The id of the record of a session. The database shows ids; a session cannot be used by them.
pub(crate) fn session_id(token: &SecretString) -> String {
    base64url_encode(&sha256(token.expose().as_bytes()))
}

impl ProviderSession {
    /// Its record.
    ///
    /// # Errors
    /// `Internal` if it can't be encoded.
    pub fn put(&self, token: &SecretString, expires: UnixTime) -> Result<Put> {
        let put = Put::new(SIGN_IN_SESSION, session_id(token), encode(self)?);
        let put = put.tag(Tag::hashed(PERSON_TAG, self.handle.as_str()));
        Ok(put.expires(expires))
    }

    /// The session of a browser that has this token.
    ///
    /// # Errors
    /// The store's.
    pub async fn find(
        shared: &Shared,
        tenant: &TenantId,
        token: &SecretString,
    ) -> Result<Option<Self>> {
        let id = session_id(token);
        let record = shared.store.read(tenant, SIGN_IN_SESSION, &id).await?;
        let read = record.map(|record| decode(&record.value));
        read.transpose()
    }
}
