//! The resolver's page: an identifier in, its document and metadata out.

use askama::Template;
use selfsame_did::Resolution;
use serde_json::json;

use crate::Frame;
use crate::text::pretty;

/// The form, with the result if something was resolved.
#[derive(Template)]
#[template(path = "resolver.html")]
pub struct ResolverPage {
    /// What stands around it.
    pub frame: Frame,
    /// The DID that was asked for; empty if none was.
    pub did: String,
    /// The version that was asked for; empty for the newest.
    pub version_id: String,
    /// The time that was asked for; empty for now.
    pub version_time: String,
    /// The result.
    pub result: Option<ShownResolution>,
}

/// The result of a resolution, as text.
pub struct ShownResolution {
    error: Option<String>,
    document: Option<String>,
    metadata: String,
}

impl ShownResolution {
    /// The text of a result whose reason is a sentence already.
    pub fn of(resolution: &Resolution) -> Self {
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
