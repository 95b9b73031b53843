//! Saved requests as they are listed and opened.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::definition::RequestDefinition;

/// A saved request.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct SavedRequest {
    /// What it asks, and how.
    pub definition: RequestDefinition,
    /// The link that people open.
    pub link: String,
    /// Its version, which each change gives a new number.
    pub version: u64,
    /// When it was changed last, RFC 3339.
    pub changed: String,
}

/// What to open a saved request for.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RequestOpening {
    /// A text of the caller, such as the number of an order, of at most 128 characters. The request's status repeats it.
    pub reference: Option<String>,
}
