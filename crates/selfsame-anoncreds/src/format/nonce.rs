//! Nonces: decimal numbers that keep their original spelling.

use std::fmt;

use dashu_int::UBig;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::limits::MAX_NONCE;
use super::message::why;
use crate::Error;
use crate::cl;

/// A random number of 80 bits that shows that an answer is fresh. Written as decimal text, in its original spelling.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Nonce {
    text: String,
}

impl Nonce {
    /// Parses a nonce: decimal digits and nothing else.
    pub fn new(text: impl Into<String>) -> Result<Self, Error> {
        let text = text.into();
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits || text.len() > MAX_NONCE {
            return Err(Error::Malformed {
                what: "a nonce",
                why: why::NONCE,
            });
        }
        Ok(Self { text })
    }

    /// The nonce with this value.
    pub(crate) fn of(number: &UBig) -> Self {
        Self {
            text: number.to_string(),
        }
    }

    /// The nonce as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The value of the nonce.
    pub(crate) fn number(&self) -> cl::Nonce {
        // The text has only digits, so it is always a number.
        cl::Nonce(UBig::from_str_radix(&self.text, 10).unwrap_or_default())
    }
}

impl fmt::Display for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Nonce {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Nonce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NonceReader)
    }
}

/// Reads nonces as text, as small numbers, and as arrays of bytes, which the earliest agents send.
struct NonceReader;

impl<'de> Visitor<'de> for NonceReader {
    type Value = Nonce;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(why::NONCE)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Nonce, E> {
        Nonce::new(text).map_err(|_| E::custom(why::NONCE))
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Nonce, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Nonce, E> {
        Err(E::custom(why::NONCE))
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Nonce, E> {
        Err(E::custom(why::NONCE))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Nonce, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = sequence.next_element::<u8>()? {
            if bytes.len() >= MAX_NONCE / 4 {
                return Err(A::Error::custom(why::NONCE));
            }
            bytes.push(byte);
        }
        Ok(Nonce::of(&UBig::from_be_bytes(&bytes)))
    }
}
