//! Encrypting the answer to the verifier, where it asks by `direct_post.jwt` (OpenID4VP 1.0 §8.3).

use selfsame_crypto::Jwk;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::jwe::{ContentEncryption, Recipient};
use serde_json::{Map, Value};

use super::request::ClientMetadata;
use super::response::{Answer, AuthorizationResponse};
use crate::error::Error;

/// As many of a verifier's keys are looked at.
const MAX_KEYS: usize = 16;

/// Whom an answer is encrypted to, and how.
#[derive(Clone, Debug)]
pub struct ResponseEncryption {
    recipient: Recipient,
    encryption: ContentEncryption,
}

impl ResponseEncryption {
    /// The first of the verifier's keys that can be encrypted to here, with the strongest encryption it can undo.
    ///
    /// # Errors
    /// `invalid_request` if there is none of either.
    pub fn of(metadata: &ClientMetadata) -> Result<Self, Error> {
        let keys = metadata.jwks.as_ref().and_then(|set| set.get("keys"));
        let keys = keys
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice);
        let recipient = keys
            .iter()
            .take(MAX_KEYS)
            .find_map(|key| Recipient::of(&Jwk::from_value(key).ok()?).ok());
        let recipient = recipient.ok_or_else(|| {
            Error::invalid_request("client_metadata has no key for ECDH-ES on P-256 to encrypt to")
        })?;
        let encryption = match &metadata.encrypted_response_enc_values_supported {
            // §5.1: the default.
            None => Some(ContentEncryption::A128Gcm),
            Some(names) => ContentEncryption::ALL
                .into_iter()
                .find(|one| names.iter().any(|name| name == one.as_str())),
        };
        let encryption = encryption.ok_or_else(|| {
            Error::invalid_request(
                "encrypted_response_enc_values_supported has neither A128GCM nor A256GCM",
            )
        })?;
        Ok(Self {
            recipient,
            encryption,
        })
    }

    /// The form's one parameter: the answer's parameters as a JSON object, encrypted.
    ///
    /// # Errors
    /// Should the cryptographic library fail.
    pub fn parameters(
        &self,
        response: &AuthorizationResponse,
        ctx: &Ctx,
    ) -> Result<Vec<(String, String)>, Error> {
        let mut members: Map<String, Value> = response
            .parameters()
            .into_iter()
            .map(|(name, text)| (name, Value::from(text)))
            .collect();
        // In a form it is JSON text, here the object itself.
        if let Answer::Presented(vp_token) = &response.answer {
            let value = serde_json::to_value(vp_token).unwrap_or_default();
            members.insert("vp_token".to_owned(), value);
        }
        let content = Value::Object(members).to_string();
        let token = self
            .recipient
            .encrypt(content.as_bytes(), self.encryption, ctx);
        let token = token.map_err(|error| Error::Setup(error.to_string()))?;
        Ok(vec![("response".to_owned(), token)])
    }
}
