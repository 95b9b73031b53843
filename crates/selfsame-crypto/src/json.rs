//! JSON from outside, read strictly within limits, and its canonical form.

mod jcs;
mod members;
mod misfit;
mod pairs;
mod reader;
mod strict;
mod weight;

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub use jcs::jcs;
pub use misfit::Misfit;
pub use weight::{weight, weight_of};

/// How much JSON is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// Bytes of text.
    pub max_bytes: usize,
    /// Objects and arrays within each other.
    pub max_depth: usize,
    /// Members and elements in all.
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

/// Why JSON was not read; the sender must act. Content is never repeated.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum JsonError {
    /// There are more bytes than the limit.
    #[error("the JSON text is too long")]
    TooLong,
    /// Objects and arrays lie deeper than the limit.
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
    /// The value does not have the members or types it must have.
    #[error("{0}")]
    Shape(Box<Misfit>),
}

/// The value as compact JSON. Faster than `to_string`, which goes by way of a formatter piece by piece.
pub fn to_bytes(value: &Value) -> Vec<u8> {
    // Its names are strings and its numbers finite, so printing it to memory cannot fail.
    serde_json::to_vec(value).unwrap_or_default()
}

/// Reads one JSON value: no member named twice, nothing after it, nothing past the limits.
pub fn parse(bytes: &[u8], limits: &Limits) -> Result<Value, JsonError> {
    strict::parse(bytes, limits)
}

/// Reads one JSON value as strictly as [`parse`], then as `T`.
pub fn parse_as<T: DeserializeOwned>(bytes: &[u8], limits: &Limits) -> Result<T, JsonError> {
    value_as(parse(bytes, limits)?)
}

/// Reads a value as `T`. Unlike `serde_json::from_value`, it takes no array for a struct, at any depth.
pub fn value_as<T: DeserializeOwned>(value: Value) -> Result<T, JsonError> {
    T::deserialize(reader::Reader(value)).map_err(|misfit| JsonError::Shape(Box::new(misfit)))
}

/// Reads pairs of names and texts, such as a query's, as `T`: numbers and the like are parsed.
pub fn pairs_as<'p, T: DeserializeOwned>(
    pairs: impl Iterator<Item = (Cow<'p, str>, Cow<'p, str>)>,
) -> Result<T, Misfit> {
    T::deserialize(pairs::reader(pairs))
}

#[cfg(test)]
mod tests;
