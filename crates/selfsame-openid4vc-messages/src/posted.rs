//! How requests are posted to an issuer's endpoints: in the clear, or encrypted (OpenID4VCI 1.0 §10).

use selfsame_crypto::json;
use selfsame_crypto::seal::SealingKey;
use serde::{Deserialize, Serialize};

use crate::encryption::{EncryptionKey, EncryptionParameters};
use crate::error::{CredentialCode, Error};

/// Maximum size of an encrypted request, in bytes.
pub(crate) const MAX_ENCRYPTED: usize = 1 << 20;

/// Whether an issuer's credential endpoint encrypts messages (§10).
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WantedEncryption {
    /// It does not.
    Off,
    /// Wallets may encrypt.
    Allowed,
    /// Wallets must encrypt.
    Required,
}

/// How an issuer's credential endpoint encrypts messages.
#[derive(Clone, Debug)]
pub struct EndpointEncryption {
    /// The key that requests are encrypted to.
    pub key: EncryptionKey,
    /// Whether requests and responses must be encrypted.
    pub required: bool,
}

impl EndpointEncryption {
    /// With the encryption key beside this key; `None` if messages are not encrypted.
    ///
    /// # Errors
    /// If the cryptographic library fails.
    pub fn new(wanted: WantedEncryption, beside: &SealingKey) -> Result<Option<Self>, Error> {
        let required = match wanted {
            WantedEncryption::Off => return Ok(None),
            WantedEncryption::Allowed => false,
            WantedEncryption::Required => true,
        };
        let key = EncryptionKey::beside(beside)?;
        Ok(Some(Self { key, required }))
    }
}

/// A request that can be encrypted, and can ask for an encrypted response (§10).
pub(crate) trait PostedRequest: Sized {
    /// Parses the request in the clear.
    fn in_the_clear(body: &[u8]) -> Result<Self, Error>;

    /// What the response is to be encrypted with.
    fn response_encryption(&self) -> Option<&EncryptionParameters>;
}

/// Reads a request that was posted to an endpoint that encrypts in this way, or not at all (§10). A text of the form of a
/// compact JWE is an encrypted request, anything else one in the clear.
///
/// # Errors
/// `invalid_encryption_parameters` if the request or its response is not encrypted as it must be; otherwise those of the
/// request itself.
pub(crate) fn read_posted<R: PostedRequest>(
    body: &[u8],
    encryption: Option<&EndpointEncryption>,
) -> Result<R, Error> {
    let refuse =
        |reason: &str| Error::credential(CredentialCode::InvalidEncryptionParameters, reason);
    let is_plain = !is_compact_jwe(body.trim_ascii());
    let request = match encryption {
        None if is_plain => R::in_the_clear(body)?,
        None => return Err(refuse("this issuer takes no encrypted requests")),
        Some(encryption) if is_plain => {
            let request = R::in_the_clear(body)?;
            if encryption.required {
                return Err(refuse("this issuer requires that requests are encrypted"));
            }
            request
        }
        Some(encryption) => {
            let text = std::str::from_utf8(body)
                .map_err(|_| refuse("the encrypted request is not a text"))?;
            let opened = encryption.key.open(text.trim(), MAX_ENCRYPTED);
            let plain = opened.map_err(|error| refuse(&error.to_string()))?;
            R::in_the_clear(plain.expose())?
        }
    };
    match (request.response_encryption(), encryption) {
        // §8.2, §9.1: a request that asks for an encrypted response is itself encrypted.
        (Some(_), _) if is_plain => Err(refuse(
            "a request for an encrypted response must be encrypted itself",
        )),
        (None, Some(EndpointEncryption { required: true, .. })) => Err(refuse(
            "this issuer requires credential_response_encryption",
        )),
        (Some(wanted), _) => match wanted.to() {
            Ok(_) => Ok(request),
            Err(why) => Err(refuse(&format!("credential_response_encryption: {why}"))),
        },
        (None, _) => Ok(request),
    }
}

/// Whether bytes are five parts of base64url (RFC 7516 §3.1).
fn is_compact_jwe(bytes: &[u8]) -> bool {
    let is_base64url = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let mut parts = bytes.split(|byte| *byte == b'.');
    parts.clone().count() == 5 && parts.all(|part| part.iter().all(is_base64url))
}

// §8.2: `zip` asks for compression, which we do not offer.
pub(crate) fn response_encryption(value: serde_json::Value) -> Result<EncryptionParameters, Error> {
    let refuse =
        |reason: &str| Error::credential(CredentialCode::InvalidEncryptionParameters, reason);
    if value.get("zip").is_some() {
        return Err(refuse("compressed responses are not supported (zip)"));
    }
    json::value_as(value).map_err(|_| refuse("credential_response_encryption needs jwk and enc"))
}
