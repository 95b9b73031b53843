//! Verification of a read: each rule with its result and the paragraph it is based on.

use selfsame_crypto::time::UnixTime;

use super::fork::contradict;
use super::{Bundle, MAX_HANDOVERS, TrustRoot};
use crate::ProofError;
use crate::checkpoint::{Agreed, Standing};
use crate::note::{SignedNote, VerifierKey};
use crate::tree;

/// A read's key, policy and time.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The requested key: the answer must be for this key.
    pub key: &'a [u8],
    /// Requirements on the answer beyond being genuine.
    pub policy: &'a ReadPolicy,
    /// The reader's clock.
    pub now: UnixTime,
}

/// A reader's requirements on a read beyond being genuine.
#[derive(Clone, Debug)]
pub struct ReadPolicy {
    /// Maximum age of the checkpoint in seconds; `None` for objects that never change.
    pub max_age: Option<u64>,
    /// Maximum difference between clocks, in seconds.
    pub skew: u64,
    /// A checkpoint of a lower height than the newest one seen must be less than this many seconds behind it: 0 if the
    /// reader needs the present state, a little more if the answer was fetched ahead of the question.
    pub behind: u64,
    /// The accepted witnesses.
    pub witnesses: Vec<VerifierKey>,
    /// The number of accepted witnesses that must have signed.
    pub witnesses_needed: usize,
}

impl ReadPolicy {
    /// Requires only that the read is genuine: of any age, without witnesses, with clocks that differ by up to `skew`
    /// seconds.
    pub fn genuine(skew: u64) -> Self {
        Self {
            max_age: None,
            skew,
            behind: 0,
            witnesses: Vec::new(),
            witnesses_needed: 0,
        }
    }
}

/// The conclusion, in ascending order of severity.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ReadOutcome {
    /// Every rule that applies holds.
    Verified,
    /// Genuine, but too old, from the future, or older than what was seen before.
    Untimely,
    /// Not signed by enough trusted keys; a handover or a witness may be missing.
    Untrusted,
    /// Forged or tampered with: the sender or the signers lie.
    Forged,
}

/// A rule, its result, and the paragraph it is based on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReadRule {
    /// The rule's name, in snake case.
    pub name: &'static str,
    /// Whether the rule holds; `None` if it does not apply or could not be checked.
    pub passed: Option<bool>,
    /// What was found, without any value.
    pub detail: String,
    /// The paragraph of the specification, or the heading in docs/registry.md.
    pub paragraph: &'static str,
}

/// The report on a read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ReadReport {
    /// The conclusion.
    pub outcome: ReadOutcome,
    /// Every rule, in the order of checking.
    pub rules: Vec<ReadRule>,
    /// The standing for which the answer is valid, if validators signed it.
    pub as_of: Option<Standing>,
    /// The validators that signed the checkpoint, by name.
    pub signers: Vec<String>,
    /// The witnesses of the policy that signed the checkpoint, by name, with the time.
    pub witnesses: Vec<(String, UnixTime)>,
    /// The reader's new trust root; `None` unless the read is verified.
    pub trust: Option<TrustRoot>,
    /// The trust root for another request, if the answer is full of changes of validators and the last set did not sign
    /// it, because more changes follow. It says nothing about the answer.
    pub leads_to: Option<TrustRoot>,
}

const HANDOVER: &str = "docs/registry.md, Changes of validators";
const SIGNED: &str = "docs/registry.md, Who signs; C2SP signed-note, Signatures";
const NETWORK: &str = "C2SP tlog-checkpoint, Note text";
const VALUE: &str = "docs/registry.md, The state; ICS-023";
const TIMES: &str = "docs/registry.md, As of when";
const WITNESS: &str = "C2SP tlog-cosignature, Format";

/// A verified checkpoint, whose signatures need not be verified again for each read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct VerifiedCheckpoint {
    /// The note, including its signatures.
    pub note: String,
    /// The agreed content.
    pub agreed: Agreed,
}

/// Judges a read by the reader's trust root and its question.
pub fn judge(bundle: &Bundle, question: &Question<'_>, trust: &TrustRoot) -> ReadReport {
    judge_with(bundle, question, trust, None)
}

