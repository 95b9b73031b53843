//! Status lists: which list an issuer anchored under a URI, and when.

use selfsame_crypto::time::UnixTime;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

use crate::receipt::{Receipt, Version};

/// A status list as its issuer anchored it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Anchor {
    /// The list's URI.
    pub list: String,
    /// SHA-256 of the list as served.
    pub digest: [u8; 32],
    /// When it was issued.
    pub issued: UnixTime,
    /// The receipt of the transaction that anchored it.
    pub receipt: Receipt,
}

impl Version for Anchor {
    fn receipt(&self) -> &Receipt {
        &self.receipt
    }
}

impl CborItem for Anchor {
    fn write(&self, to: &mut CborWriter) {
        to.array(4)
            .text(&self.list)
            .bytes(&self.digest)
            .uint(self.issued.0)
            .item(&self.receipt);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(4)?;
        Ok(Self {
            list: from.text()?.to_owned(),
            digest: from.array_of()?,
            issued: UnixTime(from.uint()?),
            receipt: Receipt::read(from)?,
        })
    }
}
