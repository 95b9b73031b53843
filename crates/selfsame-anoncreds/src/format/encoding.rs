//! Names and values of attributes, in the form in which they are signed and proven.
//!
//! AnonCreds v1.0 leaves the encoding of values to the issuer ("Encoding Attribute Data") and recommends the one here,
//! which every published implementation uses. They differ at the edges in what they read as an integer:
//!
//! | raw text | here and anoncreds-rs (`i32::from_str`) | ACA-Py (`int(str(raw))`) | Credo (`/^-?\d+$/`) |
//! |---|---|---|---|
//! | `28`, `-175`, `0042`, `-0` | the number: 28, -175, 42, 0 | as here | as here |
//! | `2147483647`, `-2147483648` | the number | as here | as here |
//! | `2147483648`, `-2147483649` | hashed | hashed | hashed |
//! | `5.0`, `1e3`, `0x10`, empty | hashed | hashed | hashed |
//! | `+5` | 5 | 5 | hashed |
//! | ` 5`, `5 `, `1_000` | hashed | 5, 5, 1000 | hashed |
//!
//! For values that are read alike everywhere, an issuer avoids the texts of the last two lines.

use std::fmt;

use dashu_int::UBig;
use selfsame_crypto::hash::sha256;
use serde::{Deserialize, Serialize};

use super::limits::{MAX_ENCODED, MAX_RAW};
use super::lower_case::lower_case;
use crate::Error;

/// The normalised name, under which an attribute is signed: without spaces, in lower case.
pub fn normalise_attribute(name: &str) -> String {
    lower_case(&name.replace(' ', ""))
}

/// The recommended encoding of a raw value as a decimal number: a 32-bit integer is encoded as itself, anything else as
/// the SHA-256 of its UTF-8, read big-endian.
pub fn encode_attribute(raw: &str) -> String {
    match raw.parse::<i32>() {
        Ok(number) => number.to_string(),
        Err(_) => UBig::from_be_bytes(&sha256(raw.as_bytes())).to_string(),
    }
}

/// The encoding of a value that is missing (`null`): that of the text `None`.
pub fn encode_missing() -> String {
    encode_attribute("None")
}

/// The value of an attribute, as raw text and as the signed number. Its `Debug` form does not show it.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
pub struct AttributeValue {
    /// The text for people to read.
    pub raw: String,
    /// The signed number, in decimal.
    pub encoded: String,
}

/// How the raw values must be encoded.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Encoding {
    /// The signed number must be the raw value's recommended encoding. Without this rule a holder can show any text.
    #[default]
    Recommended,
    /// No rule: the issuers have encodings of their own, and the caller checks them.
    OfTheIssuer,
}

impl AttributeValue {
    /// Encodes a raw value as recommended.
    pub fn of(raw: impl Into<String>) -> Self {
        let raw = raw.into();
        let encoded = encode_attribute(&raw);
        Self { raw, encoded }
    }

    /// Whether the number is the recommended encoding of the text.
    pub fn is_consistent(&self) -> bool {
        same_number(&self.encoded, &encode_attribute(&self.raw))
    }

    /// Refuses a value that is too long, or an encoded value that is not a number.
    pub(crate) fn validate(&self, what: &'static str) -> Result<(), Error> {
        if self.raw.len() > MAX_RAW {
            return Err(Error::TooLarge {
                what: "a raw value",
                limit: MAX_RAW,
            });
        }
        check_encoded(&self.encoded, what)
    }
}

impl fmt::Debug for AttributeValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AttributeValue(…)")
    }
}

/// Refuses a text that is not a decimal number of at most [`MAX_ENCODED`] digits.
pub(crate) fn check_encoded(encoded: &str, what: &'static str) -> Result<(), Error> {
    let digits = encoded.strip_prefix('-').unwrap_or(encoded);
    if digits.len() > MAX_ENCODED {
        return Err(Error::TooLarge {
            what: "an encoded value",
            limit: MAX_ENCODED,
        });
    }
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(Error::Malformed {
            what,
            why: "an encoded value is not a decimal number",
        });
    }
    Ok(())
}

/// Whether two decimal texts are the same number; leading zeros and the sign of zero do not matter.
pub(crate) fn same_number(a: &str, b: &str) -> bool {
    canonical(a) == canonical(b)
}

fn canonical(text: &str) -> (bool, &str) {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let digits = digits.trim_start_matches('0');
    (negative && !digits.is_empty(), digits)
}
