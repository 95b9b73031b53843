//! The data of the proof that all bases are powers of S, and its JSON form.

use std::fmt;

use dashu_int::UBig;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::{bounds, decimal};

/// The number of rounds. Each halves the probability that a base is not a power of S.
pub(super) const ROUNDS: usize = 128;
/// The bits by which a mask is longer than the modulus: it hides a sum of 128 exponents.
pub(super) const MASK_EXCESS: usize = bounds::HIDING + 8;
/// The longest base64url text of all responses.
const LONGEST_TEXT: usize =
    (ROUNDS * (bounds::MODULUS_LONGEST + MASK_EXCESS).div_ceil(8)).div_ceil(3) * 4;

/// The optional member `powers_of_s` of a key correctness proof.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PowersProof {
    /// The challenge: SHA-256.
    #[serde(with = "decimal")]
    pub(super) c: UBig,
    /// The responses of all rounds, big-endian, each as long as a mask.
    pub(super) responses: Responses,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Responses(pub(super) Vec<u8>);

impl Serialize for Responses {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64url_encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Responses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

struct Text;

impl Visitor<'_> for Text {
    type Value = Responses;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base64url of all responses")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Responses, E> {
        let bytes = (text.len() <= LONGEST_TEXT).then(|| base64url_decode(text));
        match bytes {
            Some(Ok(bytes)) => Ok(Responses(bytes)),
            _ => Err(E::custom("the responses are no base64url of their length")),
        }
    }
}

impl fmt::Debug for PowersProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PowersProof(…)")
    }
}
