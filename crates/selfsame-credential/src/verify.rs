//! Verification: what it needs, and the judgement once that is gathered. Nothing here fetches or knows the time.

mod checklist;
mod holder;
mod issuer;
mod sd_jwt;
mod single_use;
mod status;
mod vc_jwt;

use std::{collections::HashSet, sync::Arc};

use selfsame_crypto::time::UnixTime;
use serde_json::Value;

pub use crate::budget::Budget;

use self::checklist::{Checklist, Law};
use crate::{
    evidence::{Evidence, Need, Reading, Step, Text},
    format::Format,
    held::Held,
    issuer_key::Roots,
    sd_jwt::{SdJwt, SdJwtError, Withheld, vc},
    subject::Subject,
    vc_jwt::{Model, VcJwt, VcJwtError, VpJwt},
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

/// What binds a presentation to one verifier and one moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Binding {
    /// The verifier; in OpenID4VP its client identifier with the prefix.
    pub audience: String,
    /// The verifier's nonce.
    pub nonce: String,
}

/// What was received cannot be read at all; [`verify`] says the same as a verdict.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{detail} ({})", law.paragraph)]
pub struct Malformed {
    law: &'static Law,
    detail: Detail,
}

/// The reasons for which something cannot be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
enum Detail {
    #[error(transparent)]
    SdJwt(#[from] SdJwtError),
    #[error(transparent)]
    VcJwt(#[from] VcJwtError),
}

/// Something presented, read once, so that rounds of gathering and the judgement do not read it again.
#[derive(Debug)]
pub struct Examination<'a> {
    subject: Arc<Subject>,
    expected: Option<&'a Binding>,
}

/// All a judgement rests on.
#[derive(Clone, Copy)]
struct Court<'a> {
    policy: &'a Policy,
    evidence: &'a Evidence,
    now: UnixTime,
}

impl<'a> Court<'a> {
    fn roots(&self) -> Roots<'a> {
        Roots {
            anchors: &self.policy.trust_anchors,
            now: self.now,
        }
    }
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
            subject: Arc::new(read(presented, &mut budget)?),
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
        let subject = match evidence.reading::<Arc<Subject>>(presented.text()) {
            Some(known) => match budget.take_bytes(known.bytes) {
                Some(()) => known.subject,
                None => return Err(too_much(presented.format)),
            },
            None => {
                let before = budget.left();
                let subject = Arc::new(read(presented, budget)?);
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
            subject: Arc::new(held.subject()),
            expected: None,
        }
    }

    /// Which elements of arrays are kept from whoever judges.
    pub fn withheld(&self) -> Option<&Withheld> {
        match self.subject.as_ref() {
            Subject::SdJwt { processed, .. } => processed.as_ref().ok().map(|it| &it.withheld),
            Subject::Credential(_) | Subject::Presentation(_) => None,
        }
    }

    /// What is still missing before [`Examination::verify`] can judge.
    pub fn needs(&self, policy: &Policy, evidence: &Evidence, now: UnixTime) -> Vec<Need> {
        let court = &Court {
            policy,
            evidence,
            now,
        };
        let needs = match self.subject.as_ref() {
            Subject::SdJwt { sd_jwt, .. } => sd_jwt::needs(sd_jwt, court),
            Subject::Credential(credential) => vc_jwt::needs(credential, None, court),
            Subject::Presentation(presentation) => {
                let holder = vc_jwt::holder_need(presentation, evidence);
                vc_jwt::needs(presentation.credential(), holder, court)
            }
        };
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
        match self.subject.as_ref() {
            Subject::SdJwt { sd_jwt, processed } => {
                let mut list = Checklist::new(&[sd_jwt::LAWS]);
                let received = sd_jwt::Received {
                    sd_jwt,
                    processed,
                    expected: self.expected,
                };
                sd_jwt::judge(received, &court, &mut list);
                let claims = processed.as_ref().ok().map(|processed| &processed.claims);
                list.conclude(claims)
            }
            Subject::Credential(credential) => {
                let mut list = Checklist::new(&[vc_jwt::CREDENTIAL_LAWS]);
                vc_jwt::judge(credential, &court, &mut list);
                list.conclude(Some(credential.credential()))
            }
            Subject::Presentation(presentation) => {
                let mut list = Checklist::new(&[vc_jwt::CREDENTIAL_LAWS, vc_jwt::HOLDER_LAWS]);
                let issuer = vc_jwt::judge(presentation.credential(), &court, &mut list);
                if let Some(expected) = self.expected {
                    let presented = (presentation.as_ref(), issuer);
                    vc_jwt::judge_presentation(presented, expected, &court, &mut list);
                }
                list.conclude(Some(presentation.credential().credential()))
            }
        }
    }
}

/// Reads a text. The result depends on the text, its format, whether it is to be a presentation, and the budget alone.
fn read(presented: &Presented<'_>, budget: &mut Budget) -> Result<Subject, Malformed> {
    let raw = presented.raw;
    Ok(match (Model::of(presented.format), presented.expected) {
        (None, _) => {
            let sd_jwt = SdJwt::parse_within(raw, budget).map_err(sd_jwt::malformed)?;
            let processed = sd_jwt.process().map(Arc::new);
            Subject::SdJwt {
                sd_jwt: Arc::new(sd_jwt),
                processed,
            }
        }
        (Some(model), None) => {
            let credential = VcJwt::parse_within(raw, model, budget).map_err(vc_jwt::malformed)?;
            // RFC 9901 §4: the last tilde is part of an SD-JWT. One that lost it looks like another JWT.
            if credential.jwt().header.is_of_type(vc::TYP) {
                return Err(sd_jwt::malformed(SdJwtError::Form));
            }
            Subject::Credential(Arc::new(credential))
        }
        (Some(model), Some(_)) => {
            let presentation = VpJwt::parse_within(raw, model, budget);
            Subject::Presentation(Box::new(presentation.map_err(vc_jwt::malformed)?))
        }
    })
}

fn too_much(format: Format) -> Malformed {
    match Model::of(format) {
        None => sd_jwt::malformed(SdJwtError::TooMuch),
        Some(_) => vc_jwt::malformed(VcJwtError::TooMuch),
    }
}

impl Malformed {
    /// The same as a verdict.
    pub fn verdict(&self) -> Verdict {
        let mut list = Checklist::new(&[]);
        list.fails(self.law, self.detail.to_string());
        list.conclude(None).0
    }
}

#[cfg(test)]
mod tests;
