//! The rules of a verdict while they are checked, and the outcome that follows from them.

use selfsame_crypto::time::UnixTime;
use serde_json::Value;

use crate::verdict::{Outcome, Rule, Verdict};

/// A rule, its paragraph in the specification, and what it means if the rule is broken.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Law {
    pub name: &'static str,
    pub paragraph: &'static str,
    pub failure: BrokenRule,
}

impl Law {
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
pub(crate) enum BrokenRule {
    /// Forged, altered, malformed or presented wrongly.
    Invalid,
    /// Its authenticity can't be determined.
    Unverifiable,
    /// Genuine, but from an issuer that is not trusted.
    Untrusted,
    Revoked,
    /// Genuine, but a single-use credential that is used up.
    Spent,
    Suspended,
    Expired,
    NotYetValid,
    /// Genuine, but its current status is unknown.
    StatusUnknown,
}

impl BrokenRule {
    const fn outcome(self) -> Outcome {
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

/// The rules checked so far.
pub(crate) struct Checklist {
    laws: &'static [&'static [&'static Law]],
    rules: Vec<Rule>,
    worst: Option<BrokenRule>,
    /// Whether the signer is unknown.
    unproven: bool,
    as_of: Option<UnixTime>,
}

impl Checklist {
    /// A list that will contain each of `laws`, checked or not.
    pub fn new(laws: &'static [&'static [&'static Law]]) -> Self {
        Self {
            laws,
            rules: Vec::with_capacity(laws.iter().map(|some| some.len()).sum()),
            worst: None,
            unproven: false,
            as_of: None,
        }
    }

    /// Records whether a rule holds, with the detail if it does not; returns whether it holds.
    pub fn check(&mut self, law: &'static Law, holds: bool, otherwise: &str) -> bool {
        if holds {
            self.passes(law, "");
        } else {
            self.fails(law, otherwise);
        }
        holds
    }

    /// Records that a rule holds.
    pub fn passes(&mut self, law: &'static Law, detail: impl Into<String>) {
        self.record(law, Some(true), detail.into());
    }

    /// Records that a rule is broken.
    pub fn fails(&mut self, law: &'static Law, detail: impl Into<String>) {
        self.fails_as(law, law.failure, detail);
    }

    /// Records that a rule is broken, with another meaning than its usual one.
    pub fn fails_as(&mut self, law: &'static Law, failure: BrokenRule, detail: impl Into<String>) {
        self.worst = Some(self.worst.map_or(failure, |worst| worst.min(failure)));
        self.record(law, Some(false), detail.into());
    }

    /// Records that the signer is unknown: the claims are then unproven, whatever the other rules say.
    pub fn nobody_proven(&mut self) {
        self.unproven = true;
    }

    /// Records that a rule does not apply.
    pub fn skips(&mut self, law: &'static Law, why: &str) {
        self.record(law, None, why.to_owned());
    }

    /// Records when status evidence was fetched.
    pub fn status_seen(&mut self, at: UnixTime) {
        self.as_of = Some(self.as_of.map_or(at, |oldest| oldest.min(at)));
    }

    fn record(&mut self, law: &'static Law, passed: Option<bool>, detail: String) {
        self.rules.push(Rule {
            name: law.name.into(),
            passed,
            detail,
            paragraph: law.paragraph.into(),
        });
    }

    /// The verdict, and the claims if they are genuine.
    pub fn conclude(mut self, claims: Option<&Value>) -> (Verdict, Option<&Value>) {
        for law in self.laws.iter().copied().flatten() {
            if !self.rules.iter().any(|rule| rule.name == law.name) {
                self.record(law, None, "not checked".to_owned());
            }
        }
        let outcome = self.worst.map_or(Outcome::Valid, BrokenRule::outcome);
        let failed = matches!(
            self.worst,
            Some(BrokenRule::Invalid | BrokenRule::Unverifiable)
        );
        let genuine = !failed && !self.unproven;
        let verdict = Verdict {
            outcome,
            rules: self.rules,
            as_of: self.as_of,
        };
        (verdict, claims.filter(|_| genuine))
    }
}
