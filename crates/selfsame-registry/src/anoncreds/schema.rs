//! Schemas: published once, never changed.

use std::collections::BTreeSet;

use selfsame_anoncreds::format::Schema;
use selfsame_did::Did;
use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

use super::again::Again;
use super::name::{ObjectName, SCHEMA};
use crate::authority::Act;
use crate::judge::Step;
use crate::machine::Machine;
use crate::refusal::{CheckError, ObjectFault, Refusal};
use crate::state::{Key, Receipt, StateError, StateRead, read};

/// A schema as it was published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublishedSchema {
    /// Its JSON, byte for byte.
    pub json: String,
    /// When.
    pub receipt: Receipt,
}

impl Step<'_> {
    pub(crate) fn publish_schema(&mut self, json: &str) -> Result<(), CheckError> {
        let schema: Schema = self.read_published(json)?;
        self.publishes(Act::PublishSchema, schema.issuer_id.as_str())?;
        let name = Did::parse(schema.issuer_id.as_str())
            .ok()
            .and_then(|did| ObjectName::schema(&did, &schema.name, &schema.version))
            .ok_or(Refusal::Object(ObjectFault::Name))?;
        self.is_free(&name)?;
        let published = PublishedSchema {
            json: json.to_owned(),
            receipt: self.receipt,
        };
        self.to.put(&Key::Object(&name), &published);
        Ok(())
    }

    /// The attributes of a schema of this network.
    pub(super) fn attributes_of(&self, schema: &str) -> Result<BTreeSet<String>, CheckError> {
        let name = self.named(schema, SCHEMA)?;
        let published: PublishedSchema =
            read(&self.to, &Key::Object(&name))?.ok_or(Refusal::Object(ObjectFault::Unknown))?;
        Ok(Again::read(&published.json)?.attributes())
    }
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
