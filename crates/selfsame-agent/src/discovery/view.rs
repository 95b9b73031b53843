//! Questions about features as controllers see them. The members have the names of ACA-Py's admin API.

use selfsame_aries::discover_features::Feature;
use serde::Serialize;
use serde_json::{Value, json};

use super::DiscoveryEntry;

/// A question, with what was answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiscoveryView {
    /// The identifier of its record.
    pub discovery_exchange_id: String,
    /// The connection; `None` for the features of this agent itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    /// Its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// What was asked.
    pub queries_msg: Value,
    /// What was answered; `None` before the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disclosures: Option<Value>,
    /// When it was asked, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When it was changed last, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
}

impl DiscoveryView {
    pub(crate) fn of(id: &str, entry: &DiscoveryEntry) -> Self {
        use selfsame_aries::discover_features::DiscoveryState;
        let record = entry.record.as_ref();
        let done = record.filter(|record| record.state == DiscoveryState::Done);
        Self {
            discovery_exchange_id: id.to_owned(),
            connection_id: Some(entry.connection_id.clone()),
            thread_id: record.map(|record| record.dialogue.thread_id.clone()),
            queries_msg: json!({ "queries": record.map(|record| &record.queries) }),
            disclosures: done.map(|record| disclosed(&record.disclosures)),
            created_at: record.map(|record| record.dialogue.created_at.rfc3339()),
            updated_at: record.map(|record| record.dialogue.updated_at.rfc3339()),
        }
    }

    /// The features of this agent itself.
    pub(crate) fn own(features: &[Feature]) -> Self {
        Self {
            discovery_exchange_id: String::new(),
            connection_id: None,
            thread_id: None,
            queries_msg: json!({}),
            disclosures: Some(disclosed(features)),
            created_at: None,
            updated_at: None,
        }
    }
}

/// The features in the forms of both versions.
fn disclosed(features: &[Feature]) -> Value {
    let protocols = features
        .iter()
        .filter(|feature| feature.feature_type == "protocol");
    let protocols = protocols.map(|feature| json!({ "pid": feature.id, "roles": feature.roles }));
    json!({
        "disclosures": features,
        "protocols": protocols.collect::<Vec<_>>(),
    })
}
