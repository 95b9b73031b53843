//! Credentials that take their time (OpenID4VCI 1.0 §8.3, §9): the answer that says so, and the request to look again.

use selfsame_crypto::{Jwk, json};
use serde::{Deserialize, Serialize};

use crate::encryption::EncryptionParameters;
use crate::error::{CredentialCode, Error};
use crate::posted::{EndpointEncryption, PostedRequest, read_posted, response_encryption};

/// The longest transaction identifier, in bytes.
const MAX_ID: usize = 512;
/// The longest wait between two looks, in seconds. An issuer that names a longer one is asked after this.
const MAX_INTERVAL: u32 = 7 * 86_400;

/// An answer without credentials: they are prepared.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct DeferredResponse {
    /// The issuer's name for what it prepares.
    pub transaction_id: String,
    /// Seconds after which the wallet may look again.
    pub interval: u32,
}

#[derive(Deserialize)]
struct RawResponse {
    transaction_id: String,
    interval: f64,
}

impl DeferredResponse {
    /// Parses an answer. Unknown members are ignored.
    ///
    /// # Errors
    /// If it names no transaction, or no time to wait (§8.3: both are required).
    pub fn parse(body: &[u8], advice: &'static str) -> Result<Self, Error> {
        let bad = || Error::counterpart("the issuer defers, but does not say until when", advice);
        let raw: RawResponse = json::parse_as(body, &crate::limits()).map_err(|_| bad())?;
        let is_named = !raw.transaction_id.is_empty() && raw.transaction_id.len() <= MAX_ID;
        // §8.3: a positive number, which need not be whole.
        let interval = Some(raw.interval).filter(|seconds| *seconds > 0.0);
        let interval = interval.filter(|_| is_named).ok_or_else(bad)?;
        let most = f64::from(MAX_INTERVAL);
        Ok(Self {
            transaction_id: raw.transaction_id,
            interval: interval.ceil().min(most) as u32,
        })
    }
}

/// A request for credentials that were deferred.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeferredRequest {
    /// The issuer's name for what it prepares.
    pub transaction_id: String,
    /// What the response is to be encrypted with (§9.1), whatever the first request said.
    pub response_encryption: Option<EncryptionParameters>,
}

#[derive(Deserialize)]
struct GivenRequest {
    transaction_id: String,
    #[serde(default)]
    credential_response_encryption: Option<serde_json::Value>,
}

/// A key that a deferred request has proven, kept until its credential is made.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct KeptHolder {
    /// The key.
    pub key: Jwk,
    /// The DID that the key belongs to, if the proof named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub did: Option<String>,
}

#[derive(Serialize)]
struct RawRequest<'a> {
    transaction_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    credential_response_encryption: Option<&'a EncryptionParameters>,
}

impl PostedRequest for DeferredRequest {
    fn in_the_clear(body: &[u8]) -> Result<Self, Error> {
        Self::parse(body)
    }

    fn response_encryption(&self) -> Option<&EncryptionParameters> {
        self.response_encryption.as_ref()
    }
}

impl DeferredRequest {
    /// Reads a request that was posted to an endpoint that encrypts in this way, or not at all (§9.1, §10).
    ///
    /// # Errors
    /// `invalid_encryption_parameters` if the request or its response is not encrypted as it must be; otherwise as
    /// [`Self::parse`].
    pub fn read(body: &[u8], encryption: Option<&EndpointEncryption>) -> Result<Self, Error> {
        read_posted(body, encryption)
    }

    /// Parses a request in the clear; unknown members are ignored (§9.1), repeated ones refused.
    ///
    /// # Errors
    /// `invalid_credential_request` if it names no transaction, `invalid_transaction_id` if the name is longer than any.
    pub fn parse(body: &[u8]) -> Result<Self, Error> {
        let refuse = |code, reason: &str| Error::credential(code, reason);
        let malformed = CredentialCode::InvalidCredentialRequest;
        let given: GivenRequest = json::parse_as(body, &crate::limits()).map_err(|_| {
            refuse(
                malformed,
                "the request lacks transaction_id, or is malformed",
            )
        })?;
        if given.transaction_id.is_empty() {
            return Err(refuse(malformed, "transaction_id is empty"));
        }
        if given.transaction_id.len() > MAX_ID {
            let code = CredentialCode::InvalidTransactionId;
            return Err(refuse(code, "transaction_id is too long"));
        }
        let encryption = given.credential_response_encryption;
        Ok(Self {
            transaction_id: given.transaction_id,
            response_encryption: encryption.map(response_encryption).transpose()?,
        })
    }

