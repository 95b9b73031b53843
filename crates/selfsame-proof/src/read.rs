//! Reads that prove themselves: the object, its proof in the state, and the validators' signatures on that state.

use crate::cbor::{CborItem, CborReader, CborWriter, Malformed};
use crate::tree::Proof;
use crate::validators::ValidatorSet;

mod fork;
mod judge;
#[cfg(test)]
mod tests;
mod trust;

pub use fork::{Relation, compare, compare_by_entry};
pub(crate) use judge::judge_with;
pub use judge::{
    Question, ReadOutcome, ReadPolicy, ReadReport, ReadRule, VerifiedCheckpoint, judge,
};
pub use trust::TrustRoot;

/// Maximum length of a bundle, in bytes.
pub const MAX_BUNDLE_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of changes of validators in one bundle.
pub const MAX_HANDOVERS: usize = 64;

const DOMAIN: &str = "selfsame/read/1";

/// A node's answer that can be verified without trusting the node.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bundle {
    /// The signed checkpoint that the answer is based on.
    pub note: String,
    /// The requested key.
    pub key: Vec<u8>,
    /// The object; `None` for absence.
    pub value: Option<Vec<u8>>,
    /// The proof of presence or absence in the checkpoint's state.
    pub proof: Proof,
    /// The changes of validators since the set that the reader knows, in order.
    pub handovers: Vec<Handover>,
}

/// A change of validators: the next set, proven to be in a state that the previous set signed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Handover {
    /// The checkpoint, signed by the previous set.
    pub note: String,
    /// The next set. It signs from the height after the checkpoint's.
    pub set: ValidatorSet,
    /// The proof of the set in the checkpoint's state, under [`crate::validators::STATE_KEY`].
    pub proof: Proof,
}

impl Bundle {
    /// Encodes the bundle.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Decodes the output of [`Bundle::to_bytes`]; refuses any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.len() > MAX_BUNDLE_BYTES {
            return Err(Malformed("a bundle is too long"));
        }
        Self::from_cbor(bytes)
    }
}

impl CborItem for Bundle {
    fn write(&self, to: &mut CborWriter) {
        to.array(6).text(DOMAIN).text(&self.note).bytes(&self.key);
        to.option(self.value.as_deref())
            .bytes(&self.proof.to_bytes());
        to.items(&self.handovers);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(6)?;
        from.domain(DOMAIN)?;
        let bundle = Self {
            note: from.text()?.to_owned(),
            key: from.bytes()?.to_vec(),
            value: from.option()?.map(<[u8]>::to_vec),
            proof: read_proof(from)?,
            handovers: from.items()?,
        };
        match bundle.handovers.len() > MAX_HANDOVERS {
            true => Err(Malformed("a bundle has at most 64 handovers")),
            false => Ok(bundle),
        }
    }
}

impl CborItem for Handover {
    fn write(&self, to: &mut CborWriter) {
        to.array(3).text(&self.note).item(&self.set);
        to.bytes(&self.proof.to_bytes());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            note: from.text()?.to_owned(),
            set: ValidatorSet::read(from)?,
            proof: read_proof(from)?,
        })
    }
}

fn read_proof(from: &mut CborReader<'_>) -> Result<Proof, Malformed> {
    Proof::from_bytes(from.bytes()?).map_err(|_| Malformed("a proof is malformed"))
}
