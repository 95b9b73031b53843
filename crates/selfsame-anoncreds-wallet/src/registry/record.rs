//! The record of a revocation registry: how far it is, what the ledger has of it, and what is still to be revoked.

use std::collections::BTreeSet;

use selfsame_anoncreds::cl::revocation::{Changes, IssuedAtStart, RevocationList};
use selfsame_anoncreds::format::{
    CredentialDefinitionId, IssuerId, RevocationRegistryId, RevocationStatusList,
};
use selfsame_core::dids::Author;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Reason, Result};
use selfsame_registry::anoncreds::ObjectName;
use selfsame_store::Tag;
use serde::{Deserialize, Serialize};

use crate::endorsing::Endorser;
use crate::error::refused;
use crate::objects::accumulator;
use crate::publication::Publication;

/// The kind of their records, and the name of their machine.
pub(crate) const REGISTRY: &str = "anoncreds_registry";
/// The kind of the records of their private keys. The value is the key's JSON.
pub(crate) const REGISTRY_KEY: &str = "anoncreds_registry_key";
/// Places of a registry if the controller chose no number.
const DEFAULT_SIZE: u32 = 1_000;

/// How far a revocation registry is.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum RegistryStage {
    /// Its keys and tails are made.
    Preparing,
    /// They are stored, and the transaction waits for its endorser.
    Endorsing,
    /// They are stored, and the ledger is called.
    Sending,
    /// The ledger has it, and it has room.
    Ready,
    /// All its places are given out.
    Full,
    /// Its issuer gives out no more places of it.
    Decommissioned,
    /// It has ended without being published.
    Failed(Reason),
}

/// A revocation registry of a tenant.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct RegistryRecord {
    /// Who signs its transactions.
    pub author: Author,
    /// The id of the records of its definition's publication.
    pub publication: String,
    /// The definition's identifier.
    pub cred_def_id: String,
    /// Its number among those of the definition, from 1; also its tag.
    pub number: u32,
    /// Its identifier.
    pub id: String,
    /// How many places it has.
    pub size: u32,
    /// When it was begun.
    pub begun: UnixTime,
    /// How far it is.
    pub stage: RegistryStage,
    /// The hash of its tails file, once it is made.
    pub tails_hash: Option<String>,
    /// The accumulator after the last entry that the ledger confirmed; the first one before that.
    pub accumulator: String,
    /// The number of confirmed entries.
    pub entries: u64,
    /// When the last entry was confirmed, by the ledger.
    pub changed: UnixTime,
    /// When this process heard of that, by its own clock.
    #[serde(default)]
    pub heard: UnixTime,
    /// The places that the ledger has as revoked.
    pub revoked: BTreeSet<u32>,
    /// Places to revoke once somebody says so.
    pub pending: BTreeSet<u32>,
    /// Places to revoke with the next transaction.
    pub queued: BTreeSet<u32>,
    /// Since when the oldest of these, or of those in the transaction, waits for the ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unwritten_since: Option<UnixTime>,
    /// The transaction that the ledger has not answered.
    pub writing: Option<SentEntry>,
    /// Why the last transaction was refused; it is made anew.
    pub refused: Option<Reason>,
    /// Who endorses its publication, if its author may not write alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endorser: Option<Endorser>,
    /// The transaction that the endorser is asked to sign, base64url.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authored: Option<String>,
}

/// An entry on its way to the ledger.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct SentEntry {
    /// The accumulator after it.
    pub after: String,
    /// The places that it revokes.
    pub revoked: BTreeSet<u32>,
    /// The transaction, base64url.
    pub transaction: String,
    /// When it was first sent.
    pub since: UnixTime,
}

impl RegistryRecord {
    /// The registry with this number of a published definition.
    pub fn new(publication: &Publication, number: u32, begun: UnixTime) -> Result<Self> {
        let cred_def_id = publication.definition_id.clone().unwrap_or_default();
        let author = publication.author.clone();
        let id = ObjectName::registry(&author.did, &cred_def_id, &number.to_string());
        let unnamed = || Error::bad_request("anoncreds-unnamed");
        Ok(Self {
            author,
            publication: publication.id(),
            cred_def_id,
            number,
            id: id.ok_or_else(unnamed)?.to_string(),
            size: publication.registry_size.unwrap_or(DEFAULT_SIZE),
            begun,
            stage: RegistryStage::Preparing,
            tails_hash: None,
            accumulator: String::new(),
            entries: 0,
            changed: UnixTime(0),
            heard: UnixTime(0),
            revoked: BTreeSet::new(),
            pending: BTreeSet::new(),
            queued: BTreeSet::new(),
            unwritten_since: None,
            writing: None,
            refused: None,
            endorser: publication.endorser.clone(),
            authored: None,
        })
    }

    /// The id of its record.
    pub fn record_id(&self) -> String {
        Self::id_of(&self.publication, self.number)
    }

    /// The id of the record with this number.
    pub fn id_of(publication: &str, number: u32) -> String {
        format!("{publication}/{number}")
    }

    /// Whether it has room, or may still get it.
    pub fn is_open(&self) -> bool {
        match self.stage {
            RegistryStage::Preparing
            | RegistryStage::Endorsing
            | RegistryStage::Sending
            | RegistryStage::Ready
            | RegistryStage::Failed(_) => true,
            RegistryStage::Full | RegistryStage::Decommissioned => false,
        }
    }

    /// Whether the ledger has it.
    pub fn is_published(&self) -> bool {
        matches!(
            self.stage,
            RegistryStage::Ready | RegistryStage::Full | RegistryStage::Decommissioned
        )
    }

    /// The tags by which it is found.
    pub fn tags(&self) -> Vec<Tag> {
        let mut tags = vec![
            Tag::hashed("rev_reg_id", &self.id),
            Tag::hashed("cred_def_id", &self.cred_def_id),
        ];
        if self.is_open() {
            tags.push(is_open_tag(&self.cred_def_id));
        }
        tags
    }

    /// The status list that the ledger confirmed last.
    pub fn list(&self) -> Result<RevocationStatusList> {
        let id = RevocationRegistryId::new(self.id.as_str()).map_err(refused)?;
        let changes = Changes::new(BTreeSet::new(), self.revoked.clone());
        let list = RevocationList::new(self.size, IssuedAtStart::ByDefault)
            .and_then(|all| all.changed(&changes?))
            .map_err(Error::damaged)?;
        Ok(RevocationStatusList {
            rev_reg_def_id: Some(id),
            issuer_id: IssuerId::new(self.author.did.as_str()).map_err(refused)?,
            revocation_list: list,
            current_accumulator: Some(accumulator(&self.accumulator)?),
            timestamp: Some(self.changed.0),
        })
    }

    /// The identifier of its definition, as AnonCreds takes it.
    pub fn typed_definition(&self) -> Result<CredentialDefinitionId> {
        CredentialDefinitionId::new(self.cred_def_id.as_str()).map_err(refused)
    }
}

/// The tag of the registries of a definition that have room, or may still get it.
pub(crate) fn is_open_tag(cred_def_id: &str) -> Tag {
    Tag::hashed("open", cred_def_id)
}
