//! What the verification of a presentation concluded, and why: each rule, its result, the paragraph it rests on.

use serde::Serialize;

use crate::format::{
    Comparison, CredentialDefinitionId, Interval, IssuerId, RevocationRegistryId, SchemaId,
};

/// The conclusion of a verification, with every rule that was looked at and every referent that was answered.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Verdict {
    /// The conclusion.
    pub outcome: Outcome,
    /// Every rule, in the order it was judged.
    pub rules: Vec<Rule>,
    /// What is proven of which credential, and as of when; empty unless the outcome is valid.
    pub answers: Vec<Answered>,
}

impl Verdict {
    /// Whether every rule holds.
    pub fn is_valid(&self) -> bool {
        self.outcome == Outcome::Valid
    }

    /// The first rule that does not hold or could not be judged.
    pub fn reason(&self) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.passed != Some(true))
    }
}

/// The conclusion, in falling order of what a verifier can do with it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every rule that applies holds.
    Valid,
    /// Not judged to the end: a schema, a definition, a registry or a status list is missing.
    Unverifiable,
    /// Forged, tampered with, presented wrongly, not what was asked for, or revoked: the proof does not tell which.
    Invalid,
}

impl Outcome {
    /// The outcome's name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Unverifiable => "unverifiable",
            Self::Invalid => "invalid",
        }
    }
}

/// One rule, its result, and the paragraph it rests on.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Rule {
    /// The rule's name, in snake case.
    pub name: &'static str,
    /// Whether it holds; none where it could not be judged, or was not since one before it failed.
    pub passed: Option<bool>,
    /// What was seen, without the value of any attribute.
    pub detail: String,
    /// The paragraph of the AnonCreds v1.0 specification.
    pub paragraph: &'static str,
}

/// One referent of the request, and what answers it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Answered {
    /// The referent in the request.
    pub referent: String,
    /// The attributes it asks for.
    pub attributes: Vec<String>,
    /// How it is answered.
    pub answer: AnswerKind,
    /// The credential that answers; none where nobody signed.
    pub credential: Option<Source>,
}

/// How a referent is answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// The values are shown.
    Revealed,
    /// The credential has the attributes; nothing is said of the values.
    Unrevealed,
    /// The holder says so, nobody else.
    SelfAttested,
    /// The comparison holds; nothing else is said of the value.
    Predicate {
        /// How it compares.
        comparison: Comparison,
        /// With what.
        bound: i32,
    },
}

/// A credential that answers.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Source {
    /// Its place in the presentation.
    pub index: usize,
    /// Its issuer.
    pub issuer_id: IssuerId,
    /// Its schema.
    pub schema_id: SchemaId,
    /// Its definition.
    pub cred_def_id: CredentialDefinitionId,
    /// As of when it was proven not to be revoked; none if that was not asked for, or it cannot be.
    pub not_revoked: Option<NotRevoked>,
}

/// That a credential was not revoked at a moment.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct NotRevoked {
    /// The registry.
    pub rev_reg_id: RevocationRegistryId,
    /// The timestamp of the registry's status list, in seconds since 1970.
    pub as_of: u64,
    /// The interval that was asked for, with the verifier's overrides; none if it was not.
    pub interval: Option<Interval>,
}

/// Why a rule does not hold.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It fails.
    Fails(String),
    /// Something is missing that the verifier should have fetched.
    Missing(String),
}

impl Refusal {
    pub(crate) fn fails<T>(detail: impl Into<String>) -> Result<T, Self> {
        Err(Self::Fails(detail.into()))
    }

    pub(crate) fn missing<T>(detail: impl Into<String>) -> Result<T, Self> {
        Err(Self::Missing(detail.into()))
    }
}

/// Rules as they are judged. The first that does not hold ends the judging; those after it are listed as not judged.
#[derive(Debug, Default)]
pub(crate) struct Checklist {
    rules: Vec<Rule>,
    outcome: Option<Outcome>,
}

impl Checklist {
    /// Judges a rule, unless one before it did not hold.
    pub(crate) fn judge<T>(
        &mut self,
        (name, paragraph): (&'static str, &'static str),
        rule: impl FnOnce() -> Result<(T, String), Refusal>,
    ) -> Option<T> {
        let (value, passed, detail) = match self.outcome {
            Some(_) => (
                None,
                None,
                "not judged: a rule before it does not hold".to_owned(),
            ),
            None => match rule() {
                Ok((value, detail)) => (Some(value), Some(true), detail),
                Err(Refusal::Fails(detail)) => {
                    self.outcome = Some(Outcome::Invalid);
                    (None, Some(false), detail)
                }
                Err(Refusal::Missing(detail)) => {
                    self.outcome = Some(Outcome::Unverifiable);
                    (None, None, detail)
                }
            },
        };
        self.rules.push(Rule {
            name,
            passed,
            detail,
            paragraph,
        });
        value
    }

    /// The verdict, with these answers if all rules hold.
    pub(crate) fn verdict(self, answers: Option<Vec<Answered>>) -> Verdict {
        Verdict {
            outcome: self.outcome.unwrap_or(Outcome::Valid),
            rules: self.rules,
            answers: answers
                .filter(|_| self.outcome.is_none())
                .unwrap_or_default(),
        }
    }
}
