//! The outbox: calls that must not be repeated carelessly. Each is stored with the state that asks for it, and carried
//! out until the step that its answer leads to is stored too.

use std::sync::{Arc, Weak};
use std::time::Duration;

use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Committed, Leased, StoreError};
use selfsame_traces::{Attribute, SpanEnd};

use super::call::CallEntry;
use crate::shared::{Correspondent, Shared};

/// Attempts after which a call is given up and shown to the operator.
const ATTEMPTS_MAX: u32 = 12;
/// Pauses before storing an answer again while the store is busy, in milliseconds.
const PATIENCE_MS: [u64; 4] = [20, 100, 400, 1_000];

impl Shared {
    /// Carries out an entry whose lease the caller holds, and puts it off after an error. Does nothing if another
    /// process carries it out.
    pub async fn perform(self: &Arc<Self>, leased: &Leased) {
        match self.store.hold(leased).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => return tracing::warn!(%error, "a call waits: the store can't give it"),
        }
        let entry = CallEntry::read(leased);
        let trace = entry.as_ref().ok().and_then(|entry| entry.trace);
        match entry.and_then(|entry| self.correspondent(&entry)) {
            Ok(machine) => {
                let span = selfsame_traces::resumed(trace, "outbox delivery")
                    .with(|| Attribute::Machine(machine.name()))
                    .with(|| Attribute::Attempts(leased.attempts));
                let carrying = machine.clone().carry_out(self, leased);
                if let Err(error) = span.watch(carrying, SpanEnd::of).await {
                    self.put_off(leased, &error, Some(&*machine)).await;
                }
            }
            // The entry is from another version, or for a role that this instance does not have.
            Err(error) => self.put_off(leased, &error, None).await,
        }
    }

    fn correspondent(&self, entry: &CallEntry) -> Result<Arc<dyn Correspondent>> {
        let known = self.correspondents.get().into_iter().flatten();
        let mut known = known.filter_map(Weak::upgrade);
        let found = known.find(|one| one.name() == entry.machine);
        found.ok_or_else(|| {
            let name = &entry.machine;
            Error::internal(format!("this instance has no machine `{name}`"))
        })
    }

    /// Puts an entry off after an error, or gives it up and tells the machine that waits for it why. The lease must be
    /// held until this is done, so that the entry is not carried out a second time meanwhile.
    pub(super) async fn put_off(
        &self,
        leased: &Leased,
        error: &Error,
        machine: Option<&dyn Correspondent>,
    ) {
        let (id, attempts) = (leased.id.0, leased.attempts);
        let is_final = CallEntry::read(leased).is_ok_and(|entry| entry.is_final(error));
        let batch = if attempts < ATTEMPTS_MAX && !is_final {
            tracing::warn!(entry = id, attempts, %error, "a call failed and will be tried again");
            Ok(self.later(leased, 1 << attempts.min(10)))
        } else {
            tracing::error!(entry = id, %error, "a call was given up");
            match machine {
                Some(machine) => machine.given_up(self, leased, error).await,
                None => Ok(buried(leased, error)),
            }
        };
        let put_off = match batch {
            Ok(batch) => self.commit_in_hand(batch).await.map_err(Error::from),
            Err(error) => Err(error),
        };
        if let Err(error) = put_off {
            tracing::error!(entry = id, %error, "the outbox can't be written");
        }
    }

    /// A batch that puts an entry off.
    pub(super) fn later(&self, leased: &Leased, seconds: u64) -> Batch {
        Batch::new(leased.tenant.clone()).retry(leased.id, self.clock.now().plus(seconds))
    }

    /// Commits the results of an answer that can't be asked for again. Waits while the store is busy.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn commit_in_hand(
        &self,
        batch: Batch,
    ) -> std::result::Result<Committed, StoreError> {
        for patience in PATIENCE_MS {
            match self.store.commit(batch.clone()).await {
                Err(StoreError::Busy) => {
                    tokio::time::sleep(Duration::from_millis(patience)).await;
                }
                other => return other,
            }
        }
        self.store.commit(batch).await
    }
}

/// A batch that gives an entry up.
pub(super) fn buried(leased: &Leased, error: &Error) -> Batch {
    let reason = error.reason.stored_within(Batch::REASON_MAX);
    Batch::new(leased.tenant.clone()).bury(leased.id, reason)
}
