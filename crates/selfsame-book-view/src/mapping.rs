//! What a mapping makes of sample claims.

use selfsame_driver::{Reason, Reasons};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A claim of a type that can be chosen for a fact.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ChosenClaim {
    /// The names of the object members that lead to it.
    pub path: Vec<String>,
    /// Its label.
    pub label: String,
}

/// What a mapping makes of the sample claims of its type.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
pub struct PreviewedMapping {
    /// What is wrong with the mapping. With none, it can be saved.
    #[schema(value_type = Vec<String>)]
    pub refusals: Vec<Reason>,
    /// What should be better.
    #[schema(value_type = Vec<String>)]
    pub advice: Vec<Reason>,
    /// The type of the topic.
    pub topic_type: Option<String>,
    /// The number or name of the topic.
    pub source_id: Option<String>,
    /// Its names, each with its type.
    pub names: Vec<String>,
    /// Its addresses, each in one line.
    pub addresses: Vec<String>,
    /// Further facts, each with its type.
    pub attributes: Vec<String>,
    /// The types of those by which topics are filtered.
    pub facets: Vec<String>,
    /// Its relationships, each with the number of the other topic.
    pub relationships: Vec<String>,
    /// Whether the claims say that the topic is no longer active.
    pub inactive: bool,
    /// The claims that a reader of the book sees.
    #[schema(value_type = Object)]
    pub shown: Map<String, Value>,
}

impl Reasons for PreviewedMapping {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        self.refusals.iter_mut().chain(&mut self.advice).collect()
    }
}
