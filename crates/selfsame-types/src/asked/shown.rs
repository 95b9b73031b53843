//! What a person is shown of a saved request.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A claim that leaves the wallet.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct AskedClaim {
    /// Its label.
    pub label: String,
    /// The example of its type.
    pub example: Option<String>,
}

/// A set of combinations of credential queries; one combination answers it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct AskedSet {
    /// Whether the request needs it.
    pub required: bool,
    /// The combinations, each a list of ids of credential queries.
    pub options: Vec<Vec<String>>,
}
