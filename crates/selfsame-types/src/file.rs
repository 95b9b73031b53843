//! The file of a type, in TOML or JSON. Both are read into one form, so that both are refused at the same places.

use selfsame_crypto::json::{self, JsonError, Limits};
use selfsame_driver::{Error, Result};
use serde::Serialize;
use serde_json::Value;

use crate::model::TypeDefinition;

/// Maximum length of a file, in bytes.
pub const FILE_BYTES_MAX: usize = 256 * 1024;
/// Limits of a file.
const LIMITS: Limits = Limits {
    max_bytes: FILE_BYTES_MAX,
    max_depth: 32,
    max_members: 10_000,
};

/// Reads a type's file in JSON.
///
/// # Errors
/// `BadRequest`, with the place and the form that is required there.
pub fn read_json(text: &[u8]) -> Result<TypeDefinition> {
    json::parse_as(text, &LIMITS).map_err(|error| malformed(&error))
}

/// Reads a type's file in TOML.
///
/// # Errors
/// As [`read_json`].
pub fn read_toml(text: &str) -> Result<TypeDefinition> {
    if text.len() > FILE_BYTES_MAX {
        return Err(malformed(&JsonError::TooLong));
    }
    json::value_as(value_of_toml(text)?).map_err(|error| malformed(&error))
}

/// What a file in TOML says, as JSON: for files of every kind.
///
/// # Errors
/// `BadRequest`, with the line.
pub fn value_of_toml(text: &str) -> Result<Value> {
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let before = text.get(..start).unwrap_or_default();
        let line = before.matches('\n').count().saturating_add(1);
        Error::bad_request("type-file-toml")
            .with("line", &line)
            .with(
                "detail",
                &error.message().lines().next().unwrap_or_default(),
            )
    })?;
    Ok(of_toml(toml::Value::Table(table)))
}

/// A type's file in JSON, indented.
///
/// # Errors
/// `Internal` if the definition can't be JSON.
pub fn to_json(definition: &TypeDefinition) -> Result<String> {
    serde_json::to_string_pretty(definition).map_err(Error::internal)
}

/// A type's file in TOML.
///
/// # Errors
/// As [`toml_text`], for its examples.
pub fn to_toml(definition: &TypeDefinition) -> Result<String> {
    toml_text(definition)
}

/// A value as a file in TOML.
///
/// # Errors
/// `BadRequest` for a value that contains `null`, which TOML does not have, or a whole number above 2⁶³ - 1, which its
/// readers refuse.
pub fn toml_text<T: Serialize>(value: &T) -> Result<String> {
    let not_toml = |_| Error::bad_request("type-not-toml");
    // The writer alone writes greater numbers than the reader takes.
    toml::Value::try_from(value).map_err(not_toml)?;
    toml::to_string_pretty(value).map_err(not_toml)
}

fn malformed(error: &JsonError) -> Error {
    Error::bad_request("type-file-malformed").with("detail", error)
}

/// A TOML value as JSON. A date is its text.
fn of_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => Value::from(number),
        toml::Value::Boolean(truth) => Value::Bool(truth),
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(elements) => elements.into_iter().map(of_toml).collect(),
        toml::Value::Table(members) => {
            let members = members.into_iter();
            Value::Object(
                members
                    .map(|(name, value)| (name, of_toml(value)))
                    .collect(),
            )
        }
    }
}
