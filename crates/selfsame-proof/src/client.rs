//! The state of a reader: its trust root, the verified objects, and the checkpoints they are proven by.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use selfsame_crypto::time::UnixTime;

use crate::checkpoint::{Agreed, Standing};
use crate::read::{
    Bundle, Question, ReadOutcome, ReadPolicy, ReadReport, TrustRoot, VerifiedCheckpoint,
    judge_with,
};
use crate::tree::{self, Proof};

/// The number of verified checkpoints that are remembered.
const KNOWN_MAX: usize = 32;

/// Reads a registry without trusting the node that answers. Memory is limited to the configured size.
#[derive(Debug)]
pub struct Client {
    trust: TrustRoot,
    policy: ReadPolicy,
    /// Newest first.
    known: VecDeque<VerifiedCheckpoint>,
    /// The newest checkpoint seen, with its note.
    newest: Option<(Standing, String)>,
    /// Verified objects in two generations: the older is dropped when the younger is full.
    young: HashMap<Vec<u8>, Remembered>,
    old: HashMap<Vec<u8>, Remembered>,
    bytes: usize,
    max_bytes: usize,
}

/// How long a verified object may be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lasting {
    /// The object never changes once it exists.
    Forever,
    /// The object may change: its checkpoint may be at most this many seconds old.
    Within(u64),
}

/// The requirements on an answer that another party received and passes on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Handed {
    /// The maximum age of its checkpoint, in seconds.
    pub max_age: u64,
    /// How far its checkpoint may be behind the newest one seen, in seconds.
    pub behind: u64,
}

/// An object and the checkpoint for which it is valid.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ProvenObject {
    /// The object; `None` if it is proven absent.
    pub value: Option<Arc<[u8]>>,
    /// The newest checkpoint for which it is known to be valid.
    pub as_of: Standing,
}

/// An object of a state, or its absence, with the proof.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    /// The object's key.
    pub key: &'a [u8],
    /// The object; `None` for absence.
    pub value: Option<&'a [u8]>,
    /// The proof.
    pub proof: &'a Proof,
}

#[derive(Debug)]
struct Remembered {
    value: Option<Arc<[u8]>>,
    as_of: Standing,
}

impl Client {
    /// A client with this trust root. `policy` applies to each read, except for the age, which each read states.
    /// Remembers objects of up to `max_bytes` bytes.
    pub fn new(trust: TrustRoot, policy: ReadPolicy, max_bytes: usize) -> Self {
        Self {
            trust,
            policy,
            known: VecDeque::new(),
            newest: None,
            young: HashMap::new(),
            old: HashMap::new(),
            bytes: 0,
            max_bytes,
        }
    }

    /// Sets the note of the newest checkpoint seen, if it was stored with the trust root.
    #[must_use]
    pub fn with_note(mut self, note: String) -> Self {
        self.newest = self.trust.seen.map(|seen| (seen, note));
        self
    }

    /// The newest checkpoint seen, with its note.
    pub fn newest(&self) -> Option<&(Standing, String)> {
        self.newest.as_ref()
    }

    /// The present trust root. Store it to continue from here at the next start.
    pub fn trust(&self) -> &TrustRoot {
        &self.trust
    }

    /// The object under a key, if it has been verified and is recent enough; otherwise the caller must fetch it.
    pub fn get(&self, key: &[u8], lasting: Lasting, now: UnixTime) -> Option<ProvenObject> {
        let object = self.object(key)?;
        let as_of = self.holds_since(object);
        let usable = match lasting {
            Lasting::Forever if object.value.is_some() => true,
            Lasting::Forever => false,
            Lasting::Within(seconds) => now.0.saturating_sub(as_of.time.0) <= seconds,
        };
        usable.then(|| ProvenObject {
            value: object.value.clone(),
            as_of,
        })
    }

    /// Judges the answer to a read and, if it is verified, remembers the object.
    pub fn accept(
        &mut self,
        key: &[u8],
        bundle: &Bundle,
        lasting: Lasting,
        now: UnixTime,
    ) -> ReadReport {
        let policy = ReadPolicy {
            max_age: match lasting {
                Lasting::Forever if bundle.value.is_some() => None,
                Lasting::Forever => self.policy.max_age,
                Lasting::Within(seconds) => Some(seconds),
            },
            ..self.policy.clone()
        };
        self.judge(
            bundle,
            &Question {
                key,
                policy: &policy,
                now,
            },
        )
    }

    /// Judges a read that another party made before and passes on, and remembers the object if it is verified. Its
    /// checkpoint may be as old, and as far behind the newest one seen, as `Handed` allows. An object known to have
    /// changed since is refused.
    pub fn accept_handed(
        &mut self,
        key: &[u8],
        bundle: &Bundle,
        handed: Handed,
        now: UnixTime,
    ) -> ReadReport {
        let policy = ReadPolicy {
            max_age: Some(handed.max_age),
            behind: handed.behind,
            ..self.policy.clone()
        };
        self.judge(
            bundle,
            &Question {
                key,
                policy: &policy,
                now,
            },
        )
    }

