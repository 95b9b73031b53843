//! The nonce endpoint's response (OpenID4VCI 1.0 §7.2).

use selfsame_crypto::json;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::http_answer::HttpAnswer;
use crate::limits;

/// Maximum length of a nonce, in bytes.
const MAX_NONCE: usize = 4096;

/// A fresh challenge for key proofs.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct NonceResponse {
    /// The nonce.
    pub c_nonce: String,
}

/// Reads the nonce from the endpoint's answer.
///
/// # Errors
/// If there is none that can be used.
pub fn read(answer: HttpAnswer<'_>) -> Result<String, Error> {
    let bad = |reason| {
        Error::counterpart(
            reason,
            "Try again later, or ask the issuer for a new offer.",
        )
    };
    if !(200..300).contains(&answer.status) {
        return Err(bad("the issuer provides no nonce"));
    }
    let response: NonceResponse = json::parse_as(answer.body, &limits())
        .map_err(|_| bad("the issuer's nonce cannot be read"))?;
    if response.c_nonce.is_empty() || response.c_nonce.len() > MAX_NONCE {
        return Err(bad("the issuer's nonce is empty or too long"));
    }
    Ok(response.c_nonce)
}
