//! A read that proves itself: the object, why it is in the state, and who signed that state.

use crate::cbor::{Item, Malformed, Reader, Writer};
use crate::tree::Proof;
use crate::validators::ValidatorSet;

mod fork;
mod judge;
#[cfg(test)]
mod tests;
mod trust;

pub use fork::{Relation, compare, compare_by_entry};
pub(crate) use judge::judge_with;
pub use judge::{Known, Outcome, Policy, Question, Report, Rule, judge};
pub use trust::TrustRoot;

/// Longest bundle that is read.
pub const MAX_BUNDLE_BYTES: usize = 4 * 1024 * 1024;
/// Most changes of validators that one bundle leads through.
pub const MAX_HANDOVERS: usize = 64;

const DOMAIN: &str = "selfsame/read/1";

/// An answer of a node that need not be trusted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bundle {
    /// The signed checkpoint the answer is of.
    pub note: String,
    /// What was asked for.
    pub key: Vec<u8>,
    /// The object; none where there is none.
    pub value: Option<Vec<u8>>,
    /// Why that is so in the checkpoint's state.
    pub proof: Proof,
    /// The changes of validators since those that the reader knows, in their order.
    pub handovers: Vec<Handover>,
}

/// A change of validators: the next set, shown to be in a state that the set before signed.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Handover {
    /// The checkpoint, signed by the set before.
    pub note: String,
    /// The next set, which judges from the height after the checkpoint's.
    pub set: ValidatorSet,
    /// Why it is in the checkpoint's state, under [`crate::validators::STATE_KEY`].
    pub proof: Proof,
}

impl Bundle {
    /// The bundle as it is sent and kept.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_cbor()
    }

    /// Reads what [`Bundle::to_bytes`] wrote, and nothing else.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        if bytes.len() > MAX_BUNDLE_BYTES {
            return Err(Malformed("a bundle is too long"));
        }
        Self::from_cbor(bytes)
    }
}

impl Item for Bundle {
    fn write(&self, to: &mut Writer) {
        to.array(6).text(DOMAIN).text(&self.note).bytes(&self.key);
        to.option(self.value.as_deref())
            .bytes(&self.proof.to_bytes());
        to.items(&self.handovers);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
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

impl Item for Handover {
    fn write(&self, to: &mut Writer) {
        to.array(3).text(&self.note).item(&self.set);
        to.bytes(&self.proof.to_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            note: from.text()?.to_owned(),
            set: ValidatorSet::read(from)?,
            proof: read_proof(from)?,
        })
    }
}

fn read_proof(from: &mut Reader<'_>) -> Result<Proof, Malformed> {
    Proof::from_bytes(from.bytes()?).map_err(|_| Malformed("a proof is none"))
}
