//! The result of a verification, and its reasons.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The result of a verification, with every rule that was checked.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Verdict {
    /// The outcome.
    pub outcome: Outcome,
    /// Every rule, in the order in which it was checked.
    pub rules: Vec<Rule>,
    /// The time of the oldest status evidence, in seconds since 1970: when it was fetched or read, or for which it was
    /// published. `None` if none was needed.
    pub as_of: Option<u64>,
}

impl Verdict {
    /// Whether every rule that applies holds.
    pub fn is_valid(&self) -> bool {
        self.outcome == Outcome::Valid
    }

    /// The first rule that does not hold or could not be judged.
    pub fn reason(&self) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.passed != Some(true))
    }
}

/// The outcome, from most to least useful to a verifier.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every rule that applies holds.
    Valid,
    /// Genuine, but revoked by its issuer.
    Revoked,
    /// Genuine, but a single-use credential that is used up.
    Spent,
    /// Genuine, but suspended by its issuer.
    Suspended,
    /// Genuine, but expired.
    Expired,
    /// Genuine, but not yet valid.
    NotYetValid,
    /// Genuine and valid, but its issuer does not let this verifier use it up.
    NotAuthorised,
    /// Genuine, but its issuer is not trusted by the policy.
    Untrusted,
    /// Verification is incomplete: evidence is missing.
    Unverifiable,
    /// Forged, tampered with, malformed, or presented wrongly.
    Invalid,
}

impl Outcome {
    /// The outcome's name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Revoked => "revoked",
            Self::Spent => "spent",
            Self::Suspended => "suspended",
            Self::Expired => "expired",
            Self::NotYetValid => "not_yet_valid",
            Self::NotAuthorised => "not_authorised",
            Self::Untrusted => "untrusted",
            Self::Unverifiable => "unverifiable",
            Self::Invalid => "invalid",
        }
    }
}

/// One rule, its result, and its paragraph in the specification.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Rule {
    /// The rule's name, in snake case.
    pub name: Cow<'static, str>,
    /// Whether it holds; `None` if it does not apply or could not be checked.
    pub passed: Option<bool>,
    /// A detail, without any claim's value.
    pub detail: String,
    /// The specification's paragraph.
    pub paragraph: Cow<'static, str>,
}
