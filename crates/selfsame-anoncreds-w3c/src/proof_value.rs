//! Proof values: MessagePack in base64url behind multibase's `u`, with a number that says what they are.

use selfsame_anoncreds::Error;
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::message_pack::Packed;
use crate::shape::{AGGREGATED, SHOWN, SIGNATURE, Shape};

/// The most bytes of a proof value as a text.
const TEXT_MAX: usize = 512 * 1024;
/// The code of base64url without padding in multibase.
const MULTIBASE: char = 'u';

/// What a proof value is.
#[derive(Clone, Copy, Debug)]
pub enum ProofContent {
    /// The signature of a credential.
    Signature,
    /// The proof about one credential of a presentation.
    Shown,
    /// What binds the proofs of a presentation together.
    Aggregated,
}

impl ProofContent {
    const fn number(self) -> i64 {
        match self {
            Self::Signature => 1,
            Self::Shown => 2,
            Self::Aggregated => 3,
        }
    }

    const fn shape(self) -> &'static Shape {
        match self {
            Self::Signature => &SIGNATURE,
            Self::Shown => &SHOWN,
            Self::Aggregated => &AGGREGATED,
        }
    }

    /// Writes a proof value.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the value is of another shape.
    pub fn write(self, value: &impl Serialize) -> Result<String, Error> {
        let value = serde_json::to_value(value).map_err(|_| malformed("it can't be written"))?;
        let packed = self.shape().pack(&value)?;
        let mut bytes = Vec::new();
        Packed::List(vec![Packed::Integer(self.number()), packed]).write(&mut bytes);
        Ok(format!("{MULTIBASE}{}", base64url_encode(&bytes)))
    }

    /// Reads a proof value.
    ///
    /// # Errors
    /// [`Error::Malformed`] for another text; [`Error::TooLarge`] past a limit.
    pub fn read<T: DeserializeOwned>(self, text: &str) -> Result<T, Error> {
        if text.len() > TEXT_MAX {
            return Err(Error::TooLarge {
                what: "the proof value",
                limit: TEXT_MAX,
            });
        }
        let encoded = text.strip_prefix(MULTIBASE);
        let bytes = encoded.and_then(|encoded| base64url_decode(encoded).ok());
        let bytes = bytes.ok_or(malformed("it is not base64url of multibase"))?;
        let Packed::List(items) = Packed::read(&bytes)? else {
            return Err(malformed("it has no number before its content"));
        };
        let value = match &items[..] {
            [Packed::Integer(number), content] if *number == self.number() => {
                self.shape().unpack(content)?
            }
            _ => return Err(malformed("it is the value of another proof")),
        };
        serde_json::from_value::<T>(without_nulls(value))
            .map_err(|_| malformed("a member is missing or of the wrong kind"))
    }
}

/// An object without the members that are `null` in it: they are missing.
fn without_nulls(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    value
}

fn malformed(why: &'static str) -> Error {
    Error::Malformed {
        what: "the proof value",
        why,
    }
}
