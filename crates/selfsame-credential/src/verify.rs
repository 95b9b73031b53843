//! Verification: what it needs, and the judgement once that is gathered. Nothing here fetches or knows the time.

use std::{collections::HashSet, sync::Arc};

use selfsame_crypto::time::UnixTime;
use serde_json::Value;

pub use crate::{
    budget::Budget,
    rules::{Binding, Malformed},
};
use crate::{
    evidence::{Evidence, Need, Reading, Step, Text},
    format::{Format, Subject},
    held::Held,
    rules::Court,
    sd_jwt::Withheld,
    verdict::{Policy, Verdict},
};

/// A credential or presentation as it was received.
#[derive(Clone, Copy, Debug)]
pub struct Presented<'a> {
    /// Its format.
    pub format: Format,
    /// The text received.
    pub raw: &'a str,
    /// What a proof of the holder must be bound to. None: a bare credential is expected, and only that.
    pub expected: Option<&'a Binding>,
}

/// Something presented, read once, so that rounds of gathering and the judgement do not read it again.
#[derive(Debug)]
pub struct Examination<'a> {
    subject: Arc<dyn Subject>,
    expected: Option<&'a Binding>,
}

/// What is still missing before [`verify`] can judge; empty when nothing is.
pub fn needs(
    presented: &Presented<'_>,
    policy: &Policy,
    evidence: &Evidence,
    now: UnixTime,
) -> Result<Vec<Need>, Malformed> {
    Ok(Examination::once(presented, evidence)?.needs(policy, evidence, now))
}

/// Judges. The processed claims come with the verdict if nothing was forged, altered or left unverified; whether
/// they may be relied upon is for [`Verdict::outcome`] to say.
pub fn verify(
    presented: &Presented<'_>,
    policy: &Policy,
    evidence: &Evidence,
    now: UnixTime,
) -> (Verdict, Option<Value>) {
    match Examination::once(presented, evidence) {
        Ok(examination) => {
            let (verdict, claims) = examination.verify(policy, evidence, now);
            (verdict, claims.cloned())
        }
        Err(malformed) => (malformed.verdict(), None),
    }
}

impl<'a> Presented<'a> {
    /// Reads the text. The result depends on the text, its format, whether it is to be a presentation, and the budget
    /// alone.
    fn read(&self, budget: &mut Budget) -> Result<Arc<dyn Subject>, Malformed> {
        let entry = self.format.entry();
        let read = match self.expected {
            None => entry.read_credential,
            Some(_) => entry.read_presentation,
        };
        read(self.raw, budget)
    }

    fn text(&self) -> Text<'a> {
        Text {
            raw: self.raw,
            format: self.format.as_str(),
            is_presentation: self.expected.is_some(),
        }
    }
}

impl<'a> Examination<'a> {
    /// Reads what was presented.
    pub fn new(presented: &Presented<'a>) -> Result<Self, Malformed> {
        let mut budget = Budget::of(presented.raw);
        Ok(Self {
            subject: presented.read(&mut budget)?,
            expected: presented.expected,
        })
    }

    /// The same, but what was read with this evidence before is not read again.
    pub fn once(presented: &Presented<'a>, evidence: &Evidence) -> Result<Self, Malformed> {
        Self::among(presented, evidence, &mut Budget::of(presented.raw))
    }

    /// The same for one of several that come together and share a budget. What is known already counts as if it were
    /// read now, so that each round of gathering comes to the same.
    pub fn among(
        presented: &Presented<'a>,
        evidence: &Evidence,
        budget: &mut Budget,
    ) -> Result<Self, Malformed> {
        let subject = match evidence.reading::<Arc<dyn Subject>>(presented.text()) {
            Some(known) => match budget.take_bytes(known.bytes) {
                Some(()) => known.subject,
                None => return Err((presented.format.entry().too_much)()),
            },
            None => {
                let before = budget.left();
                let subject = presented.read(budget)?;
                let reading = Reading {
                    subject: subject.clone(),
                    bytes: before.saturating_sub(budget.left()),
                };
                evidence.remember(presented.text(), reading);
                subject
            }
        };
        Ok(Self {
            subject,
            expected: presented.expected,
        })
    }

    /// Takes what a wallet has read: a bare credential.
    pub fn of(held: &Held) -> Self {
        Self {
            subject: held.subject(),
            expected: None,
        }
    }

    /// Which elements of arrays are kept from whoever judges.
    pub fn withheld(&self) -> Option<&Withheld> {
        self.subject.withheld()
    }

    /// What is still missing before [`Examination::verify`] can judge.
    pub fn needs(&self, policy: &Policy, evidence: &Evidence, now: UnixTime) -> Vec<Need> {
        let court = &Court {
            policy,
            evidence,
            now,
        };
        let needs = self.subject.needs(court);
        let mut seen = HashSet::new();
        needs
            .into_iter()
            .filter(|need| seen.insert(need.clone()))
            .collect()
    }

    /// The judgement as a step: it comes once nothing is missing.
    pub fn step(
        &self,
        policy: &Policy,
        evidence: &Evidence,
        now: UnixTime,
    ) -> Step<(Verdict, Option<&Value>)> {
        let needs = self.needs(policy, evidence, now);
        match needs.is_empty() {
            true => Step::Done(self.verify(policy, evidence, now)),
            false => Step::Needs(needs),
        }
    }

    /// Judges on the evidence there is.
    pub fn verify(
        &self,
        policy: &Policy,
        evidence: &Evidence,
        now: UnixTime,
    ) -> (Verdict, Option<&Value>) {
        let court = Court {
            policy,
            evidence,
            now,
        };
        self.subject.judge(self.expected, &court)
    }
}

#[cfg(test)]
mod tests;
