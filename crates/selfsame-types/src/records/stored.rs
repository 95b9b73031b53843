//! The records of types, as they are stored.

use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use serde::{Deserialize, Serialize};
use url::Url;

use super::definitions::Definitions;
use crate::model::{Addresses, CredentialType, ServedDocuments, TypeDefinition, TypeState};
use crate::project::{Documents, integrity};

/// The kind of the head record; a tenant has one.
pub(super) const HEAD: &str = "types";
/// The id of the head record.
pub(super) const HEAD_ID: &str = "head";
/// The kind of the records of published versions.
pub(super) const VERSION: &str = "type";
/// The kind of the records of drafts, by the id of the type.
pub(super) const DRAFT: &str = "type-draft";

/// The versions that a tenant has published. Each change of a version changes this record too, so that one read of this
/// record's version shows whether any of them has changed.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct TypesHead {
    pub versions: Vec<HeadEntry>,
}

/// A published version in the head.
#[derive(Deserialize, Serialize)]
pub(super) struct HeadEntry {
    pub id: String,
    pub version: u32,
    pub state: TypeState,
    pub published: UnixTime,
    pub superseded: Option<UnixTime>,
    /// The length of its record.
    pub bytes: usize,
}

/// A published version. It never changes.
#[derive(Deserialize, Serialize)]
pub(super) struct VersionRecord {
    pub definition: TypeDefinition,
    pub vct: String,
    pub documents: Documents,
}

impl TypesHead {
    /// Retires all versions of a type. Returns whether there are any.
    pub fn retire(&mut self, id: &str) -> bool {
        let mut is_known = false;
        for entry in self.versions.iter_mut().filter(|entry| entry.id == id) {
            entry.state = TypeState::Retired;
            is_known = true;
        }
        is_known
    }
}

impl HeadEntry {
    /// The id of the version's record.
    pub fn record_id(&self) -> String {
        record_id(&self.id, self.version)
    }
}

/// The id of the record of a version.
pub(super) fn record_id(id: &str, version: u32) -> String {
    format!("{id}.{version}")
}

impl VersionRecord {
    /// The type, without what reading it took beyond it: an instance holds those of many organisations.
    pub fn credential_type(
        mut self,
        entry: &HeadEntry,
        base: &Url,
        definitions: &Definitions,
    ) -> Result<CredentialType> {
        self.definition.shrink();
        let served = ServedDocuments {
            addresses: Addresses::below(base, &entry.id, entry.version)?,
            integrity: integrity(self.documents.metadata.as_bytes()),
        };
        Ok(CredentialType {
            version: entry.version,
            state: entry.state,
            vct: self.vct,
            is_sample: false,
            served: Some(served),
            definition: definitions.share(self.definition)?,
        })
    }
}
