//! What use cases take and give: the shapes that the API, the pages and the command line share.

pub mod browse;
pub mod instance;
pub mod issuer;
pub mod node;
pub mod registry;
pub mod verifier;
pub mod wallet;

use serde::de::{Deserializer, Error as _, Unexpected};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Text from elsewhere as it is shown: without characters that turn the direction of what stands around them, so that it
/// cannot make our sentences, or an address in it, read otherwise (Unicode UAX #9 §2; UTR #36 §2.5.1).
#[must_use]
pub fn readable(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| !turns(*c)).collect()
}

/// Where to go on in a list: the cursor of the page before, and how many at most.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paging {
    /// The `next` of the page before; absent for the first.
    pub after: Option<String>,
    /// At most so many entries; 50 unless told, never more than 200.
    #[serde(default, deserialize_with = "at_least_one")]
    pub limit: Option<usize>,
}

/// Reads how many entries a page may have: none at all would be no page.
pub fn at_least_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    match Option::deserialize(deserializer)? {
        Some(0) => Err(D::Error::invalid_value(
            Unexpected::Unsigned(0),
            &"a whole number from 1",
        )),
        limit => Ok(limit),
    }
}

impl Paging {
    /// Where to go on, if not at the beginning; a form's empty field is none.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        self.after.as_deref().filter(|after| !after.is_empty())
    }

    /// The number of entries asked for, within bounds.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit.unwrap_or(50).clamp(1, 200)
    }
}

/// A page of a list.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Listing<T> {
    /// The entries, newest first.
    pub items: Vec<T>,
    /// The cursor of the next page; absent at the end.
    pub next: Option<String>,
}

/// What became of a credential for one use.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct CredentialUse {
    /// `spent` or `revoked`.
    pub action: String,
    /// The DID that did it.
    pub by: String,
    /// When, RFC 3339.
    pub at: String,
    /// The number of the transaction in the registry.
    pub seq_no: u64,
}

/// A text for people in one language; templates carry English and may carry more.
pub type Labels = std::collections::BTreeMap<String, String>;
