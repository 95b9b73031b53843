//! What a claim says that follows from another claim.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How a boolean claim follows from an enumeration: it is true if that has one of these values. So the issuer signs the
/// answer to a question, and the holder can show it without the value itself.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// The path of the enumeration.
    pub from: Vec<String>,
    /// The values for which the claim is true.
    pub values: Vec<String>,
}

impl Derived {
    /// What the claim says if the enumeration has this value, or none.
    pub(crate) fn holds(&self, value: Option<&str>) -> bool {
        value.is_some_and(|value| self.values.iter().any(|known| known == value))
    }
}
