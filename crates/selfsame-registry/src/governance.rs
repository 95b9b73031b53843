//! Governance: the validators, as they were set.

use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};
use selfsame_proof::validators::ValidatorSet;

use crate::receipt::{Receipt, Version};

/// The validators as a transaction or the genesis set them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ValidatorChange {
    /// The validators from the next height on.
    pub set: ValidatorSet,
    /// The receipt of the transaction that set them.
    pub receipt: Receipt,
}

impl Version for ValidatorChange {
    fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

impl CborItem for ValidatorChange {
    fn write(&self, to: &mut CborWriter) {
        to.array(2).item(&self.set).item(&self.receipt);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            set: ValidatorSet::read(from)?,
            receipt: Receipt::read(from)?,
        })
    }
}
