//! Schemas: published once, never changed.

use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

use super::name::{ObjectName, SCHEMA};
use crate::machine::Machine;
use crate::state::{Key, Receipt, StateError, StateRead, read};

/// A schema as it was published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublishedSchema {
    /// Its JSON, byte for byte.
    pub json: String,
    /// When.
    pub receipt: Receipt,
}

impl Machine {
    /// The schema of that identifier.
    pub fn schema(
        &self,
        state: &dyn StateRead,
        id: &str,
    ) -> Result<Option<PublishedSchema>, StateError> {
        match ObjectName::parse(id, self.network().as_str()).filter(|name| name.kind() == SCHEMA) {
            Some(name) => read(&self.begun(state), &Key::Object(&name)),
            None => Ok(None),
        }
    }
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
