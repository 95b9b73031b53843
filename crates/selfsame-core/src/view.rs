//! What use cases of every role take and return.

pub mod words;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Untrusted text, made safe to show: without the characters that change the direction of the text around them, so that
/// it cannot make our sentences, or an address in it, read differently (Unicode UAX #9 §2; UTR #36 §2.5.1).
#[must_use]
pub fn readable(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars().filter(|c| !turns(*c)).collect()
}

/// A DID of the instance itself.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct InstanceDid {
    /// The DID.
    pub did: String,
    /// The handle of its current key.
    pub key: String,
    /// Its state.
    #[schema(value_type = words::DidState)]
    pub state: String,
    /// Its document as resolved now; null if the DID is deactivated.
    #[schema(value_type = Option<Object>, required)]
    pub document: Value,
}

/// A DID to create.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewDid {
    /// Its method; a wallet makes only DIDs that contain their key.
    #[schema(value_type = words::DidMethodName)]
    pub method: String,
    /// `P-256` or `Ed25519`, default `P-256`; for `cheqd` only `Ed25519`, which is then the default.
    #[serde(default)]
    #[schema(value_type = Option<words::KeyKind>)]
    pub kind: Option<String>,
}
