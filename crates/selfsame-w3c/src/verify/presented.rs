//! Verifies a presentation: who made it, for whom and as an answer to what, and each of its credentials.

use std::sync::Arc;

use selfsame_core::gather::Freshness;
use selfsame_credential::Need;
use selfsame_credential::evidence::{Evidence, Step};
use selfsame_crypto::hash::ct_eq;
use selfsame_crypto::time::UnixTime;
use selfsame_data_integrity::vc::{KnownMethod, VcCourt, VcRequest, id_of, judge_presentation};
use selfsame_data_integrity::{Contexts, ExpectedProof, IntegrityProof, ProofPurpose, Secured};
use selfsame_did::{Did, DidUrl, Relationship};
use selfsame_driver::Error;
use selfsame_openid::view::verifier::{CredentialVerdict, RuleLine};
use serde_json::{Map, Value};

use crate::challenge::ChallengeFinding;
use crate::check::{CheckedValue, PresentationCheck, PresentationFindings, problems};
use crate::problem::{VcProblem, W3cError, code};
use crate::{W3cDesk, document};

use super::given::GivenPresentation;

/// The tolerated difference of clocks, in seconds.
const LEEWAY: u64 = 60;

/// What a presentation must answer.
#[derive(Clone, Debug)]
pub struct PresentationDemand {
    /// The challenge. One that was made here counts once.
    pub challenge: String,
    /// For whom it must be; `None` if that does not matter.
    pub domain: Option<String>,
}

impl W3cDesk {
    /// Verifies a presentation and its credentials. Without a demand, one that nobody has signed: then nothing is said of
    /// who presents it.
    ///
    /// # Errors
    /// As [`Self::verify_credential`]; `Refused` for a demand without a signature, and the other way round.
    pub async fn verify_presentation(
        &self,
        given: &GivenPresentation,
        demand: Option<&PresentationDemand>,
    ) -> Result<PresentationCheck, W3cError> {
        let mut check = match (given.is_proven, demand) {
            (true, Some(demand)) => self.judged(given, demand).await?,
            (false, None) => unsigned(given),
            (true, None) => {
                let detail = "a presentation with a proof needs the option `challenge`";
                return Err(VcProblem::malformed(detail).into());
            }
            (false, Some(_)) => {
                let detail =
                    "a presentation without a proof answers no challenge: leave `challenge` out";
                return Err(VcProblem::malformed(detail).into());
            }
        };
        for credential in &given.credentials {
            check
                .credentials
                .push(self.verify_credential(credential).await?);
        }
        check.verified = check.problems.is_empty()
            && check
                .credentials
                .iter()
                .all(|credential| credential.verified);
        if let Some(demand) = demand.filter(|_| check.verified) {
            self.answered(demand, &mut check).await?;
        }
        Ok(check)
    }

    /// Judges the presentation itself.
    async fn judged(
        &self,
        given: &GivenPresentation,
        demand: &PresentationDemand,
    ) -> Result<PresentationCheck, W3cError> {
        let mut check = unsigned(given);
        let secured = match Secured::of(given.value.clone()) {
            Ok(secured) => secured,
            Err(error) => {
                check.problems.push(VcProblem::from(&error));
                return Ok(check);
            }
        };
        let now = self.shared.clock.now();
        // Datasets can be made that are hard to put into canonical form.
        let judging = Arc::new(JudgedMaker {
            maker: maker(&secured),
            document: given.value.clone(),
            secured,
            demand: demand.clone(),
            now,
        });
        let tenant = &self.roles.organisation.verifier;
        let freshness = Freshness { max_status_age: 0 };
        let judge = judging.clone();
        let step = move |evidence: &Evidence| Ok::<_, Error>(judge.step(evidence));
        let judged = self.shared.run_apart(tenant, freshness, step).await?;
        let secured = &judging.secured;
        let rules = judged.verdict.rules;
        let holds = |name: &str| {
            let rule = rules.iter().find(|rule| rule.name == name);
            rule.is_some_and(|rule| rule.passed == Some(true))
        };
        let is_signed = holds("proof_key") && holds("proof");
        // Other proofs do not count: anybody can add one.
        let own = judged.own.and_then(|at| secured.proofs().get(at));
        let signed = own.filter(|_| is_signed);
        let findings = &mut check.findings;
        let challenge = demand.challenge.as_str();
        let answers = signed.is_some_and(|proof| proof.challenge.as_deref() == Some(challenge));
        findings.challenge = Some(CheckedValue::new(answers, challenge));
        findings.domain = demand.domain.as_deref().map(|domain| {
            let is_for = signed.is_some_and(|proof| proof.domain == [domain]);
            CheckedValue::new(is_for, domain)
        });
        if let Some(holder) = &mut findings.holder {
            holder.verified = is_signed;
        }
        let proofs = values(given.value.get("proof"));
        let proofs = proofs.iter().cloned();
        findings.proof = proofs
            .map(|one| CheckedValue::new(is_signed, one))
            .collect();
        let asked = own.and_then(|proof| asked(proof, demand, now));
        check.problems.extend(wrong(rules, asked));
        if let ChallengeFinding::Over = self.challenge_finding(challenge).await? {
            let detail = "the time to answer the challenge is over";
            check.problems.push(VcProblem::new(code::CHALLENGE, detail));
        }
        Ok(check)
    }

