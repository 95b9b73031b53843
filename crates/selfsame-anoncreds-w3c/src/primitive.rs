//! Numbers, scalars and points of proof values: bytes there, texts in the JSON of AnonCreds.

use dashu_int::UBig;
use selfsame_anoncreds::Error;
use selfsame_bignum::pairing::{G1, G2OrIdentity, Scalar};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::message_pack::Packed;

const WHAT: &str = "the proof value";
/// The most bytes of a number: the longest, v̂, has 383.
const NUMBER_MAX: usize = 512;

/// What a text of AnonCreds' JSON is.
#[derive(Clone, Copy, Debug)]
pub enum Primitive {
    /// A decimal number.
    Number,
    /// An integer modulo the group order.
    Scalar,
    /// A point of G1.
    G1,
    /// A point of G2, the neutral one too.
    G2,
}

impl Primitive {
    /// The text as bytes.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it is no such text.
    pub fn pack(self, text: &str) -> Result<Packed, Error> {
        let bytes = match self {
            // The bytes of a number have no sign, and a reader takes a text too.
            Self::Number if text.starts_with('-') => return Ok(Packed::Text(text.to_owned())),
            Self::Number => number(text)?.to_be_bytes().to_vec(),
            Self::Scalar => parsed::<Scalar>(text)?.to_be_bytes().to_vec(),
            Self::G1 => parsed::<G1>(text)?.to_bytes().to_vec(),
            Self::G2 => parsed::<G2OrIdentity>(text)?.0.to_bytes().to_vec(),
        };
        Ok(Packed::Bytes(bytes))
    }

    /// The text of bytes. What is a text already is left to the reader of the JSON.
    ///
    /// # Errors
    /// [`Error::Malformed`] if they are no such value.
    pub fn unpack(self, packed: &Packed) -> Result<Value, Error> {
        let bytes = match packed {
            Packed::Text(text) => return Ok(Value::from(text.as_str())),
            Packed::Bytes(bytes) => bytes,
            _ => return Err(malformed("a number or a point is of another kind")),
        };
        let written = match self {
            Self::Number if bytes.len() > NUMBER_MAX => {
                return Err(malformed("a number is too long"));
            }
            Self::Number => Ok(Value::from(UBig::from_be_bytes(bytes).to_string())),
            Self::Scalar => serde_json::to_value(Scalar::from_be_bytes(sized(bytes)?)?),
            Self::G1 => serde_json::to_value(G1::from_bytes(sized(bytes)?)?),
            Self::G2 => serde_json::to_value(G2OrIdentity::from_bytes(sized(bytes)?)?),
        };
        written.map_err(|_| malformed("a point can't be written"))
    }
}

/// The number of these digits.
fn number(text: &str) -> Result<UBig, Error> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = UBig::from_str_radix(text, 10).ok();
    let number = number.filter(|_| is_decimal);
    number.ok_or(malformed("a number is not decimal"))
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    let parsed = serde_json::from_value(Value::from(text));
    parsed.map_err(|_| malformed("a point or a scalar is malformed"))
}

fn sized<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], Error> {
    let sized = bytes.try_into();
    sized.map_err(|_| malformed("a point or a scalar has another length"))
}

fn malformed(why: &'static str) -> Error {
    Error::Malformed { what: WHAT, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_its_bytes_and_a_negative_one_a_text() {
        for (digits, packed) in [
            ("0", Packed::Bytes(vec![])),
            ("255", Packed::Bytes(vec![255])),
            ("256", Packed::Bytes(vec![1, 0])),
            ("-175", Packed::Text("-175".to_owned())),
        ] {
            assert_eq!(
                Primitive::Number.pack(digits),
                Ok(packed.clone()),
                "{digits}"
            );
            assert_eq!(Primitive::Number.unpack(&packed), Ok(Value::from(digits)));
        }
        for digits in ["", "1a", "+1", " 1", "0x1"] {
            assert!(Primitive::Number.pack(digits).is_err(), "{digits}");
        }
    }

    #[test]
    fn bytes_of_another_length_are_refused() {
        let short = Packed::Bytes(vec![4; 31]);
        for primitive in [Primitive::Scalar, Primitive::G1, Primitive::G2] {
            assert!(primitive.unpack(&short).is_err(), "{primitive:?}");
            assert!(primitive.pack("1 00").is_err(), "{primitive:?}");
        }
        let long = Packed::Bytes(vec![1; NUMBER_MAX + 1]);
        assert!(Primitive::Number.unpack(&long).is_err());
        assert!(Primitive::Number.unpack(&Packed::Nil).is_err());
    }
}
