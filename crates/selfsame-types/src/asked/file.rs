//! The file of a saved request, in TOML or JSON.

use crate::file::{toml_text, value_of_toml};
use selfsame_crypto::json::{self, JsonError, Limits};
use selfsame_driver::{Error, Result};
use serde_json::Value;

use super::definition::RequestDefinition;

/// Limits of a file.
const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_depth: 32,
    max_members: 5_000,
};

/// Reads the file of a saved request: JSON if it begins with `{`, otherwise TOML.
///
/// # Errors
/// `BadRequest`, with the place and the form that is required there.
pub fn read(text: &str) -> Result<RequestDefinition> {
    let value = match text.trim_start().starts_with('{') {
        true => json::parse(text.as_bytes(), &LIMITS).map_err(|error| malformed(&error))?,
        false if text.len() > LIMITS.max_bytes => return Err(malformed(&JsonError::TooLong)),
        false => value_of_toml(text)?,
    };
    json::value_as(value).map_err(|error| malformed(&error))
}

/// A DCQL query in JSON, as a person has written it.
///
/// # Errors
/// `BadRequest` for what is not JSON.
pub fn read_query(text: &str) -> Result<Value> {
    json::parse(text.as_bytes(), &LIMITS).map_err(|error| malformed(&error))
}

/// The file in TOML; in JSON if TOML can't have what the query contains, such as `null`.
///
/// # Errors
/// `Internal` if the definition cannot be written.
pub fn text(definition: &RequestDefinition) -> Result<String> {
    match toml_text(definition) {
        Ok(text) => Ok(text),
        Err(_) => serde_json::to_string_pretty(definition).map_err(Error::internal),
    }
}

fn malformed(error: &JsonError) -> Error {
    Error::bad_request("saved-file-malformed").with("detail", error)
}
