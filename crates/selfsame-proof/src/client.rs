//! A reader's memory: what it trusts, the objects it has verified, and as of when they hold.

use std::collections::HashMap;
use std::sync::Arc;

use selfsame_crypto::time::UnixTime;

use crate::checkpoint::{Agreed, Standing};
use crate::read::{Bundle, Known, Policy, Question, Report, TrustRoot, judge_with};

/// Reads a registry without trusting the node that answers. It keeps no more than it is told to.
#[derive(Debug)]
pub struct Client {
    trust: TrustRoot,
    policy: Policy,
    known: Option<Known>,
    /// Two generations: the older is forgotten when the younger is full.
    young: HashMap<Vec<u8>, Object>,
    old: HashMap<Vec<u8>, Object>,
    bytes: usize,
    max_bytes: usize,
}

/// How long an object that was verified once may be used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lasting {
    /// It never changes once it is there.
    Forever,
    /// It may change: the checkpoint it is known by is at most so many seconds old.
    Within(u64),
}

/// An object and as of when it holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    /// The object; none where there is none.
    pub value: Option<Arc<[u8]>>,
    /// The newest checkpoint for which it is known to hold.
    pub as_of: Standing,
}

#[derive(Debug)]
struct Object {
    value: Option<Arc<[u8]>>,
    as_of: Standing,
}

impl Client {
    /// A client that begins with this trust, asks this of each read (the age apart, which each read states), and
    /// remembers objects of so many bytes.
    pub fn new(trust: TrustRoot, policy: Policy, max_bytes: usize) -> Self {
        Self {
            trust,
            policy,
            known: None,
            young: HashMap::new(),
            old: HashMap::new(),
            bytes: 0,
            max_bytes,
        }
    }

    /// What it trusts now; to be kept, so that the next start goes on from here.
    pub fn trust(&self) -> &TrustRoot {
        &self.trust
    }

    /// The object under a key, if it was verified and is recent enough; else it is to be fetched.
    pub fn get(&self, key: &[u8], lasting: Lasting, now: UnixTime) -> Option<Found> {
        let object = self.young.get(key).or_else(|| self.old.get(key))?;
        let as_of = self.holds_since(object);
        let usable = match lasting {
            Lasting::Forever if object.value.is_some() => true,
            Lasting::Forever => false,
            Lasting::Within(seconds) => now.0.saturating_sub(as_of.time.0) <= seconds,
        };
        usable.then(|| Found {
            value: object.value.clone(),
            as_of,
        })
    }

    /// Judges the answer to what was asked for and, if it is verified, remembers it.
    pub fn accept(
        &mut self,
        key: &[u8],
        bundle: &Bundle,
        (lasting, now): (Lasting, UnixTime),
    ) -> Report {
        let policy = Policy {
            max_age: match lasting {
                Lasting::Forever if bundle.value.is_some() => None,
                Lasting::Forever => self.policy.max_age,
                Lasting::Within(seconds) => Some(seconds),
            },
            ..self.policy.clone()
        };
        let policy = &policy;
        let question = Question { key, policy, now };
        let report = judge_with((bundle, self.known.as_ref()), &question, &self.trust);
        if let (Some(trust), Some(as_of)) = (&report.trust, report.as_of) {
            self.trust = trust.clone();
            if self
                .known
                .as_ref()
                .is_none_or(|known| known.note != bundle.note)
            {
                self.known = Some(Known {
                    note: bundle.note.clone(),
                    agreed: Agreed {
                        standing: as_of,
                        signers: report.signers.clone(),
                    },
                });
            }
            self.remember(bundle, as_of);
        }
        report
    }

    /// An object under the root of the newest state holds as long as that root does.
    fn holds_since(&self, object: &Object) -> Standing {
        match self.trust.seen {
            Some(seen) if seen.state == object.as_of.state && seen.time > object.as_of.time => seen,
            _ => object.as_of,
        }
    }

    fn remember(&mut self, bundle: &Bundle, as_of: Standing) {
        let value = bundle.value.as_deref().map(Arc::from);
        let size = bundle
            .key
            .len()
            .saturating_add(value.as_ref().map_or(0, |v: &Arc<[u8]>| v.len()));
        self.bytes = self.bytes.saturating_add(size);
        if self.bytes > self.max_bytes / 2 {
            self.old = std::mem::take(&mut self.young);
            self.bytes = size;
        }
        self.young
            .insert(bundle.key.clone(), Object { value, as_of });
    }
}

#[cfg(test)]
mod tests;
