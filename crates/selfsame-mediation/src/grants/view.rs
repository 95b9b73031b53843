//! Mediations as controllers see them. The members have the names of ACA-Py's admin API.

use serde::Serialize;

use super::MediationEntry;
use crate::mediated::KeptKey;

/// Who this agent is in each of them.
const ROLE: &str = "server";

/// A mediation.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct MediationView {
    /// Its identifier.
    pub mediation_id: String,
    /// Who this agent is in it.
    pub role: &'static str,
    /// The connection with the other side.
    pub connection_id: String,
    /// Its state.
    pub state: &'static str,
    /// Where messages are taken, once it is granted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The keys that messages are wrapped for, once it is granted.
    pub routing_keys: Vec<String>,
    /// Terms of the mediator: none.
    pub mediator_terms: Vec<String>,
    /// Terms of the recipient: none.
    pub recipient_terms: Vec<String>,
    /// When it was asked for, in UTC.
    pub created_at: String,
    /// When it changed last, in UTC.
    pub updated_at: String,
}

/// A key of a keylist.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct KeylistView {
    /// The identifier of its record.
    pub record_id: String,
    /// The connection with its owner.
    pub connection_id: String,
    /// The key.
    pub recipient_key: String,
    /// Who this agent is.
    pub role: &'static str,
    /// When it was added, in UTC.
    pub created_at: String,
    /// The same.
    pub updated_at: String,
}

impl MediationView {
    pub(super) fn of(id: &str, entry: &MediationEntry) -> Self {
        let record = &entry.record;
        let keys = record.routing_keys.iter();
        Self {
            mediation_id: id.to_owned(),
            role: ROLE,
            connection_id: record.connection_id.clone().unwrap_or_default(),
            state: record.state.name(),
            endpoint: record.endpoint.clone(),
            routing_keys: keys.map(|key| key.to_did().to_string()).collect(),
            mediator_terms: Vec::new(),
            recipient_terms: Vec::new(),
            created_at: record.dialogue.created_at.rfc3339(),
            updated_at: record.dialogue.updated_at.rfc3339(),
        }
    }
}

impl KeylistView {
    pub(super) fn of(kept: &KeptKey) -> Self {
        let added = kept.key.added.rfc3339();
        Self {
            record_id: kept.id.clone(),
            connection_id: kept.key.connection_id.clone(),
            recipient_key: kept.key.key.to_base58(),
            role: ROLE,
            created_at: added.clone(),
            updated_at: added,
        }
    }
}
