//! The result of verifying a presentation, with its reasons: each rule, its result, and its specification paragraph.

use serde::Serialize;

use crate::format::{
    Comparison, CredentialDefinitionId, Interval, IssuerId, RevocationRegistryId, SchemaId,
};

/// The result of a verification, with every rule that was checked and every referent that was answered.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Verdict {
    /// The overall result.
    pub outcome: Outcome,
    /// All rules, in the order in which they were checked.
    pub rules: Vec<Rule>,
    /// What is proven of each credential, and as of when; empty unless the outcome is valid.
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

/// The overall result, ordered from most to least useful to a verifier.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every rule that applies holds.
    Valid,
    /// The check could not be completed: a schema, a definition, a registry or a status list is missing.
    Unverifiable,
    /// Forged, tampered with, presented incorrectly, not as requested, or revoked; the proof does not show which.
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

/// One rule, its result, and the specification paragraph for it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Rule {
    /// The rule's name, in snake case.
    pub name: &'static str,
    /// Whether the rule holds; `None` if it could not be checked, or an earlier rule failed.
    pub passed: Option<bool>,
    /// What the check found, without the value of any attribute.
    pub detail: String,
    /// The paragraph of the AnonCreds v1.0 specification.
    pub paragraph: &'static str,
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

/// Why a rule does not hold.
#[derive(Debug)]
pub(crate) enum RuleRefusal {
    /// The rule does not hold.
    Fails(String),
    /// An object is missing that the verifier should have fetched.
    Missing(String),
}

impl RuleRefusal {
    pub(crate) fn fails<T>(detail: impl Into<String>) -> Result<T, Self> {
        Err(Self::Fails(detail.into()))
    }

    pub(crate) fn missing<T>(detail: impl Into<String>) -> Result<T, Self> {
        Err(Self::Missing(detail.into()))
    }
}

/// Checks rules in order. After the first rule that does not hold, the others are listed as not checked.
#[derive(Debug, Default)]
pub(crate) struct Checklist {
    rules: Vec<Rule>,
    outcome: Option<Outcome>,
}

impl Checklist {
    /// Checks a rule, unless an earlier one did not hold.
    pub(crate) fn judge<T>(
        &mut self,
        name: &'static str,
        paragraph: &'static str,
        rule: impl FnOnce() -> Result<(T, String), RuleRefusal>,
    ) -> Option<T> {
        let (value, passed, detail) = match self.outcome {
            Some(_) => (
                None,
                None,
                "not judged: a rule before it does not hold".to_owned(),
            ),
            None => match rule() {
                Ok((value, detail)) => (Some(value), Some(true), detail),
                Err(RuleRefusal::Fails(detail)) => {
                    self.outcome = Some(Outcome::Invalid);
                    (None, Some(false), detail)
                }
                Err(RuleRefusal::Missing(detail)) => {
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
