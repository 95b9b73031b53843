//! When the registry was last active, and during which start of the machine. At the next start the clock is compared
//! with it.

use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::clock::Clock;
use selfsame_driver::record::{decode, encode};
use selfsame_store::{Batch, Put, Store};
use serde::{Deserialize, Serialize};

use crate::network::tenant;

const ALIVE: &str = "alive";

/// A moment at which the registry was active.
#[derive(Deserialize, Serialize)]
pub(super) struct Alive {
    /// The time that was believed then.
    time: UnixTime,
    /// Seconds since the machine started.
    passed: u64,
    /// The identifier of that start.
    machine_start: Option<String>,
}

impl Alive {
    /// The moment noted last.
    pub(super) async fn last(store: &Store) -> Result<Option<Self>> {
        let record = store.read(&tenant()?, ALIVE, "own").await?;
        record.map(|record| decode(&record.value)).transpose()
    }

    /// Notes this moment. The write is deferred: if a power failure loses it, the moment noted before remains.
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

    /// A lower bound of the current time. It is exact to the second if the machine has run since.
    pub(super) fn until_now(&self, clock: &Clock) -> UnixTime {
        let same = self.machine_start.is_some() && self.machine_start == clock.machine_start();
        match same {
            true => self.time.plus(clock.passed().saturating_sub(self.passed)),
            false => self.time,
        }
    }
}
