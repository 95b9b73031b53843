//! The result of verifying a presentation: a verdict, and what is proven of each credential.

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::format::{
    Comparison, CredentialDefinitionId, Interval, IssuerId, RevocationRegistryId, SchemaId,
};

pub use selfsame_verdict::{Outcome, Rule, Verdict};

/// The verdict on a presentation, and every referent that was answered. Its outcome is valid, unverifiable or invalid:
/// the proof does not show whether a credential is forged or revoked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AnoncredsVerdict {
    /// The verdict on all credentials of the presentation together.
    pub verdict: Verdict,
    /// What is proven of each credential, and as of when; empty unless the outcome is valid.
    pub answers: Vec<Answered>,
}

/// As one object. It has no `as_of`: each answer states the time of its own status list.
impl Serialize for AnoncredsVerdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("AnoncredsVerdict", 3)?;
        object.serialize_field("outcome", &self.verdict.outcome)?;
        object.serialize_field("rules", &self.verdict.rules)?;
        object.serialize_field("answers", &self.answers)?;
        object.end()
    }
}

/// One referent of the request, and its answer.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Answered {
    /// The referent in the request.
    pub referent: String,
    /// The attributes that the referent asks for.
    pub attributes: Vec<String>,
    /// How the referent is answered.
    pub answer: AnswerKind,
    /// The credential that answers; `None` for a self-attested value.
    pub credential: Option<Source>,
}

/// How a referent is answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// The values are revealed.
    Revealed,
    /// The credential has the attributes; their values stay hidden.
    Unrevealed,
    /// The holder states the values; no issuer signed them.
    SelfAttested,
    /// The predicate holds; the value stays hidden.
    Predicate {
        /// The comparison operator.
        comparison: Comparison,
        /// The number that the value is compared with.
        bound: i32,
    },
}

/// A credential that answers.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Source {
    /// The credential's index in the presentation.
    pub index: usize,
    /// The credential's issuer.
    pub issuer_id: IssuerId,
    /// The credential's schema.
    pub schema_id: SchemaId,
    /// The credential's definition.
    pub cred_def_id: CredentialDefinitionId,
    /// When it was proven not revoked; `None` if that was not requested, or the credential is not revocable.
    pub not_revoked: Option<NotRevoked>,
}

/// The proof that a credential was not revoked at a given time.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct NotRevoked {
    /// The registry.
    pub rev_reg_id: RevocationRegistryId,
    /// The timestamp of the registry's status list, in seconds since 1970.
    pub as_of: u64,
    /// The requested interval, with the verifier's overrides; `None` if none was requested.
    pub interval: Option<Interval>,
}
