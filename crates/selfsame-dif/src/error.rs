//! Errors of attachments.

use std::fmt::Display;

use selfsame_crypto::json::{self, Limits};
use selfsame_driver::{Error, Result};
use serde::de::DeserializeOwned;

/// Limits on the JSON of an attachment.
const LIMITS: Limits = Limits {
    max_bytes: 256 * 1024,
    max_depth: 16,
    max_members: 2_000,
};

/// The JSON of an attachment.
///
/// # Errors
/// `BadRequest` if it is not one within the limits.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    json::parse_as(bytes, &LIMITS).map_err(|why| malformed(&why))
}

/// The error of an attachment that can't be used.
pub fn malformed(why: &dyn Display) -> Error {
    Error::bad_request("aries-dif-malformed").with("why", &why.to_string())
}
