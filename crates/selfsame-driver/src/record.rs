//! Encodes and decodes the values of records as JSON.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// Encodes a record's value as JSON.
///
/// # Errors
/// `Internal` if the value can't be JSON, such as a map with keys that are not texts.
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(Error::internal)
}

/// Decodes a record's value from JSON.
///
/// # Errors
/// `Internal` if the record is not one of this type.
pub fn decode<'a, T: Deserialize<'a>>(value: &'a [u8]) -> Result<T> {
    serde_json::from_slice(value).map_err(Error::internal)
}
