//! The resolver's page: an identifier in, its document and metadata out.

use askama::Template;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::Frame;
use crate::error::Answer;
use crate::extract::Query;
use crate::server::Server;

#[derive(Template)]
#[template(path = "resolver.html")]
struct Page {
    frame: Frame,
    did: String,
    version_id: String,
    version_time: String,
    result: Option<Shown>,
}

struct Shown {
    error: Option<String>,
    document: Option<String>,
    metadata: String,
}

/// What to resolve.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
pub struct Asked {
    did: String,
    version_id: String,
    version_time: String,
}

/// The form, and what came of it.
pub async fn page(State(server): State<Server>, frame: Frame, Query(asked): Query<Asked>) -> Answer {
    let did = asked.did.trim().to_owned();
    let result = if did.is_empty() {
        None
    } else {
        Some(Shown::of(&server.app().resolver().resolve(&did, &serde_json::Value::Null).await))
    };
    let Asked { version_id, version_time, .. } = asked;
    super::html(&Page { frame: frame.titled("Resolver"), did, version_id, version_time, result })
}

impl Shown {
    fn of(result: &serde_json::Value) -> Self {
        let metadata = serde_json::json!({
            "didResolutionMetadata": result["didResolutionMetadata"],
            "didDocumentMetadata": result["didDocumentMetadata"],
        });
        let document = Some(&result["didDocument"]).filter(|document| !document.is_null());
        let error = &result["didResolutionMetadata"]["error"];
        Self { error: error.as_str().map(str::to_owned), document: document.map(pretty), metadata: pretty(&metadata) }
    }
}

/// JSON as people read it.
pub fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
