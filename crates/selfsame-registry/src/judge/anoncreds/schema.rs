//! Schemas: the author publishes one under a name that is free.

use selfsame_anoncreds::format::Schema;
use selfsame_did::Did;

use crate::anoncreds::{ObjectName, PublishedSchema};
use crate::authority::Act;
use crate::judge::JudgedStep;
use crate::refusal::{CheckError, ObjectFault, Refusal};
use crate::state::StateKey;

impl JudgedStep<'_> {
    pub(in crate::judge) fn publish_schema(&mut self, json: &str) -> Result<(), CheckError> {
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
        self.to.put(&StateKey::Object(&name), &published);
        Ok(())
    }
}
