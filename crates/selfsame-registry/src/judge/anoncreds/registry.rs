//! Definitions of revocation registries: one is for a revocable definition of the author.

use selfsame_anoncreds::format::RevocationRegistryDefinition;
use selfsame_did::Did;

use super::again::ObjectJson;
use crate::anoncreds::{DEFINITION, ObjectName, PublishedDefinition, PublishedRegistry};
use crate::authority::Act;
use crate::judge::JudgedStep;
use crate::refusal::{CheckError, ObjectFault, Refusal};
use crate::state::{StateKey, read};

impl JudgedStep<'_> {
    pub(in crate::judge) fn publish_registry(&mut self, json: &str) -> Result<(), CheckError> {
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
        self.to.put(&StateKey::Object(&name), &published);
        Ok(())
    }

    fn is_of_a_revocable_definition_of_the_author(&self, id: &str) -> Result<(), CheckError> {
        let name = self.named(id, DEFINITION)?;
        let published: PublishedDefinition = read(&self.to, &StateKey::Object(&name))?
            .ok_or(Refusal::Object(ObjectFault::Unknown))?;
        let definition = ObjectJson::read(&published.definition.json)?;
        match name.owner() == self.author && definition.is_revocable() {
            true => Ok(()),
            false => Err(Refusal::Object(ObjectFault::NotRevocable).into()),
        }
    }
}
