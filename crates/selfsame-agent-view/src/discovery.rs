//! Questions about features as controllers see them. The members have the names of ACA-Py's admin API, which differ
//! between the versions of the protocol.

use selfsame_aries::discover_features::{DiscoveryRecord, DiscoveryState, Feature, FeatureQuery};
use serde::Serialize;
use serde_json::{Value, json};

/// A question, with what was answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiscoveryView {
    /// The major version of the protocol.
    #[serde(skip)]
    pub major: u16,
    /// The identifier of its record; empty for the features of this agent itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub discovery_exchange_id: String,
    /// The connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connection_id: Option<String>,
    /// Its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// Its state, which version 1 has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'static str>,
    /// What was asked in version 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_msg: Option<Value>,
    /// What was answered in version 1; `None` before the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disclose: Option<Value>,
    /// What was asked in version 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries_msg: Option<Value>,
    /// What was answered in version 2; `None` before the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disclosures: Option<Value>,
    /// Whether its messages are traced: never.
    pub trace: bool,
    /// When it was asked, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When it was changed last, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
}

impl DiscoveryView {
    /// The question with this identifier, on this connection. The record is `None` before its first step.
    #[must_use]
    pub fn of(id: &str, connection_id: &str, record: Option<&DiscoveryRecord>) -> Self {
        let major = record.map_or(2, |record| record.dialogue.kind.version.major);
        let asked = record.map_or(&[][..], |record| &record.queries[..]);
        let done = record.filter(|record| record.state == DiscoveryState::Done);
        let answered = done.map(|record| &record.disclosures[..]);
        Self {
            discovery_exchange_id: id.to_owned(),
            connection_id: Some(connection_id.to_owned()),
            thread_id: record.map(|record| record.dialogue.thread_id.clone()),
            created_at: record.map(|record| record.dialogue.created_at.rfc3339()),
            updated_at: record.map(|record| record.dialogue.updated_at.rfc3339()),
            ..Self::said(major, asked, answered)
        }
    }

    /// The features of this agent itself that were asked for.
    #[must_use]
    pub fn own(major: u16, asked: &[FeatureQuery], features: &[Feature]) -> Self {
        Self::said(major, asked, Some(features))
    }

    /// Whether the peer has answered.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        self.disclosures.is_some() || self.disclose.is_some()
    }

    /// The protocols that the peer said it speaks; `None` before its answer.
    #[must_use]
    pub fn protocols(&self) -> Option<Vec<String>> {
        let text = |value: &Value, name: &str| value.get(name)?.as_str().map(str::to_owned);
        let first = self.disclose.as_ref().and_then(|all| all.get("protocols"));
        let later = self.disclosures.as_ref();
        let later = later.and_then(|all| all.get("disclosures"));
        let found = first.or(later)?.as_array()?.iter();
        let names = found.filter_map(|one| {
            let kind = text(one, "feature-type");
            let is_protocol = kind.is_none_or(|kind| kind == "protocol");
            let name = text(one, "pid").or_else(|| text(one, "id"));
            name.filter(|_| is_protocol)
        });
        Some(names.collect())
    }

    fn said(major: u16, asked: &[FeatureQuery], answered: Option<&[Feature]>) -> Self {
        let is_first = major == 1;
        let first = asked.first().map(|one| &one.pattern);
        let state = match answered {
            Some(_) => "disclose-received",
            None => "query-sent",
        };
        Self {
            major,
            discovery_exchange_id: String::new(),
            connection_id: None,
            thread_id: None,
            state: is_first.then_some(state),
            query_msg: is_first.then(|| json!({ "query": first })),
            disclose: answered.filter(|_| is_first).map(protocols),
            queries_msg: (!is_first).then(|| json!({ "queries": asked })),
            disclosures: answered
                .filter(|_| !is_first)
                .map(|features| json!({ "disclosures": features })),
            trace: false,
            created_at: None,
            updated_at: None,
        }
    }
}

/// The protocols among these features, as version 1 tells them.
fn protocols(features: &[Feature]) -> Value {
    let protocols = features
        .iter()
        .filter(|feature| feature.feature_type == "protocol");
    let protocols = protocols.map(|feature| json!({ "pid": feature.id, "roles": feature.roles }));
    json!({ "protocols": protocols.collect::<Vec<_>>() })
}
