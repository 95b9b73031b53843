//! Schemas: published once, never changed.

use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

use crate::receipt::Receipt;

/// A schema as it was published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublishedSchema {
    /// Its JSON, byte for byte.
    pub json: String,
    /// The receipt of the transaction that published it.
    pub receipt: Receipt,
}

impl Item for PublishedSchema {
    fn write(&self, to: &mut Writer) {
        to.array(2).text(&self.json).item(&self.receipt);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            json: from.text()?.to_owned(),
            receipt: Receipt::read(from)?,
        })
    }
}
