//! An object with others that its reader needs next, under one checkpoint. Encoding only; the client judges them.

use crate::cbor::{CborItem, CborReader, CborWriter, Malformed};
use crate::client::Object;
use crate::read::{Bundle, MAX_BUNDLE_BYTES};
use crate::tree::Proof;

const DOMAIN: &str = "selfsame/reads/1";
/// Maximum number of further objects.
pub const FURTHER_MAX: usize = 16;

/// An object, and others that it leads to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvenReads {
    /// The requested object, and the checkpoint.
    pub bundle: Bundle,
    /// Other objects of the state.
    pub further: Vec<Read>,
}

/// An object of a state, or its absence, with the proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Read {
    /// The object's key.
    pub key: Vec<u8>,
    /// The object; `None` for absence.
    pub value: Option<Vec<u8>>,
    /// The proof of presence or absence.
    pub proof: Proof,
}

impl ProvenReads {
    /// The encoded answer.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Decodes the output of [`ProvenReads::to_bytes`].
    ///
    /// # Errors
    /// If the bytes have any other form or are too long.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        match bytes.len() > MAX_BUNDLE_BYTES {
            true => Err(Malformed("an answer is too long")),
            false => Self::from_cbor(bytes),
        }
    }
}

impl Read {
    /// The read as a borrowed object.
    #[must_use]
    pub fn object(&self) -> Object<'_> {
        Object {
            key: &self.key,
            value: self.value.as_deref(),
            proof: &self.proof,
        }
    }
}

impl CborItem for ProvenReads {
    fn write(&self, to: &mut CborWriter) {
        to.array(3).text(DOMAIN).item(&self.bundle);
        to.items(&self.further);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        from.domain(DOMAIN)?;
        let bundle = Bundle::read(from)?;
        let further: Vec<Read> = from.items()?;
        match further.len() > FURTHER_MAX {
            true => Err(Malformed("there are too many objects")),
            false => Ok(Self { bundle, further }),
        }
    }
}

impl CborItem for Read {
    fn write(&self, to: &mut CborWriter) {
        to.array(3).bytes(&self.key).option(self.value.as_deref());
        to.bytes(&self.proof.to_bytes());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            key: from.bytes()?.to_vec(),
            value: from.option()?.map(<[u8]>::to_vec),
            proof: Proof::from_bytes(from.bytes()?)
                .map_err(|_| Malformed("a proof is malformed"))?,
        })
    }
}