    /// Judges several reads of one checkpoint that another party made before and passes on, each as in
    /// [`Self::accept_handed`]. The checkpoint is judged with the first read; of the others only the proofs are.
    ///
    /// # Errors
    /// The report of the first read that is not verified. Reads before it are remembered.
    pub fn accept_all_handed(
        &mut self,
        first: &Bundle,
        further: &[Object<'_>],
        handed: Handed,
        now: UnixTime,
    ) -> Result<Standing, ReadOutcome> {
        let report = self.accept_handed(&first.key, first, handed, now);
        let as_of = match (report.outcome, report.as_of) {
            (ReadOutcome::Verified, Some(as_of)) => as_of,
            (ReadOutcome::Verified, None) => return Err(ReadOutcome::Forged),
            (outcome, _) => return Err(outcome),
        };
        self.accept_further(further, as_of)?;
        Ok(as_of)
    }

    /// Judges further objects of a verified state, and remembers them.
    ///
    /// # Errors
    /// The error of the first object whose proof is invalid. Objects before it are remembered.
    pub fn accept_further(
        &mut self,
        further: &[Object<'_>],
        as_of: Standing,
    ) -> Result<(), ReadOutcome> {
        for object in further {
            let proven = tree::verify(&as_of.state, object.key, object.value, object.proof);
            proven.map_err(|_| ReadOutcome::Forged)?;
            if self.is_overtaken(object.key, object.value, &as_of) {
                return Err(ReadOutcome::Untimely);
            }
            self.remember(object.key, object.value, as_of);
        }
        Ok(())
    }

    fn judge(&mut self, bundle: &Bundle, question: &Question<'_>) -> ReadReport {
        let mut known = self.known.iter();
        let known = known.find(|known| known.note == bundle.note);
        let is_known = known.is_some();
        let mut report = judge_with(bundle, question, &self.trust, known);
        let (Some(trust), Some(as_of)) = (&report.trust, report.as_of) else {
            if let Some(next) = self.further(&report) {
                self.known.clear();
                self.trust = next;
            }
            return report;
        };
        let value = bundle.value.as_deref();
        if self.is_overtaken(&bundle.key, value, &as_of) {
            report.overtaken();
            return report;
        }
        // Checkpoints signed by other validators must be verified anew.
        if trust.from_height != self.trust.from_height {
            self.known.clear();
        }
        self.trust = trust.clone();
        let is_newest = |(seen, _): &(Standing, String)| seen.height <= as_of.height;
        if self.newest.as_ref().is_none_or(is_newest) {
            self.newest = Some((as_of, bundle.note.clone()));
        }
        if !is_known {
            self.known.truncate(KNOWN_MAX - 1);
            self.known.push_front(VerifiedCheckpoint {
                note: bundle.note.clone(),
                agreed: Agreed {
                    standing: as_of,
                    signers: report.signers.clone(),
                },
            });
        }
        self.remember(&bundle.key, value, as_of);
        report
    }

    /// The trust root for the next request, if the answer could not hold all changes of validators.
    fn further(&self, report: &ReadReport) -> Option<TrustRoot> {
        let next = report.leads_to.clone()?;
        (next.from_height > self.trust.from_height).then_some(next)
    }

    fn object(&self, key: &[u8]) -> Option<&Remembered> {
        self.young.get(key).or_else(|| self.old.get(key))
    }

    /// Whether a newer state with another value of this object is known.
    fn is_overtaken(&self, key: &[u8], value: Option<&[u8]>, as_of: &Standing) -> bool {
        self.object(key).is_some_and(|object| {
            object.as_of.height > as_of.height && object.value.as_deref() != value
        })
    }

    /// An object proven under the newest state root is valid as long as that root is.
    fn holds_since(&self, object: &Remembered) -> Standing {
        match self.trust.seen {
            Some(seen) if seen.state == object.as_of.state && seen.time > object.as_of.time => seen,
            _ => object.as_of,
        }
    }

    fn remember(&mut self, key: &[u8], value: Option<&[u8]>, as_of: Standing) {
        let known = self.object(key);
        if known.is_some_and(|object| object.as_of.height > as_of.height) {
            return;
        }
        let value = value.map(Arc::from);
        let size = key
            .len()
            .saturating_add(value.as_ref().map_or(0, |v: &Arc<[u8]>| v.len()));
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > self.max_bytes / 2 {
            self.old = std::mem::take(&mut self.young);
            self.bytes = size;
        }
        self.young.insert(key.to_vec(), Remembered { value, as_of });
    }
}

#[cfg(test)]
mod tests;
