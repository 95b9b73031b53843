//! Credential definitions: published once, replaced by a successor when the issuer's key is rotated.

use selfsame_anoncreds::definition::PreparedDefinition;
use selfsame_anoncreds::format::CredentialDefinition;
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

use super::again::Again;
use super::name::{DEFINITION, ObjectName};
use super::refused;
use crate::authority::Act;
use crate::encoding::{optional, write_optional};
use crate::judge::Step;
use crate::machine::Machine;
use crate::refusal::{CheckError, ObjectFault, Refusal};
use crate::state::{Key, Receipt, StateError, StateRead, read};

/// A credential definition as it is published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Definition {
    /// Its JSON.
    pub json: String,
    /// The definition it takes the place of.
    pub successor_of: Option<Succession>,
    /// Until when its key is good for, in seconds since 1970; for ever where there is none.
    pub valid_until: Option<UnixTime>,
}

/// That a definition takes the place of another of the same issuer, for the same schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Succession {
    /// The definition before: in what is published, its identifier; in what is read of the one
    /// before, the identifier of the one after.
    pub definition: String,
    /// Until when the one before still holds: now, where its key was lost.
    pub until: UnixTime,
}

/// A credential definition as it stands in the registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublishedDefinition {
    /// What was published.
    pub definition: Definition,
    /// When.
    pub receipt: Receipt,
    /// The definition that took its place, and until when this one holds beside it.
    pub succeeded_by: Option<Succession>,
}

impl PublishedDefinition {
    /// Until when its key is good for: its own time, or the one its successor set.
    pub fn valid_until(&self) -> Option<UnixTime> {
        let successor = self.succeeded_by.as_ref().map(|next| next.until);
        [self.definition.valid_until, successor]
            .into_iter()
            .flatten()
            .min()
    }
}

impl Step<'_> {
    pub(crate) fn publish_definition(&mut self, new: &Definition) -> Result<(), CheckError> {
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
        // Last, since it is the most work: every number of the key.
        PreparedDefinition::new(definition).map_err(refused)?;
        let published = PublishedDefinition {
            definition: new.clone(),
            receipt: self.receipt,
            succeeded_by: None,
        };
        self.to.put(&Key::Object(&name), &published);
        Ok(())
    }

    /// The definition before has to be the author's own, for the same schema, and without another
    /// successor.
    fn succeed(
        &mut self,
        before: &Succession,
        name: &ObjectName,
        schema: &str,
    ) -> Result<(), CheckError> {
        let old = self.named(&before.definition, DEFINITION)?;
        let published: PublishedDefinition =
            read(&self.to, &Key::Object(&old))?.ok_or(Refusal::Object(ObjectFault::Unknown))?;
        let definition = Again::read(&published.definition.json)?;
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
        self.to.put(&Key::Object(&old), &succeeded);
        Ok(())
    }
}

impl Machine {
    /// The credential definition of that identifier, with what took its place.
    pub fn credential_definition(
        &self,
        state: &dyn StateRead,
        id: &str,
    ) -> Result<Option<PublishedDefinition>, StateError> {
        let name = ObjectName::parse(id, self.network().as_str());
        match name.filter(|name| name.kind() == DEFINITION) {
            Some(name) => read(&self.begun(state), &Key::Object(&name)),
            None => Ok(None),
        }
    }
}

impl Item for Definition {
    fn write(&self, to: &mut Writer) {
        to.array(3).text(&self.json);
        write_optional(to, self.successor_of.as_ref());
        to.array(usize::from(self.valid_until.is_some()));
        if let Some(until) = self.valid_until {
            to.uint(until.0);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            json: from.text()?.to_owned(),
            successor_of: optional(from)?,
            valid_until: match from.array()? {
                0 => None,
                1 => Some(UnixTime(from.uint()?)),
                _ => return Err(Malformed("a definition ends at most once")),
            },
        })
    }
}

impl Item for Succession {
    fn write(&self, to: &mut Writer) {
        to.array(2).text(&self.definition).uint(self.until.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            definition: from.text()?.to_owned(),
            until: UnixTime(from.uint()?),
        })
    }
}

impl Item for PublishedDefinition {
    fn write(&self, to: &mut Writer) {
        to.array(3).item(&self.definition).item(&self.receipt);
        write_optional(to, self.succeeded_by.as_ref());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            definition: Definition::read(from)?,
            receipt: Receipt::read(from)?,
            succeeded_by: optional(from)?,
        })
    }
}
