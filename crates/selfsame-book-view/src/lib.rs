//! What is shown of a credential book.
//!
//! Owns: the members of answers and of pages. Does not own: where they come from, HTML, HTTP.

pub mod hooks;
pub mod mapping;
pub mod v1;
pub mod v2;
pub mod v4;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What the verification of an entry found.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct VerifiedEntry {
    /// The identifier of the entry.
    pub credential_id: String,
    /// Whether the entry has a credential. Without one, the organisation that keeps the book vouches for it alone.
    pub has_credential: bool,
    /// What the organisation's verifier says of the credential now; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<EntryVerdict>,
}

/// What a verifier says of the credential of an entry.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct EntryVerdict {
    /// The outcome, such as `valid` or `revoked`.
    pub outcome: String,
    /// The rules with their results.
    pub rules: Vec<EntryRule>,
    /// The time as of which its status was checked, RFC 3339.
    pub status_as_of: Option<String>,
}

/// One rule of a verdict.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct EntryRule {
    /// The rule's name.
    pub name: String,
    /// Whether the rule is satisfied; absent if it does not apply or could not be checked.
    pub passed: Option<bool>,
    /// The paragraph of the specification.
    pub paragraph: String,
    /// What was found.
    pub detail: String,
}

/// A search for people: its results with facets, and whether words were read as similar ones.
#[derive(Clone, Debug)]
pub struct BrowsedBook {
    /// The results and the facets.
    pub facets: v4::FacetedSearch,
    /// Whether words were read as similar ones.
    pub corrected: bool,
}

/// Numbers of topics from one to another, without the latter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct TopicRange {
    /// The first number.
    pub from: i64,
    /// The number after the last one.
    pub to: i64,
}

/// A verifier's request to prove an entry to.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EntryProof {
    /// The link of the request (OpenID4VP), such as `openid4vp://?client_id=…`; for an AnonCreds credential, an invitation
    /// of out-of-band (RFC 0434) with the request attached, such as `https://verifier.example/?oob=…`.
    pub request: String,
}

/// A proof that the verifier has taken.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ProvenEntry {
    /// Where the verifier continues, if it says so.
    pub redirect_uri: Option<String>,
}

/// What the organisation's agent does for anybody.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BookPolicy {
    /// Whether the Aries agent answers each request for a proof of what the book shows, whoever asks; default false.
    #[serde(default)]
    pub proofs_by_agent: bool,
}

/// The erasure of an entry.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EntryErasure {
    /// Why it is erased, in words that say nothing about the topic; they stay in the tombstone.
    pub ground: String,
}

/// The tombstone of an entry.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Tombstone {
    /// The identifier of the entry.
    pub credential_id: String,
    /// When it was erased, RFC 3339.
    pub erased: String,
    /// Why.
    pub ground: String,
}

/// How far the index of a book is that is built anew.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
pub struct IndexRebuild {
    /// Whether it is under way.
    pub state: RebuildState,
    /// The number of records that were read so far.
    pub records: u64,
    /// The number of records that the book has, about.
    pub of: u64,
}

/// The state of building an index anew.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RebuildState {
    /// Records are read.
    Running,
    /// All of them were read.
    Done,
    /// It ended before; it can begin again.
    Failed,
}

/// A topic to which another one is related.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ShownNeighbour {
    /// Its number.
    pub id: i64,
    /// What one is to the other.
    pub relation: String,
    /// Whether the relation begins at this topic.
    pub is_from_other: bool,
    /// A name of it, if the book has it.
    pub name: Option<String>,
    /// Its number or name in the register that it comes from.
    pub source_id: String,
}

impl ShownNeighbour {
    /// Its name, or else its number in the register that it comes from.
    #[must_use]
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.source_id)
    }
}
