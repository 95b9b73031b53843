//! A rule as its specification states it.

use crate::verdict::Outcome;

/// A rule, its paragraph in the specification, and what it means if the rule is broken.
#[derive(Debug, Eq, PartialEq)]
pub struct Law {
    /// The rule's name, in snake case.
    pub name: &'static str,
    /// The specification's paragraph.
    pub paragraph: &'static str,
    /// What it means if the rule is broken.
    pub failure: BrokenRule,
}

impl Law {
    /// A rule.
    pub const fn new(name: &'static str, paragraph: &'static str, failure: BrokenRule) -> Self {
        Self {
            name,
            paragraph,
            failure,
        }
    }

    /// The same rule with only this paragraph.
    pub const fn resting_on(&self, paragraph: &'static str) -> Self {
        Self::new(self.name, paragraph, self.failure)
    }
}

/// What a broken rule means. The first of these that occurs determines the outcome.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum BrokenRule {
    /// Forged, altered, malformed or presented wrongly.
    Invalid,
    /// Its authenticity can't be determined.
    Unverifiable,
    /// Genuine, but from an issuer that is not trusted.
    Untrusted,
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
    /// Genuine, but its current status is unknown.
    StatusUnknown,
}

impl BrokenRule {
    pub(crate) const fn outcome(self) -> Outcome {
        match self {
            Self::Invalid => Outcome::Invalid,
            Self::Unverifiable | Self::StatusUnknown => Outcome::Unverifiable,
            Self::Untrusted => Outcome::Untrusted,
            Self::Revoked => Outcome::Revoked,
            Self::Spent => Outcome::Spent,
            Self::Suspended => Outcome::Suspended,
            Self::Expired => Outcome::Expired,
            Self::NotYetValid => Outcome::NotYetValid,
        }
    }
}
