//! The rules of a verdict while they are checked, and the outcome that follows from them.

use crate::law::{BrokenRule, Law};
use crate::verdict::{Outcome, Rule, Verdict};

/// Why a rule does not hold.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RuleRefusal {
    /// The rule does not hold.
    Fails(String),
    /// Something is missing that the verifier should have fetched.
    Missing(String),
}

impl RuleRefusal {
    /// A rule that does not hold.
    ///
    /// # Errors
    /// Always: with this detail.
    pub fn fails<T>(detail: impl Into<String>) -> Result<T, Self> {
        Err(Self::Fails(detail.into()))
    }

    /// A rule that can't be checked.
    ///
    /// # Errors
    /// Always: with what is missing.
    pub fn missing<T>(detail: impl Into<String>) -> Result<T, Self> {
        Err(Self::Missing(detail.into()))
    }
}

/// The rules checked so far.
pub struct Checklist {
    laws: &'static [&'static [&'static Law]],
    rules: Vec<Rule>,
    worst: Option<BrokenRule>,
    /// Whether the signer is unknown.
    unproven: bool,
    as_of: Option<u64>,
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
        self.note(failure);
        self.record(law, Some(false), detail.into());
    }

    /// Records that the signer is unknown: the claims are then unproven, whatever the other rules say.
    pub fn signer_unknown(&mut self) {
        self.unproven = true;
    }

    /// Records that a rule does not apply.
    pub fn skips(&mut self, law: &'static Law, why: &str) {
        self.record(law, None, why.to_owned());
    }

    /// Checks a rule, unless an earlier one does not hold or could not be checked; it is then listed as not judged.
    pub fn judge<T>(
        &mut self,
        law: &'static Law,
        rule: impl FnOnce() -> Result<(T, String), RuleRefusal>,
    ) -> Option<T> {
        if self.worst.is_some() {
            self.skips(law, "not judged: a rule before it does not hold");
            return None;
        }
        match rule() {
            Ok((value, detail)) => {
                self.passes(law, detail);
                Some(value)
            }
            Err(RuleRefusal::Fails(detail)) => {
                self.fails(law, detail);
                None
            }
            Err(RuleRefusal::Missing(detail)) => {
                self.note(BrokenRule::Unverifiable);
                self.record(law, None, detail);
                None
            }
        }
    }

    /// Records the time of status evidence, in seconds since 1970.
    pub fn status_seen(&mut self, at: u64) {
        self.as_of = Some(self.as_of.map_or(at, |oldest| oldest.min(at)));
    }

    fn note(&mut self, failure: BrokenRule) {
        self.worst = Some(self.worst.map_or(failure, |worst| worst.min(failure)));
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
    pub fn conclude<T>(mut self, claims: Option<T>) -> (Verdict, Option<T>) {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const GENUINE: Law = Law::new("genuine", "§1", BrokenRule::Invalid);
    const CURRENT: Law = Law::new("current", "§2", BrokenRule::Expired);
    const STATUS: Law = Law::new("status", "§3", BrokenRule::Revoked);
    const LAWS: &[&[&Law]] = &[&[&GENUINE, &CURRENT], &[&STATUS]];

    #[test]
    fn the_worst_broken_rule_decides_and_what_was_not_checked_is_listed() {
        let mut list = Checklist::new(LAWS);
        list.fails(&CURRENT, "yesterday");
        list.fails(&STATUS, "");
        list.status_seen(7);
        list.status_seen(5);
        let (verdict, claims) = list.conclude(Some("claims"));
        assert_eq!(
            (verdict.outcome, claims),
            (Outcome::Revoked, Some("claims"))
        );
        let written = json!({
            "outcome": "revoked",
            "rules": [
                {"name": "current", "passed": false, "detail": "yesterday", "paragraph": "§2"},
                {"name": "status", "passed": false, "detail": "", "paragraph": "§3"},
                {"name": "genuine", "passed": null, "detail": "not checked", "paragraph": "§1"},
            ],
            "as_of": 5,
        });
        assert_eq!(serde_json::to_value(&verdict).unwrap(), written);
        assert_eq!(serde_json::from_value::<Verdict>(written).unwrap(), verdict);
    }

    #[test]
    fn claims_are_given_only_if_they_are_genuine_and_their_signer_is_known() {
        let mut forged = Checklist::new(LAWS);
        forged.fails(&GENUINE, "");
        assert_eq!(forged.conclude(Some(())).1, None);
        let mut unsigned = Checklist::new(LAWS);
        unsigned.passes(&GENUINE, "");
        unsigned.signer_unknown();
        let (verdict, claims) = unsigned.conclude(Some(()));
        assert_eq!((verdict.outcome, claims), (Outcome::Valid, None));
    }

    #[test]
    fn rules_that_build_on_each_other_are_judged_up_to_the_first_that_does_not_hold() {
        let outcome_of = |refusal: RuleRefusal| {
            let mut list = Checklist::new(LAWS);
            assert_eq!(list.judge(&GENUINE, || Ok((1, "one".into()))), Some(1));
            assert_eq!(list.judge(&CURRENT, || Err::<((), _), _>(refusal)), None);
            let further = list.judge(&STATUS, || Ok(((), String::new())));
            assert_eq!(further, None);
            let (verdict, claims) = list.conclude(Some(()));
            assert_eq!(verdict.reason().unwrap().name, "current");
            let passed: Vec<Option<bool>> = verdict.rules.iter().map(|rule| rule.passed).collect();
            (verdict.outcome, claims, passed)
        };
        let missing = outcome_of(RuleRefusal::Missing("a list".into()));
        assert_eq!(
            missing,
            (Outcome::Unverifiable, None, vec![Some(true), None, None])
        );
        let failed = outcome_of(RuleRefusal::Fails("late".into()));
        let passed = vec![Some(true), Some(false), None];
        assert_eq!(failed, (Outcome::Expired, Some(()), passed));
    }
}
