//! When the registry was last at work, and on which start of the machine: what the clock is compared with at the next
//! start.

use selfsame_crypto::time::UnixTime;
use selfsame_store::{Batch, Put, Store};
use serde::{Deserialize, Serialize};

use super::tenant;
use crate::clock::Clock;
use crate::error::Result;
use crate::record::{decode, encode};

const ALIVE: &str = "alive";

/// A moment at which the registry was at work.
#[derive(Deserialize, Serialize)]
pub(super) struct Alive {
    /// The time that was believed.
    time: UnixTime,
    /// Seconds since the machine's start.
    passed: u64,
    /// Which start that was.
    machine_start: Option<String>,
}

impl Alive {
    /// The moment that was noted last.
    pub(super) async fn last(store: &Store) -> Result<Option<Self>> {
        let record = store.read(&tenant()?, ALIVE, "own").await?;
        record.map(|record| decode(&record.value)).transpose()
    }

    /// Notes this moment. One that is lost with the power makes the one before the last.
    pub(super) async fn note(store: &Store, time: UnixTime, clock: &Clock) -> Result<()> {
        let alive = Self {
            time,
            passed: clock.passed(),
            machine_start: clock.machine_start(),
        };
        let put = Put::new(ALIVE, "own", encode(&alive)?);
        store
            .commit(Batch::new(tenant()?).put(put).deferred())
            .await?;
        Ok(())
    }

    /// The time that it is at least: to the second where the machine has run since.
    pub(super) fn until_now(&self, clock: &Clock) -> UnixTime {
        let same = self.machine_start.is_some() && self.machine_start == clock.machine_start();
        match same {
            true => self.time.plus(clock.passed().saturating_sub(self.passed)),
            false => self.time,
        }
    }
}
