//! Members: their roles, and the transactions that gave or took them.

use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

use crate::authority::Role;
use crate::encoding::{optional, write_optional};
use crate::identifier::Identifier;
use crate::receipt::{Receipt, Version};

/// A role as it was given or taken.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Membership {
    /// The role; `None` if it was taken away.
    pub role: Option<Role>,
    /// The author who gave or took it; `None` in a genesis.
    pub by: Option<Identifier>,
    /// The receipt of the transaction that gave or took it.
    pub receipt: Receipt,
}

/// A number in the state.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Count(pub(crate) u64);

impl CborItem for Count {
    fn write(&self, to: &mut CborWriter) {
        to.uint(self.0);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.uint().map(Self)
    }
}

impl Version for Membership {
    fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

impl CborItem for Membership {
    fn write(&self, to: &mut CborWriter) {
        to.array(3).item(&self.receipt);
        write_optional(to, self.role.as_ref());
        write_optional(to, self.by.as_ref());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            receipt: Receipt::read(from)?,
            role: optional(from)?,
            by: optional(from)?,
        })
    }
}
