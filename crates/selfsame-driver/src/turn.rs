//! The turn of a process at work that one process of several does, such as to send to one endpoint in order. It ends by
//! itself if the process does.

use selfsame_crypto::time::UnixTime;
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};

use crate::Result;
use crate::clock::Clock;

/// Seconds until the turn of a process ends that does not renew it.
const TURN_SECONDS: u64 = 10;
/// Seconds until a turn is renewed.
const RENEWED_AFTER: u64 = 3;

/// The turn at one piece of work.
pub struct WorkTurn {
    kind: &'static str,
    work: String,
    process: String,
    held: Option<HeldTurn>,
}

/// Where turns are kept.
#[derive(Clone, Copy)]
pub struct Shift<'a> {
    /// The store of all processes.
    pub store: &'a Store,
    /// The time.
    pub clock: &'a Clock,
    /// The tenant whose work it is.
    pub owner: &'a TenantId,
}

struct HeldTurn {
    version: u64,
    renewed: UnixTime,
}

impl WorkTurn {
    /// The turn of this process at the work with this identifier. `kind` is that of the records of such turns.
    #[must_use]
    pub fn of(kind: &'static str, work: &str, process: &str) -> Self {
        Self {
            kind,
            work: work.to_owned(),
            process: process.to_owned(),
            held: None,
        }
    }

    /// Takes or keeps the turn; false while another process has it.
    ///
    /// # Errors
    /// The store's.
    pub async fn hold(&mut self, of: Shift<'_>) -> Result<bool> {
        let Shift {
            store,
            clock,
            owner,
        } = of;
        let now = clock.now();
        let expected = match &self.held {
            Some(held) if now.seconds_since(held.renewed) < RENEWED_AFTER => return Ok(true),
            Some(held) => Expect::Version(held.version),
            None => Expect::Absent,
        };
        let put = Put::new(self.kind, &self.work, self.process.as_bytes().to_vec());
        let put = put.expires(now.plus(TURN_SECONDS));
        let batch = Batch::new(owner.clone()).expect(self.kind, &self.work, expected);
        match store.commit(batch.put(put)).await {
            Ok(committed) => {
                let version = committed.versions.first().copied();
                let renewed = now;
                self.held = version.map(|version| HeldTurn { version, renewed });
                Ok(true)
            }
            Err(StoreError::Conflict { .. }) => {
                self.held = None;
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the turn back.
    pub async fn release(&mut self, of: Shift<'_>) {
        let Some(held) = self.held.take() else {
            return;
        };
        let expected = Expect::Version(held.version);
        let batch = Batch::new(of.owner.clone()).expect(self.kind, &self.work, expected);
        // If this fails, the turn ends by itself.
        drop(of.store.commit(batch.delete(self.kind, &self.work)).await);
    }
}
