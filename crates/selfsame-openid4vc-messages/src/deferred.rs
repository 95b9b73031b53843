//! Credentials that take their time (OpenID4VCI 1.0 §8.3, §9): the answer that says so, and the request to look again.

use selfsame_crypto::json;
use serde::{Deserialize, Serialize};

use crate::encryption::EncryptionParameters;
use crate::error::Error;

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

#[derive(Serialize)]
struct RawRequest<'a> {
    transaction_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    credential_response_encryption: Option<&'a EncryptionParameters>,
}

impl DeferredRequest {
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
