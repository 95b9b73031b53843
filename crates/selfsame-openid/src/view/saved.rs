//! The types of saved requests: as they are listed, opened, and seen by visitors.

use selfsame_credential::verdict::Outcome;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::verifier::RequestState;
use crate::saved::definition::RequestDefinition;

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

/// A request that a visitor has opened, as far as they may see it: without any claim.
#[derive(Clone, Debug)]
pub struct VisitorsRequest {
    /// Its id.
    pub id: String,
    /// Its state.
    pub state: RequestState,
    /// The outcome, once there is one.
    pub outcome: Option<Outcome>,
    /// The text of the page that opened it.
    pub reference: Option<String>,
    /// The link for the wallet.
    pub uri: String,
    /// Whether the result waits for the person to return from their wallet to this browser.
    pub awaits_return: bool,
}