/// Judges a read as [`judge`] does. `known` is a checkpoint verified before with `trust`.
pub(crate) fn judge_with(
    bundle: &Bundle,
    question: &Question<'_>,
    trust: &TrustRoot,
    known: Option<&VerifiedCheckpoint>,
) -> ReadReport {
    // The known checkpoint cannot be used if the bundle leads to validators other than those that verified it.
    let stands = |known: &&VerifiedCheckpoint| {
        let mut handovers = bundle.handovers.iter();
        known.note == bundle.note
            && known.agreed.standing.height >= trust.from_height
            && handovers.all(|handover| trust.is_past(handover))
    };
    let mut judge = Judge {
        policy: question.policy,
        now: question.now,
        known: known.filter(stands),
        report: ReadReport {
            outcome: ReadOutcome::Verified,
            rules: Vec::new(),
            as_of: None,
            signers: Vec::new(),
            witnesses: Vec::new(),
            trust: None,
            leads_to: None,
        },
    };
    let asked = match bundle.key == question.key {
        true => Ok("the answer is of the key asked for".to_owned()),
        false => Err(Broken(
            ReadOutcome::Forged,
            "the answer is of another key".to_owned(),
        )),
    };
    judge.rule("key", VALUE, asked);
    judge.all(bundle, trust);
    judge.report
}

struct Judge<'a> {
    policy: &'a ReadPolicy,
    now: UnixTime,
    known: Option<&'a VerifiedCheckpoint>,
    report: ReadReport,
}

/// The consequence of a broken rule.
struct Broken(ReadOutcome, String);

type JudgedRead = Result<String, Broken>;