    /// Uses the challenge, if it was made here, once everything else is as it should be.
    async fn answered(
        &self,
        demand: &PresentationDemand,
        check: &mut PresentationCheck,
    ) -> Result<(), W3cError> {
        let ChallengeFinding::Open(until) = self.challenge_finding(&demand.challenge).await? else {
            return Ok(());
        };
        match self.use_challenge(&demand.challenge, until).await {
            Err(W3cError::Refused(problem)) => {
                check.verified = false;
                check.problems.push(problem);
                if let Some(challenge) = &mut check.findings.challenge {
                    challenge.verified = false;
                }
                Ok(())
            }
            other => other,
        }
    }
}

/// The check of a presentation of which only the members are known.
fn unsigned(given: &GivenPresentation) -> PresentationCheck {
    let empty = Map::new();
    let members = given.value.as_object().unwrap_or(&empty);
    let holder = members.get("holder").cloned();
    PresentationCheck {
        problems: document::presentation(members).err().into_iter().collect(),
        findings: PresentationFindings {
            holder: holder.map(|holder| CheckedValue::new(false, holder)),
            ..PresentationFindings::default()
        },
        ..PresentationCheck::default()
    }
}

/// A presentation that is judged.
struct JudgedMaker {
    document: Value,
    secured: Secured,
    demand: PresentationDemand,
    /// The only DID that is resolved, so that a presentation leads to one host at most.
    maker: Option<Did>,
    now: UnixTime,
}

/// What was found of a presentation itself.
struct JudgedPresentation {
    verdict: CredentialVerdict,
    /// The place of the proof that counts: the first by the maker, for authentication.
    own: Option<usize>,
}

impl JudgedMaker {
    fn step(&self, evidence: &Evidence) -> Step<JudgedPresentation> {
        if let Some(did) = self
            .maker
            .as_ref()
            .filter(|did| evidence.did(did).is_none())
        {
            return Step::Needs(vec![Need::Did(did.clone())]);
        }
        let methods = self.methods(evidence);
        let contexts = Contexts::known();
        let court = VcCourt {
            now: self.now,
            leeway: LEEWAY,
            contexts: &contexts,
            methods: &methods,
        };
        let request = VcRequest {
            challenge: &self.demand.challenge,
            domain: self.demand.domain.as_deref(),
        };
        let (verdict, _) = judge_presentation(&self.document, &request, &court);
        let counts = |proof: &IntegrityProof| {
            proof.purpose == ProofPurpose::Authentication.as_str()
                && methods.iter().any(|method| method.url == proof.method)
        };
        Step::Done(JudgedPresentation {
            verdict: CredentialVerdict::new("", &verdict, None),
            own: self.secured.proofs().iter().position(counts),
        })
    }

