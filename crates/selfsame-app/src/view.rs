//! What use cases take and return: the types that the API, the pages and the command line share.

pub mod instance;
pub mod issuer;
pub mod node;
pub mod verifier;
pub mod wallet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Untrusted text, made safe to show: without the characters that change the direction of the text around them, so that
/// it cannot make our sentences, or an address in it, read differently (Unicode UAX #9 §2; UTR #36 §2.5.1).
#[must_use]
pub fn readable(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| !turns(*c)).collect()
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