impl Judge<'_> {
    fn all(&mut self, bundle: &Bundle, trust: &TrustRoot) {
        let Some(trust) = self.handovers(bundle, trust) else {
            return;
        };
        let Some(Agreed { standing, signers }) = self.signed(bundle, &trust) else {
            let full = bundle.handovers.len() >= MAX_HANDOVERS;
            if full && self.report.outcome == ReadOutcome::Untrusted {
                self.report.leads_to = Some(trust);
            }
            return;
        };
        self.report.as_of = Some(standing);
        self.report.signers = signers;
        let value = bundle.value.as_deref();
        let proven = tree::verify(&standing.state, &bundle.key, value, &bundle.proof);
        let seen = match value {
            Some(_) => "the object is in the state",
            None => "no object is in the state",
        };
        self.rule("value", VALUE, broken(proven).map(|()| seen.to_owned()));
        self.times(&standing, trust.seen.as_ref());
        self.witnesses(bundle);
        if self.report.outcome == ReadOutcome::Verified {
            let newest = trust.seen.filter(|seen| seen.height > standing.height);
            self.report.trust = Some(TrustRoot {
                seen: Some(newest.unwrap_or(standing)),
                ..trust
            });
        }
    }

    /// Checks every change of validators, in order.
    fn handovers(&mut self, bundle: &Bundle, trust: &TrustRoot) -> Option<TrustRoot> {
        let mut trust = trust.clone();
        for handover in &bundle.handovers {
            // Skipped, so that one bundle serves readers with any of the trust roots it passes.
            if trust.is_past(handover) {
                self.skipped("handover", HANDOVER, "what it leads to is known");
                continue;
            }
            let next = trust.after(handover);
            let judged = broken(next.as_ref().map_err(Clone::clone).map(|next| {
                let (from, count) = (next.from_height, next.set.validators().len());
                format!("from height {from} on {count} validators judge")
            }));
            self.rule("handover", HANDOVER, judged);
            trust = next.ok()?;
        }
        Some(trust)
    }

    /// The checkpoint, if it belongs to the network and a quorum of its validators signed it.
    fn signed(&mut self, bundle: &Bundle, trust: &TrustRoot) -> Option<Agreed> {
        // The first line of a checkpoint is its origin.
        let origin = bundle.note.lines().next();
        let network = match origin == Some(trust.origin.as_str()) {
            true => Ok("the checkpoint is of the network".to_owned()),
            false => Err(Broken(
                ReadOutcome::Forged,
                "the checkpoint is of another network".to_owned(),
            )),
        };
        self.rule("network", NETWORK, network);
        let agreed = match self.known {
            Some(known) => Ok(known.agreed.clone()),
            None => SignedNote::parse(&bundle.note).and_then(|note| trust.agreed(&note)),
        };
        let judged = broken(agreed.as_ref().map_err(Clone::clone).map(|agreed| {
            let (signed, all) = (agreed.signers.len(), trust.set.validators().len());
            format!("{signed} of {all} validators signed, with more than two thirds of the power")
        }));
        self.rule("quorum", SIGNED, judged);
        agreed.ok()
    }

    fn times(&mut self, standing: &Standing, seen: Option<&Standing>) {
        let age = self.now.0.saturating_sub(standing.time.0);
        let max_age = self.policy.max_age;
        let detail = format!("the checkpoint is {age} s old");
        let recent = untimely(max_age.is_none_or(|most| age <= most), detail);
        self.rule("age", TIMES, recent);

        let latest = self.now.0.saturating_add(self.policy.skew);
        let ahead = standing.time.0.saturating_sub(self.now.0);
        let detail = format!("the checkpoint is {ahead} s ahead of the reader's clock");
        self.rule("future", TIMES, untimely(standing.time.0 <= latest, detail));

        let Some(seen) = seen else {
            return self.skipped("rollback", TIMES, "no checkpoint was seen before");
        };
        let detail = format!("the newest checkpoint seen is of height {}", seen.height);
        let behind = seen.time.0.saturating_sub(standing.time.0);
        let not_older = standing.height >= seen.height || behind < self.policy.behind;
        self.rule("rollback", TIMES, untimely(not_older, detail));
        let (old, new) = match (seen.size, seen.height) <= (standing.size, standing.height) {
            true => (seen, standing),
            false => (standing, seen),
        };
        let one_history = match contradict(old, new) {
            false => Ok("it does not contradict the newest checkpoint seen".to_owned()),
            true => Err(Broken(
                ReadOutcome::Forged,
                "it contradicts the newest checkpoint seen: two histories are signed".to_owned(),
            )),
        };
        self.rule("fork", TIMES, one_history);
    }

    fn witnesses(&mut self, bundle: &Bundle) {
        let policy = self.policy;
        if policy.witnesses.is_empty() && policy.witnesses_needed == 0 {
            return self.skipped("witnesses", WITNESS, "no witness is asked for");
        }
        let latest = UnixTime(self.now.0.saturating_add(policy.skew));
        let note = SignedNote::parse(&bundle.note);
        let cosigners = note.and_then(|note| note.cosigners(&policy.witnesses, latest));
        let judged = match cosigners {
            Err(error) => broken(Err(error)),
            Ok(cosigners) => {
                let named = cosigners.into_iter();
                let named = named.map(|(key, time)| (key.name().to_owned(), time));
                self.report.witnesses = named.collect();
                let (signed, needed) = (self.report.witnesses.len(), policy.witnesses_needed);
                let detail = format!("{signed} witnesses signed, {needed} are needed");
                match signed >= needed {
                    true => Ok(detail),
                    false => Err(Broken(ReadOutcome::Untrusted, detail)),
                }
            }
        };
        self.rule("witnesses", WITNESS, judged);
    }

    fn rule(&mut self, name: &'static str, paragraph: &'static str, judged: JudgedRead) {
        let (passed, detail) = match judged {
            Ok(detail) => (true, detail),
            Err(Broken(outcome, detail)) => {
                self.report.outcome = self.report.outcome.max(outcome);
                (false, detail)
            }
        };
        self.report.rules.push(ReadRule {
            name,
            passed: Some(passed),
            detail,
            paragraph,
        });
    }

    fn skipped(&mut self, name: &'static str, paragraph: &'static str, why: &str) {
        self.report.rules.push(ReadRule {
            name,
            passed: None,
            detail: why.to_owned(),
            paragraph,
        });
    }
}

impl ReadReport {
    /// Adds the rule that a newer state with another value is known.
    pub(crate) fn overtaken(&mut self) {
        self.outcome = self.outcome.max(ReadOutcome::Untimely);
        self.trust = None;
        self.rules.push(ReadRule {
            name: "overtaken",
            passed: Some(false),
            detail: "the object has changed since".to_owned(),
            paragraph: TIMES,
        });
    }

    /// Whether every rule that applies holds.
    pub fn is_verified(&self) -> bool {
        self.outcome == ReadOutcome::Verified
    }
}

fn broken<T>(result: Result<T, ProofError>) -> Result<T, Broken> {
    result.map_err(|error| {
        let outcome = match error {
            ProofError::Untrusted | ProofError::Early => ReadOutcome::Untrusted,
            _ => ReadOutcome::Forged,
        };
        Broken(outcome, error.to_string())
    })
}

fn untimely(holds: bool, detail: String) -> JudgedRead {
    match holds {
        true => Ok(detail),
        false => Err(Broken(ReadOutcome::Untimely, detail)),
    }
}