    /// The keys that the maker's document has for authentication.
    fn methods<'s>(&'s self, evidence: &Evidence) -> Vec<KnownMethod<'s>> {
        let known = |proof: &'s IntegrityProof| {
            let did = self.maker.as_ref()?;
            let url = DidUrl::parse(&proof.method)
                .ok()
                .filter(|url| url.did == *did)?;
            let resolution = evidence.did(did)?.value.as_ref().ok()?;
            let is_active = !resolution.document_metadata.deactivated;
            let document = resolution.document().ok().filter(|_| is_active)?;
            let is_own = document.id == *did;
            let key = document.key(&url, Relationship::Authentication).ok();
            Some(KnownMethod {
                url: &proof.method,
                controller: did.as_str(),
                purposes: &[ProofPurpose::Authentication],
                key: key.filter(|_| is_own)?,
            })
        };
        self.secured.proofs().iter().filter_map(known).collect()
    }
}

/// Who must have made a presentation: its holder, or without one the signer of its first proof.
fn maker(secured: &Secured) -> Option<Did> {
    let holder = secured.document().get("holder").and_then(id_of);
    let first = secured.proofs().first()?;
    let did = holder.or(first.method.split_once('#').map(|(did, _)| did))?;
    Did::parse(did).ok()
}

/// What the maker's proof has otherwise than it was asked for.
fn asked(proof: &IntegrityProof, demand: &PresentationDemand, now: UnixTime) -> Option<VcProblem> {
    let domain = demand.domain.as_deref().map(|domain| [domain]);
    let expected = ExpectedProof {
        purpose: ProofPurpose::Authentication,
        domain: domain.as_ref().map(<[&str; 1]>::as_slice),
        challenge: None,
        now,
        leeway: LEEWAY,
    };
    let answer = proof.challenge.as_deref().unwrap_or_default();
    match proof.check(&expected) {
        Err(error) => Some(VcProblem::from(&error)),
        Ok(()) if ct_eq(answer.as_bytes(), demand.challenge.as_bytes()) => None,
        Ok(()) => {
            let detail = "the proof answers another challenge";
            Some(VcProblem::new(code::CHALLENGE, detail))
        }
    }
}

/// What is wrong with a presentation: nothing if each rule holds, and at least one problem if one does not. Why the proof
/// is another than was asked for has a code of its own.
fn wrong(rules: Vec<RuleLine>, asked: Option<VcProblem>) -> Vec<VcProblem> {
    if rules.iter().all(|rule| rule.passed == Some(true)) {
        return Vec::new();
    }
    let is_other = |rule: &RuleLine| rule.name != "proof_asked";
    let (others, of_asked): (Vec<_>, Vec<_>) = rules.into_iter().partition(is_other);
    let mut found = problems(&others);
    found.extend(asked);
    if found.is_empty() {
        found = problems(&of_asked);
    }
    found
}

fn values(value: Option<&Value>) -> &[Value] {
    match value {
        None => &[],
        Some(Value::Array(several)) => several,
        Some(one) => std::slice::from_ref(one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &'static str, passed: Option<bool>) -> RuleLine {
        RuleLine {
            name: name.into(),
            passed,
            detail: "a detail".to_owned(),
            paragraph: "Data Integrity §4.4".into(),
        }
    }

    #[test]
    fn a_rule_that_does_not_hold_has_a_problem_whatever_the_reason() {
        let whole = || vec![rule("proof_key", Some(true)), rule("proof", Some(true))];
        let with = |one: RuleLine| [whole(), vec![one]].concat();
        let sound = wrong(with(rule("proof_asked", Some(true))), None);
        assert!(sound.is_empty());
        for passed in [Some(false), None] {
            let found = wrong(with(rule("proof_asked", passed)), None);
            assert_eq!(found[0].title(), "PROOF_VERIFICATION_ERROR");
        }
        let asked = VcProblem::new(code::CHALLENGE, "the proof answers another challenge");
        let found = wrong(with(rule("proof_asked", Some(false))), Some(asked.clone()));
        assert_eq!(found, [asked]);
        let found = wrong(with(rule("times", Some(false))), None);
        assert_eq!(found[0].title(), "MALFORMED_VALUE_ERROR");
    }
}
