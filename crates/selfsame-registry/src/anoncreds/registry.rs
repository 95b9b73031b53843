//! Definitions of revocation registries: published once, never changed.

use selfsame_anoncreds::format::RevocationRegistryDefinition;
use selfsame_did::Did;
use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

use super::again::Again;
use super::definition::PublishedDefinition;
use super::name::{DEFINITION, ObjectName, REGISTRY};
use crate::authority::Act;
use crate::judge::Step;
use crate::machine::Machine;
use crate::refusal::{CheckError, ObjectFault, Refusal};
use crate::state::{Key, Receipt, StateError, StateRead, read};

/// The definition of a revocation registry as it was published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublishedRegistry {
    /// Its JSON, byte for byte.
    pub json: String,
    /// How many places it has.
    pub places: u64,
    /// When.
    pub receipt: Receipt,
}

impl Step<'_> {
    pub(crate) fn publish_registry(&mut self, json: &str) -> Result<(), CheckError> {
        let registry: RevocationRegistryDefinition = self.read_published(json)?;
        self.publishes(Act::PublishRegistry, registry.issuer_id.as_str())?;
        let name = Did::parse(registry.issuer_id.as_str())
            .ok()
            .and_then(|did| {
                let definition = registry.cred_def_id.as_str();
                ObjectName::registry(&did, definition, &registry.tag)
            })
            .ok_or(Refusal::Object(ObjectFault::Name))?;
        self.is_free(&name)?;
        let places = u64::from(registry.value.max_cred_num);
        if places > self.at.rules.max_registry_places {
            return Err(Refusal::Object(ObjectFault::TooManyPlaces).into());
        }
        self.is_of_a_revocable_definition_of_the_author(registry.cred_def_id.as_str())?;
        let published = PublishedRegistry {
            json: json.to_owned(),
            places,
            receipt: self.receipt,
        };
        self.to.put(&Key::Object(&name), &published);
        Ok(())
    }

    fn is_of_a_revocable_definition_of_the_author(&self, id: &str) -> Result<(), CheckError> {
        let name = self.named(id, DEFINITION)?;
        let published: PublishedDefinition =
            read(&self.to, &Key::Object(&name))?.ok_or(Refusal::Object(ObjectFault::Unknown))?;
        let definition = Again::read(&published.definition.json)?;
        match name.owner() == self.author && definition.is_revocable() {
            true => Ok(()),
            false => Err(Refusal::Object(ObjectFault::NotRevocable).into()),
        }
    }
}

impl Machine {
    /// The definition of the revocation registry of that identifier.
    pub fn revocation_registry(
        &self,
        state: &dyn StateRead,
        id: &str,
    ) -> Result<Option<PublishedRegistry>, StateError> {
        match ObjectName::parse(id, self.network().as_str()).filter(|name| name.kind() == REGISTRY)
        {
            Some(name) => read(&self.begun(state), &Key::Object(&name)),
            None => Ok(None),
        }
    }
}

impl Item for PublishedRegistry {
    fn write(&self, to: &mut Writer) {
        to.array(3)
            .text(&self.json)
            .uint(self.places)
            .item(&self.receipt);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            json: from.text()?.to_owned(),
            places: from.uint()?,
            receipt: Receipt::read(from)?,
        })
    }
}
