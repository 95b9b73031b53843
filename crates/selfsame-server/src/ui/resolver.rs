//! The resolver's page: an identifier in, its document and metadata out.

use askama::Template;
use axum::extract::State;
use selfsame_did::Resolution;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Frame;
use crate::error::Handled;
use crate::extract::Query;
use crate::protocol::resolver::{AskedVersion, resolution};
use crate::server::Server;

#[derive(Template)]
#[template(path = "resolver.html")]
struct ResolverPage {
    frame: Frame,
    did: String,
    version_id: String,
    version_time: String,
    result: Option<ShownResolution>,
}

struct ShownResolution {
    error: Option<String>,
    document: Option<String>,
    metadata: String,
}

/// What to resolve.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Which {
    did: String,
}

/// The form, with the result if something was resolved.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Query(Which { did }): Query<Which>,
    Query(asked): Query<AskedVersion>,
) -> Handled {
    let did = did.trim().to_owned();
    let asked = AskedVersion {
        version_id: filled(asked.version_id),
        version_time: filled(asked.version_time),
    };
    let result = match did.as_str() {
        "" => None,
        did => Some(ShownResolution::of(
            resolution(&server, did, &asked).await.as_ref(),
        )),
    };
    super::html(&ResolverPage {
        frame: frame.titled("Resolver"),
        did,
        version_id: asked.version_id.unwrap_or_default(),
        version_time: asked.version_time.unwrap_or_default(),
        result,
    })
}

/// Treats a form field that was left empty as absent.
fn filled(field: Option<String>) -> Option<String> {
    field
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}

impl ShownResolution {
    fn of(resolution: &Resolution) -> Self {
        let error = resolution.metadata.error;
        let metadata = json!({
            "didResolutionMetadata": resolution.metadata,
            "didDocumentMetadata": resolution.document_metadata,
        });
        Self {
            error: error.map(|error| match &resolution.metadata.reason {
                Some(reason) => format!("{error}: {reason}"),
                None => error.to_string(),
            }),
            document: resolution.document.as_ref().map(pretty),
            metadata: pretty(&metadata),
        }
    }
}

/// Indented JSON.
pub fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
