//! The answers of browsers as JSON, in the form that `PublicKeyCredential.toJSON` gives them (§5.1).

use selfsame_crypto::encoding::base64url_decode;
use serde::Deserialize;

use crate::client::ClientData;
use crate::error::PasskeyError;

/// What a browser sends after a passkey was created: `RegistrationResponseJSON`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistrationResponse {
    id: String,
    raw_id: String,
    #[serde(rename = "type")]
    kind: String,
    pub(crate) response: AttestationAnswer,
}

/// What a browser sends after a passkey has answered: `AuthenticationResponseJSON`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssertionResponse {
    id: String,
    raw_id: String,
    #[serde(rename = "type")]
    kind: String,
    pub(crate) response: AssertionAnswer,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttestationAnswer {
    #[serde(rename = "clientDataJSON")]
    pub(crate) client_data: String,
    pub(crate) attestation_object: String,
    #[serde(default)]
    pub(crate) transports: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AssertionAnswer {
    #[serde(rename = "clientDataJSON")]
    pub(crate) client_data: String,
    pub(crate) authenticator_data: String,
    pub(crate) signature: String,
    #[serde(default)]
    pub(crate) user_handle: Option<String>,
}

impl RegistrationResponse {
    /// The id of the passkey that was created, in base64url.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn id(&self) -> Result<&str, PasskeyError> {
        checked(&self.id, &self.raw_id, &self.kind)
    }

    /// The challenge that it answers, of which nothing is checked yet.
    ///
    /// # Errors
    /// Those of [`ClientData::read`].
    pub fn challenge(&self) -> Result<Vec<u8>, PasskeyError> {
        Ok(ClientData::read(&bytes(&self.response.client_data)?)?.challenge)
    }
}

impl AssertionResponse {
    /// The id of the passkey that answers, in base64url.
    ///
    /// # Errors
    /// `Malformed`.
    pub fn id(&self) -> Result<&str, PasskeyError> {
        checked(&self.id, &self.raw_id, &self.kind)
    }

    /// The challenge that it answers, of which nothing is checked yet.
    ///
    /// # Errors
    /// Those of [`ClientData::read`].
    pub fn challenge(&self) -> Result<Vec<u8>, PasskeyError> {
        Ok(ClientData::read(&bytes(&self.response.client_data)?)?.challenge)
    }
}

/// The id, which is written twice, of a public key.
fn checked<'a>(id: &'a str, raw_id: &str, kind: &str) -> Result<&'a str, PasskeyError> {
    match id == raw_id && kind == "public-key" {
        true => Ok(id),
        false => Err(PasskeyError::Malformed("credential")),
    }
}

/// The bytes of a text in base64url.
pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, PasskeyError> {
    base64url_decode(text).map_err(|_| PasskeyError::Malformed("base64url"))
}