    /// The request as JSON.
    pub fn to_json(&self) -> String {
        let raw = RawRequest {
            transaction_id: &self.transaction_id,
            credential_response_encryption: self.response_encryption.as_ref(),
        };
        serde_json::to_string(&raw).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(body: &str) -> Result<DeferredResponse, Error> {
        DeferredResponse::parse(body.as_bytes(), "")
    }

    #[test]
    fn the_example_of_the_specification_is_read() {
        let body = r#"{"transaction_id": "8xLOxBtZp8", "interval": 3600, "more": 1}"#;
        let read = parse(body).unwrap();
        assert_eq!(read.transaction_id, "8xLOxBtZp8");
        assert_eq!(read.interval, 3600);
    }

    #[test]
    fn a_wait_is_a_positive_number_and_has_a_bound() {
        let interval = |text: &str| {
            let body = format!(r#"{{"transaction_id":"a","interval":{text}}}"#);
            parse(&body).map(|read| read.interval).ok()
        };
        assert_eq!(interval("0.2"), Some(1));
        assert_eq!(interval("1e9"), Some(MAX_INTERVAL));
        for bad in ["0", "-5", "\"5\"", "null", "[]"] {
            assert_eq!(interval(bad), None, "{bad}");
        }
    }

    fn refused(body: &str) -> Option<&'static str> {
        let read = DeferredRequest::parse(body.as_bytes());
        read.err().and_then(|error| error.code())
    }

    #[test]
    fn a_request_reads_back_as_it_was_written_and_what_is_unknown_is_ignored() {
        let request = DeferredRequest {
            transaction_id: "8xLOxBtZp8".to_owned(),
            response_encryption: None,
        };
        let again = DeferredRequest::parse(request.to_json().as_bytes());
        assert_eq!(again.unwrap(), request);
        let more = br#"{"transaction_id":"8xLOxBtZp8","more":[]}"#;
        assert_eq!(DeferredRequest::parse(more).unwrap(), request);
    }

    #[test]
    fn a_request_without_the_name_of_a_transaction_is_refused_with_its_code() {
        let malformed = Some("invalid_credential_request");
        for bad in [
            "",
            "{}",
            "[]",
            r#"{"transaction_id":1}"#,
            r#"{"transaction_id":""}"#,
            r#"{"transaction_id":"a","transaction_id":"a"}"#,
        ] {
            assert_eq!(refused(bad), malformed, "{bad}");
        }
        let long = format!(r#"{{"transaction_id":"{}"}}"#, "a".repeat(MAX_ID + 1));
        assert_eq!(refused(&long), Some("invalid_transaction_id"));
    }

    #[test]
    fn a_request_for_an_encrypted_response_that_is_not_encrypted_itself_is_refused() {
        let body = r#"{"transaction_id":"a","credential_response_encryption":{"jwk":{"kty":"EC","crv":"P-256","x":"DxiH5Q4Yx3UrukE2lWCErq8N8bqC9CHLLrAwLz5BmE0","y":"XtLM4-3h5o3HUH0MHVJV0kyq0iBlrBwlh8qEDMZ4-Pc","alg":"ECDH-ES"},"enc":"A256GCM"}}"#;
        let read = DeferredRequest::read(body.as_bytes(), None);
        let code = read.err().and_then(|error| error.code());
        assert_eq!(code, Some("invalid_encryption_parameters"));
        assert!(DeferredRequest::read(br#"{"transaction_id":"a"}"#, None).is_ok());
    }

    #[test]
    fn an_answer_without_a_transaction_or_a_wait_is_refused() {
        let long = format!(r#"{{"transaction_id":"{}","interval":5}}"#, "a".repeat(513));
        for bad in [
            "{}",
            r#"{"transaction_id":"a"}"#,
            r#"{"interval":5}"#,
            r#"{"transaction_id":"","interval":5}"#,
            &long,
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
