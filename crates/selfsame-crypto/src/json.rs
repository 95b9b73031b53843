//! Strict, limited reading of untrusted JSON.

pub mod canonical;
mod members;
mod misfit;
mod pairs;
mod reader;
mod strict;
mod weight;

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use misfit::Misfit;
pub use weight::{weight, weight_of};

/// Limits on the JSON that is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// The maximum length of the text in bytes.
    pub max_bytes: usize,
    /// The maximum nesting depth of objects and arrays.
    pub max_depth: usize,
    /// The maximum number of members and elements in all.
    pub max_members: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 256 * 1024,
            max_depth: 32,
            max_members: 10_000,
        }
    }
}

/// Why JSON was not read; the sender must act. Messages never repeat the content.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum JsonError {
    /// The text is longer than the limit.
    #[error("the JSON text is too long")]
    TooLong,
    /// Objects and arrays are nested deeper than the limit.
    #[error("the JSON text is nested too deeply")]
    TooDeep,
    /// There are more members and elements than the limit.
    #[error("the JSON text has too many members")]
    TooMany,
    /// An object names a member twice.
    #[error("an object of the JSON text names a member twice")]
    Duplicate,
    /// The text is not one JSON value in UTF-8.
    #[error("the text is not JSON (line {line}, column {column})")]
    Syntax {
        /// The line at which reading stopped.
        line: usize,
        /// The column at which reading stopped.
        column: usize,
    },
    /// The value does not have the required members or types.
    #[error("{0}")]
    Shape(Box<Misfit>),
}

/// The value as compact JSON. Faster than `to_string`, which writes piece by piece through a formatter.
pub fn to_bytes(value: &Value) -> Vec<u8> {
    // Member names are strings and numbers are finite, so serialising to memory cannot fail.
    serde_json::to_vec(value).unwrap_or_default()
}

/// Reads one JSON value. Refuses duplicate members, trailing content, and anything past the limits.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Value, JsonError> {
    strict::parse(bytes, limits)
}

/// Reads one JSON value as strictly as [`parse`] does, then converts it to `T`.
pub fn parse_as<T: DeserializeOwned>(bytes: &[u8], limits: &Limits) -> Result<T, JsonError> {
    value_as(parse(bytes, limits)?)
}

/// Converts a value to `T`. Unlike `serde_json::from_value`, it does not accept an array for a struct, at any depth.
pub fn value_as<T: DeserializeOwned>(value: Value) -> Result<T, JsonError> {
    T::deserialize(reader::Reader(value)).map_err(|misfit| JsonError::Shape(Box::new(misfit)))
}

/// Converts pairs of names and texts, such as those of a query, to `T`. Numbers, for example, are parsed from their
/// text.
pub fn pairs_as<'p, T: DeserializeOwned>(
    pairs: impl Iterator<Item = (Cow<'p, str>, Cow<'p, str>)>,
) -> Result<T, Misfit> {
    T::deserialize(pairs::reader(pairs))
}

#[cfg(test)]
mod tests;
