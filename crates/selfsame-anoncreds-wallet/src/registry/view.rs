//! A revocation registry as controllers see it.

use std::collections::BTreeSet;

use selfsame_crypto::time::UnixTime;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::record::{RegistryRecord, RegistryStage};

/// A revocation registry of a tenant.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct RegistryView {
    /// Its identifier.
    pub rev_reg_id: String,
    /// The definition of its credentials.
    pub cred_def_id: String,
    /// Its number among those of the definition, which is its tag.
    pub number: u32,
    /// Its issuer.
    pub issuer_id: String,
    /// How far it is.
    pub stage: RegistryStage,
    /// How many places it has. The first and the last are not given out.
    pub size: u32,
    /// When it was begun, in seconds since 1970.
    pub begun: u64,
    /// The hash of its tails file.
    pub tails_hash: Option<String>,
    /// The places that the ledger has confirmed as revoked.
    pub revoked: BTreeSet<u32>,
    /// The places that are revoked once the pending revocations are published.
    pub pending: BTreeSet<u32>,
    /// The places that the ledger is being told, or will be with the next transaction.
    pub writing: BTreeSet<u32>,
    /// The number of entries that the ledger has confirmed.
    pub entries: u64,
    /// When the last of them was confirmed, in seconds since 1970.
    pub changed: u64,
}

impl RegistryView {
    pub(crate) fn of(one: &RegistryRecord) -> Self {
        Self {
            rev_reg_id: one.id.clone(),
            cred_def_id: one.cred_def_id.clone(),
            number: one.number,
            issuer_id: one.author.did.to_string(),
            stage: one.stage.clone(),
            size: one.size,
            begun: one.begun.0,
            tails_hash: one.tails_hash.clone(),
            revoked: one.revoked.clone(),
            pending: one.pending.clone(),
            writing: one.unwritten(),
            entries: one.entries,
            changed: one.changed.0,
        }
    }

    /// The registry as ACA-Py's `IssuerRevRegRecord` has it.
    #[must_use]
    pub fn record(&self) -> Value {
        let pending: Vec<String> = self.pending.iter().map(u32::to_string).collect();
        json!({
            "revoc_reg_id": self.rev_reg_id,
            "cred_def_id": self.cred_def_id,
            "issuer_did": self.issuer_id,
            "revoc_def_type": "CL_ACCUM",
            "max_cred_num": self.size,
            "tag": self.number.to_string(),
            "tails_hash": self.tails_hash,
            "state": self.state(),
            "pending_pub": pending,
            "created_at": UnixTime(self.begun).rfc3339(),
            "updated_at": UnixTime(self.changed).rfc3339(),
        })
    }

    /// Its state by ACA-Py's name.
    #[must_use]
    pub fn state(&self) -> &'static str {
        match self.stage {
            RegistryStage::Preparing => "init",
            RegistryStage::Endorsing | RegistryStage::Sending => "generated",
            RegistryStage::Ready => "active",
            RegistryStage::Full => "full",
            RegistryStage::Decommissioned | RegistryStage::Failed(_) => "decommissioned",
        }
    }
}
