//! The rules of a verdict as they are judged, and the outcome they add up to.

use selfsame_crypto::time::UnixTime;
use serde_json::Value;

use crate::verdict::{Outcome, Rule, Verdict};

/// A rule, the paragraph it rests on, and what it means if it does not hold.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Law {
    pub name: &'static str,
    pub paragraph: &'static str,
    pub failure: Failure,
}

impl Law {
    pub const fn new(name: &'static str, paragraph: &'static str, failure: Failure) -> Self {
        Self {
            name,
            paragraph,
            failure,
        }
    }

    /// The same rule, where it rests on this paragraph alone.
    pub const fn resting_on(&self, paragraph: &'static str) -> Self {
        Self::new(self.name, paragraph, self.failure)
    }
}

/// What a rule that does not hold means; the first of these that occurs decides the outcome.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Failure {
    /// Forged, altered, malformed or presented wrongly.
    Invalid,
    /// Whether it is genuine cannot be said.
    Unverifiable,
    /// Genuine, from nobody who is trusted.
    Untrusted,
    Revoked,
    /// Genuine, for one use, and used.
    Spent,
    Suspended,
    Expired,
    NotYetValid,
    /// Genuine, but nobody can say how it stands today.
    StatusUnknown,
}

impl Failure {
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

/// Rules judged so far.
pub(crate) struct Checklist {
    laws: &'static [&'static [&'static Law]],
    rules: Vec<Rule>,
    worst: Option<Failure>,
    /// Whether nobody knows who signed.
    unproven: bool,
    as_of: Option<UnixTime>,
}

impl Checklist {
    /// A list on which each of `laws` will stand, judged or not.
    pub fn new(laws: &'static [&'static [&'static Law]]) -> Self {
        Self {
            laws,
            rules: Vec::with_capacity(laws.iter().map(|some| some.len()).sum()),
            worst: None,
            unproven: false,
            as_of: None,
        }
    }

    /// Records whether a rule holds, and what was seen if it does not; answers whether it does.
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

    /// Records that a rule does not hold.
    pub fn fails(&mut self, law: &'static Law, detail: impl Into<String>) {
        self.fails_as(law, law.failure, detail);
    }

    /// Records that a rule does not hold, which here means something else than usual.
    pub fn fails_as(&mut self, law: &'static Law, failure: Failure, detail: impl Into<String>) {
        self.worst = Some(self.worst.map_or(failure, |worst| worst.min(failure)));
        self.record(law, Some(false), detail.into());
    }

    /// Records that nobody knows who signed: then nobody knows what the claims are worth, whatever the conclusion.
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
                self.record(law, None, "not judged".to_owned());
            }
        }
        let outcome = self.worst.map_or(Outcome::Valid, Failure::outcome);
        let failed = matches!(self.worst, Some(Failure::Invalid | Failure::Unverifiable));
        let genuine = !failed && !self.unproven;
        let verdict = Verdict {
            outcome,
            rules: self.rules,
            as_of: self.as_of,
        };
        (verdict, claims.filter(|_| genuine))
    }
}
