//! Credential definitions: a new one, or the successor of one.

use std::collections::BTreeSet;

use selfsame_anoncreds::definition::PreparedDefinition;
use selfsame_anoncreds::format::CredentialDefinition;
use selfsame_did::Did;

use super::again::ObjectJson;
use super::refused;
use crate::anoncreds::{
    DEFINITION, Definition, ObjectName, PublishedDefinition, PublishedSchema, SCHEMA, Succession,
};
use crate::authority::Act;
use crate::judge::JudgedStep;
use crate::refusal::{CheckError, ObjectFault, Refusal};
use crate::state::{StateKey, read};

impl JudgedStep<'_> {
    pub(in crate::judge) fn publish_definition(
        &mut self,
        new: &Definition,
    ) -> Result<(), CheckError> {
        let definition: CredentialDefinition = self.read_published(&new.json)?;
        self.publishes(Act::PublishDefinition, definition.issuer_id.as_str())?;
        let name = Did::parse(definition.issuer_id.as_str())
            .ok()
            .and_then(|did| {
                let schema = definition.schema_id.as_str();
                ObjectName::definition(&did, schema, &definition.tag)
            })
            .ok_or(Refusal::Object(ObjectFault::Name))?;
        self.is_free(&name)?;
        if new.valid_until.is_some_and(|until| until <= self.at.time) {
            return Err(Refusal::Object(ObjectFault::Expired).into());
        }
        let attributes = self.attributes_of(definition.schema_id.as_str())?;
        definition.check_attributes(&attributes).map_err(refused)?;
        if let Some(before) = &new.successor_of {
            self.succeed(before, &name, definition.schema_id.as_str())?;
        }
        // Last, since it is the most work: it checks every number of the key.
        PreparedDefinition::new(definition).map_err(refused)?;
        let published = PublishedDefinition {
            definition: new.clone(),
            receipt: self.receipt,
            succeeded_by: None,
        };
        self.to.put(&StateKey::Object(&name), &published);
        Ok(())
    }

    /// The predecessor has to be the author's own, for the same schema, and without a successor.
    fn succeed(
        &mut self,
        before: &Succession,
        name: &ObjectName,
        schema: &str,
    ) -> Result<(), CheckError> {
        let old = self.named(&before.definition, DEFINITION)?;
        let published: PublishedDefinition = read(&self.to, &StateKey::Object(&old))?
            .ok_or(Refusal::Object(ObjectFault::Unknown))?;
        let definition = ObjectJson::read(&published.definition.json)?;
        if old.owner() != self.author
            || definition.schema_id() != Some(schema)
            || published.succeeded_by.is_some()
        {
            return Err(Refusal::Object(ObjectFault::Succession).into());
        }
        let succeeded = PublishedDefinition {
            succeeded_by: Some(Succession {
                definition: name.to_string(),
                until: before.until,
            }),
            ..published
        };
        self.to.put(&StateKey::Object(&old), &succeeded);
        Ok(())
    }

    /// The attributes of a schema of this network.
    fn attributes_of(&self, schema: &str) -> Result<BTreeSet<String>, CheckError> {
        let name = self.named(schema, SCHEMA)?;
        let published: PublishedSchema = read(&self.to, &StateKey::Object(&name))?
            .ok_or(Refusal::Object(ObjectFault::Unknown))?;
        Ok(ObjectJson::read(&published.json)?.attributes())
    }
}
