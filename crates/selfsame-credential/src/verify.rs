//! Verification: its needs, and the verdict once they are gathered. Nothing here fetches or knows the time.

use std::{collections::HashSet, sync::Arc};

use selfsame_crypto::time::UnixTime;
use serde_json::Value;

pub use crate::{
    budget::Budget,
    rules::{Binding, Malformed, issuer::is_by_a_trusted_issuer},
};
use crate::{
    evidence::{Evidence, Need, Reading, Step, Text},
    format::{Format, Subject},
    held::Held,
    rules::Court,
    sd_jwt::Withheld,
    verdict::{Policy, Verdict},
};

/// A credential or presentation, as received.
#[derive(Clone, Copy, Debug)]
pub struct Presented<'a> {
    /// Its format.
    pub format: Format,
    /// The text received.
    pub raw: &'a str,
    /// The values that a proof of the holder must be bound to. `None`: a credential without a presentation is expected.
    pub expected: Option<&'a Binding>,
}

/// Something presented, parsed once for all rounds of gathering and the verification.
#[derive(Debug)]
pub struct Examination<'a> {
    subject: Arc<dyn Subject>,
    expected: Option<&'a Binding>,
}

/// The evidence that [`verify`] still needs; empty if it can verify.
pub fn needs(
    presented: &Presented<'_>,
    policy: &Policy,
    evidence: &Evidence,
    now: UnixTime,
) -> Result<Vec<Need>, Malformed> {
    Ok(Examination::once(presented, evidence)?.needs(policy, evidence, now))
}

/// Verifies. The processed claims are returned with the verdict if nothing was forged, altered or left unverified;
/// [`Verdict::outcome`] says whether they can be relied upon.
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
    /// Parses the text. The result depends only on the text, its format, whether a presentation is expected, and the
    /// budget.
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
    /// Parses a presented text.
    pub fn new(presented: &Presented<'a>) -> Result<Self, Malformed> {
        let mut budget = Budget::of(presented.raw);
        Ok(Self {
            subject: presented.read(&mut budget)?,
            expected: presented.expected,
        })
    }

    /// As above, but uses a reading that this evidence remembers.
    pub fn once(presented: &Presented<'a>, evidence: &Evidence) -> Result<Self, Malformed> {
        Self::among(presented, evidence, &mut Budget::of(presented.raw))
    }

    /// As above, for one of several texts that share a budget. A remembered reading is charged as if it were parsed
    /// now, so that each round of gathering gives an equal result.
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

    /// Takes a credential that a wallet has read.
    pub fn of(held: &Held) -> Self {
        Self {
            subject: held.subject(),
            expected: None,
        }
    }

    /// The array elements that are withheld from the verifier.
    pub fn withheld(&self) -> Option<&Withheld> {
        self.subject.withheld()
    }

    /// The evidence that [`Examination::verify`] still needs.
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

    /// Verification as a step: the verdict follows once no evidence is missing.
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

    /// Verifies with the present evidence.
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
