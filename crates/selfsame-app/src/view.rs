//! What use cases take and return: the types that the API, the pages and the command line share.

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

/// Untrusted text, made safe to show: without the characters that change the direction of the text around them, so that
/// it cannot make our sentences, or an address in it, read differently (Unicode UAX #9 §2; UTR #36 §2.5.1).
#[must_use]
pub fn readable(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| !turns(*c)).collect()
}

/// Which page of a list to return: the cursor of the page before, and the maximum number of entries.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paging {
    /// The `next` of the page before; absent for the first page.
    pub after: Option<String>,
    /// Maximum number of entries; default 50, at most 200.
    #[serde(default, deserialize_with = "at_least_one")]
    pub limit: Option<usize>,
}

/// Reads the number of entries of a page; refuses 0.
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
    /// The cursor to continue from, if any; a form's empty field counts as absent.
    #[must_use]
    pub fn cursor(&self) -> Option<&str> {
        self.after.as_deref().filter(|after| !after.is_empty())
    }

    /// The number of entries asked for, clamped to 1–200.
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

/// The use of a single-use credential.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct CredentialUse {
    /// `spent` or `revoked`.
    pub action: String,
    /// The DID that did it.
    pub by: String,
    /// When it happened, RFC 3339.
    pub at: String,
    /// The number of the transaction in the registry.
    pub seq_no: u64,
}

/// A text for people, keyed by language; templates carry English and may carry more.
pub type Labels = std::collections::BTreeMap<String, String>;
