//! What describes a type of credential: its claims, its look, and the request that a verifier typically makes.

use selfsame_credential::date::is_full_date;
use selfsame_driver::Reason;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A text for people, keyed by language; templates carry English and may carry more.
pub type Labels = std::collections::BTreeMap<String, String>;

/// A type of credential that this issuer can issue.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Template {
    /// Its name in URLs and commands, such as `immunization`.
    pub id: String,
    /// Its title for people.
    pub title: String,
    /// What it attests, in one sentence.
    pub description: String,
    /// The last part of its SD-JWT VC type.
    pub vct: String,
    /// Its W3C types, the general one first.
    pub types: Vec<String>,
    /// Whether a credential is single-use. Applies to SD-JWT VCs of an issuer with a `did:selfsame`.
    #[serde(default)]
    pub single_use: bool,
    /// Number of days for which a credential is valid.
    pub validity_days: u64,
    /// The card's colour, as CSS.
    pub color: String,
    /// A pictogram, such as an emoji.
    pub icon: String,
    /// Its claims, in the order of the form.
    pub claims: Vec<ClaimField>,
    /// The request that a verifier typically makes.
    pub request: TypicalRequest,
}

/// One claim of a template.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ClaimField {
    /// The names of the object members that lead to it.
    pub path: Vec<String>,
    /// Its label for people, by language.
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    pub label: Labels,
    /// The kind of value.
    pub kind: ClaimKind,
    /// Whether every credential must have it.
    pub mandatory: bool,
    /// Whether the holder may withhold it.
    pub disclosable: bool,
    /// Whether the holder may disclose single elements of a list and withhold the others.
    #[serde(default)]
    pub each: bool,
    /// The members of a list's elements, if they are objects; empty for lists of texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<ItemField>,
    /// A realistic value about an obviously invented person.
    #[schema(value_type = Value)]
    pub example: Value,
}

/// One member of the objects in a list; an object may lack it.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ItemField {
    /// The member's name.
    pub name: String,
    /// Its label for people, by language.
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    pub label: Labels,
    /// The kind of value.
    pub kind: ClaimKind,
}

/// The kind of a claim's value.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimKind {
    /// A line of text.
    Text,
    /// A date, `YYYY-MM-DD`.
    Date,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list of texts or objects.
    List,
}

impl ClaimKind {
    /// Whether a value is of this kind.
    #[must_use]
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Date => value.as_str().is_some_and(is_full_date),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::List => value.is_array(),
        }
    }

    /// The kind of value expected, in words for people.
    #[must_use]
    pub fn expected(self) -> Reason {
        match self {
            Self::Text => Reason::new("kind-text"),
            Self::Date => Reason::new("kind-date"),
            Self::Number => Reason::new("kind-number"),
            Self::Boolean => Reason::new("kind-boolean"),
            Self::List => Reason::new("kind-list"),
        }
    }
}

/// The request that a verifier typically makes for a template.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TypicalRequest {
    /// Its title for people.
    pub title: String,
    /// The claims it requests.
    pub claims: Vec<Vec<String>>,
}
