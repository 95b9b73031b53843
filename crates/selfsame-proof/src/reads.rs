//! An object with those that its reader asks for next, under one checkpoint: their one encoding. The client judges them.

use crate::cbor::{Item, Malformed, Reader, Writer};
use crate::client::Object;
use crate::read::{Bundle, MAX_BUNDLE_BYTES};
use crate::tree::Proof;

const DOMAIN: &str = "selfsame/reads/1";
/// Most objects that come along.
pub const FURTHER_MAX: usize = 16;

/// An object, and others that it leads to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvenReads {
    /// The object that was asked for, and the checkpoint.
    pub bundle: Bundle,
    /// Others of the same state.
    pub further: Vec<Read>,
}

/// An object of a state, or that there is none, with its proof.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Read {
    /// Its key.
    pub key: Vec<u8>,
    /// The object; none where there is none.
    pub value: Option<Vec<u8>>,
    /// Why that is so.
    pub proof: Proof,
}

impl ProvenReads {
    /// The answer as it is sent.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Reads what [`ProvenReads::to_bytes`] wrote, and nothing else.
    ///
    /// # Errors
    /// If it is anything else, or too long.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        match bytes.len() > MAX_BUNDLE_BYTES {
            true => Err(Malformed("an answer is too long")),
            false => Self::from_cbor(bytes),
        }
    }
}

impl Read {
    /// The same, borrowed.
    #[must_use]
    pub fn object(&self) -> Object<'_> {
        Object {
            key: &self.key,
            value: self.value.as_deref(),
            proof: &self.proof,
        }
    }
}

impl Item for ProvenReads {
    fn write(&self, to: &mut Writer) {
        to.array(3).text(DOMAIN).item(&self.bundle);
        to.items(&self.further);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
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

impl Item for Read {
    fn write(&self, to: &mut Writer) {
        to.array(3).bytes(&self.key).option(self.value.as_deref());
        to.bytes(&self.proof.to_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            key: from.bytes()?.to_vec(),
            value: from.option()?.map(<[u8]>::to_vec),
            proof: Proof::from_bytes(from.bytes()?).map_err(|_| Malformed("a proof is none"))?,
        })
    }
}
