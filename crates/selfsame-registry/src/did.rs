//! DIDs: their versions, as they stand in the registry.

use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

use crate::content::Content;
use crate::encoding::{optional, write_optional};
use crate::receipt::{Receipt, Version};

/// A version of a DID.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct DidVersion {
    /// Its content; `None` where this version deactivates the DID.
    pub(crate) content: Option<Content>,
    pub(crate) receipt: Receipt,
}

impl Version for DidVersion {
    fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

impl CborItem for DidVersion {
    fn write(&self, to: &mut CborWriter) {
        to.array(2).item(&self.receipt);
        write_optional(to, self.content.as_ref());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            receipt: Receipt::read(from)?,
            content: optional(from)?,
        })
    }
}
