//! Encrypts the answer to the verifier if the request uses `direct_post.jwt` (OpenID4VP 1.0 §8.3).

use selfsame_crypto::Jwk;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::jwe::{ContentEncryption, Recipient};
use serde_json::{Map, Value};

use super::client_metadata::ClientMetadata;
use super::response::{AuthorizationResponse, VpResponse};
use crate::error::Error;

/// Maximum number of a verifier's keys to consider.
const MAX_KEYS: usize = 16;

/// The key and the algorithms that an answer is encrypted with.
#[derive(Clone, Debug)]
pub struct ResponseEncryption {
    recipient: Recipient,
    encryption: ContentEncryption,
}

impl ResponseEncryption {
    /// Chooses the first of the verifier's keys that this wallet supports, and the strongest content encryption that
    /// both support.
    ///
    /// # Errors
    /// `invalid_request` if no key or no content encryption is supported.
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
            Error::invalid_request("client_metadata has no encryption key for ECDH-ES on P-256")
        })?;
        let encryption = match &metadata.encrypted_response_enc_values_supported {
            // §5.1: the default value.
            None => Some(ContentEncryption::A128Gcm),
            Some(names) => ContentEncryption::GCM
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

    /// The form with its single parameter: the answer's parameters as a JSON object, encrypted.
    ///
    /// # Errors
    /// An error of the cryptographic library.
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
        // In a form, `vp_token` is JSON text; here it is the JSON object itself.
        if let VpResponse::Presented(vp_token) = &response.answer {
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
