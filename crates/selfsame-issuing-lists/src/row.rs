//! A row as it is stored.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A row. Once its offer is made, the offer alone has its claims.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct ListRow {
    pub line: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub claims: Map<String, Value>,
}
