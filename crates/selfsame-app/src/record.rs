//! Encodes and decodes the values of records as JSON.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Encodes a record's value as JSON.
pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(Error::internal)
}

/// Decodes a record's value from JSON.
pub(crate) fn decode<'a, T: Deserialize<'a>>(value: &'a [u8]) -> Result<T> {
    serde_json::from_slice(value).map_err(Error::internal)
}
