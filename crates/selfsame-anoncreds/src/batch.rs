//! Work on threads of their own: many issuances or verifications at once, over all cores, in order and with
//! back-pressure; and safe primes found ahead.

mod stock;

pub use stock::SafePrimeStock;

use std::any::Any;
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use selfsame_crypto::ctx::Ctx;

use crate::Error;
use crate::format::{
    Credential, CredentialOffer, CredentialRequest, CredentialValues, Presentation,
    PresentationRequest, RevocationStatusList,
};
use crate::issuer::{Issuance, Issuer, Place, Registry};
use crate::verdict::Verdict;
use crate::verifier::{Evidence, Policy, verify_presentation};

/// Jobs that wait for each worker, the one at work included: enough that none idles, and no more.
const WAITING: usize = 4;

/// How many threads work. The thread that calls feeds them and takes what they have done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Workers(NonZeroUsize);

impl Workers {
    /// One for each core this process may use.
    pub fn all() -> Self {
        Self(thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }

    /// This many.
    pub const fn new(number: NonZeroUsize) -> Self {
        Self(number)
    }

    /// Does `work` on every job, hands the results to `done` in the order of the jobs, and returns when all are.
    ///
    /// Jobs are taken from their source only while there is room: at most four for each worker are between source and
    /// `done`, so memory stays bounded however many come, and a slow `done` slows the source down.
    ///
    /// # Panics
    /// As `work` does, once the jobs under way have ended.
    pub fn each<J: Send, R: Send>(
        self,
        jobs: impl IntoIterator<Item = J>,
        work: impl Fn(J) -> R + Sync,
        done: impl FnMut(R),
    ) {
        let (to_workers, from_source) = channel();
        let (to_caller, from_workers) = channel();
        let from_source = Mutex::new(from_source);
        thread::scope(|scope| {
            for _ in 0..self.0.get() {
                let to_caller = to_caller.clone();
                scope.spawn(|| labour(&from_source, to_caller, &work));
            }
            drop(to_caller);
            let room = self.0.get().saturating_mul(WAITING);
            pass(jobs.into_iter(), (to_workers, from_workers), (room, done));
        });
    }
}

/// One credential to issue.
#[derive(Clone, Debug)]
pub struct IssueJob {
    /// The offer the holder answered.
    pub offer: CredentialOffer,
    /// The holder's request.
    pub request: CredentialRequest,
    /// One value for each attribute of the schema.
    pub values: CredentialValues,
    /// The place in the registry, if the credential can be revoked.
    pub index: Option<u32>,
    /// Fresh randomness, for this credential alone.
    pub ctx: Ctx,
}

impl Workers {
    /// Issues credentials, and hands each to `done` in the order of the jobs; those with a place get it in `registry`,
    /// in the state of this list.
    pub fn issue_many(
        self,
        issuer: &Issuer,
        registry: Option<(Registry<'_>, &RevocationStatusList)>,
        jobs: impl IntoIterator<Item = IssueJob>,
        done: impl FnMut(Result<Credential, Error>),
    ) {
        let issue = |job: IssueJob| {
            let place = match (job.index, registry) {
                (None, _) => None,
                (Some(index), Some((registry, list))) => Some(Place {
                    registry,
                    list,
                    index,
                }),
                (Some(_), None) => return Err(Error::Registry("there is none to have a place in")),
            };
            let issuance = Issuance {
                offer: &job.offer,
                request: &job.request,
                values: &job.values,
                place,
            };
            issuer.create_credential(&issuance, &job.ctx)
        };
        self.each(jobs, issue, done);
    }

    /// Judges presentations, each made for the request beside it, and hands each verdict to `done` in their order.
    pub fn verify_many<P, R>(
        self,
        (evidence, policy): (&Evidence<'_>, &Policy),
        jobs: impl IntoIterator<Item = (P, R)>,
        done: impl FnMut(Verdict),
    ) where
        P: Borrow<Presentation> + Send,
        R: Borrow<PresentationRequest> + Send,
    {
        let judge = |(presentation, request): (P, R)| {
            verify_presentation(presentation.borrow(), request.borrow(), evidence, policy)
        };
        self.each(jobs, judge, done);
    }
}

type Done<R> = (u64, Result<R, Box<dyn Any + Send>>);

/// A worker: takes jobs until there are no more.
fn labour<J, R>(source: &Mutex<Receiver<(u64, J)>>, done: Sender<Done<R>>, work: &impl Fn(J) -> R) {
    loop {
        let next = source.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, job)) = next else { return };
        let result = catch_unwind(AssertUnwindSafe(|| work(job)));
        let panicked = result.is_err();
        if done.send((number, result)).is_err() || panicked {
            return;
        }
    }
}

/// Feeds the workers, and hands on what they have done in order.
fn pass<J, R>(
    mut jobs: impl Iterator<Item = J>,
    (to_workers, from_workers): (Sender<(u64, J)>, Receiver<Done<R>>),
    (room, mut done): (usize, impl FnMut(R)),
) {
    let mut numbers = 0_u64..;
    let mut next = 0_u64;
    let mut under_way = 0_usize;
    let mut early = BTreeMap::new();
    loop {
        while under_way < room {
            let Some(job) = jobs.next() else { break };
            let Some(number) = numbers.next() else { break };
            if to_workers.send((number, job)).is_err() {
                break;
            }
            under_way = under_way.saturating_add(1);
        }
        if under_way == 0 {
            return;
        }
        let Ok((number, result)) = from_workers.recv() else {
            return;
        };
        match result {
            Ok(result) => early.insert(number, result),
            // Leaving drops the jobs' channel, so that the other workers end and the scope can.
            Err(panic) => {
                drop(to_workers);
                resume_unwind(panic)
            }
        };
        while let Some(result) = early.remove(&next) {
            next = next.saturating_add(1);
            under_way = under_way.saturating_sub(1);
            done(result);
        }
    }
}

#[cfg(test)]
mod tests;
