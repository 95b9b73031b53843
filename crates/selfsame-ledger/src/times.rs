//! The times of blocks and of checkpoints. Together they never go back, whatever the clock does.

mod alive;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::time::UnixTime;
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::Store;

use crate::view::RegistryClock;
use alive::Alive;

/// Seconds by which the clock may be ahead of the time that has passed.
const LEAP_MAX: u64 = 900;
/// Seconds for which the registry may have been inactive before its clock must be confirmed.
const AWAY_MAX: u64 = 3_600;
/// Seconds until another try of a write makes sense: a time server sets the clock soon after a machine has started.
const AGAIN_AFTER: u64 = 30;

/// Gives the times of blocks and of checkpoints. Clones share their state.
#[derive(Clone)]
pub struct Times {
    clock: Clock,
    given: Arc<Mutex<Given>>,
}

#[derive(Default)]
struct Given {
    /// The latest time of a checkpoint: no later block, and no checkpoint of one, is earlier.
    checkpoint: UnixTime,
    /// The greatest height that has a checkpoint.
    height: u64,
    /// The times of the blocks in progress: one is being stored, one is validated on top of it. A checkpoint of the
    /// block before them is not later than the first of these times.
    blocks: VecDeque<UnixTime>,
    /// The time when the machine started, by the clock while it was believed.
    start: UnixTime,
    /// When the registry was last active, if the clock was much later when it was opened.
    away_since: Option<UnixTime>,
}

impl Times {
    /// Times that continue from the last block, and from when the registry was last active. A clock that is much later
    /// may be right or wrong. Until it is confirmed, the time is taken to have stood still in between.
    pub(super) async fn since(block: UnixTime, store: &Store, clock: Clock) -> Result<Self> {
        let alive = Alive::last(store).await?;
        let last = alive.map_or(block, |alive| alive.until_now(&clock).max(block));
        let away = clock.now().seconds_since(last) > AWAY_MAX;
        let given = Given {
            start: if away {
                last.minus(clock.passed())
            } else {
                clock.started()
            },
            away_since: away.then_some(last),
            ..Given::default()
        };
        Ok(Self {
            clock,
            given: Arc::new(Mutex::new(given)),
        })
    }

    /// Checks whether the clock is believed. A time in the future would stay in the log for good, so nothing is written
    /// until the clock is set or confirmed.
    ///
    /// # Errors
    /// `Unavailable` if the clock is not believed.
    pub(super) fn clock_is_believed(&self) -> Result<()> {
        let mut given = self.given();
        let Some(believed) = self.after_leap(&mut given) else {
            return Ok(());
        };
        let kind = ErrorKind::Unavailable {
            retry_after: AGAIN_AFTER,
        };
        let says = self.clock.now().rfc3339();
        let error = match given.away_since {
            Some(last) => Error::new(kind, "clock-unconfirmed")
                .with("clock", &says)
                .with("active", &last.rfc3339()),
            None => Error::new(kind, "clock-leapt")
                .with("clock", &says)
                .with("believed", &believed.rfc3339()),
        };
        Err(error.with_code("clock_doubted"))
    }

    /// The clock's time, and the time that is believed.
    #[must_use]
    pub fn view(&self) -> RegistryClock {
        let doubt = self.clock_is_believed().err();
        RegistryClock {
            clock: self.clock.now().rfc3339(),
            believed: self.now(&mut self.given()).rfc3339(),
            doubt: doubt.map(|doubt| doubt.reason),
        }
    }

    /// Records that the operator confirms the clock's present time.
    pub fn vouch(&self) {
        tracing::info!(time = %self.clock.now().rfc3339(), "the operator confirmed this machine's clock");
        self.given().start = self.clock.started();
    }

    /// Notes that the registry is active at this moment.
    ///
    /// # Errors
    /// The store's errors.
    pub async fn note(&self, store: &Store) -> Result<()> {
        let believed = self.now(&mut self.given());
        Alive::note(store, believed, &self.clock).await
    }

    /// Takes a time that a witness reports. If the clock agrees with it, the clock is believed.
    pub(super) fn hear(&self, time: UnixTime) {
        let now = self.clock.now();
        let parted = now.seconds_since(time).max(time.seconds_since(now));
        let mut given = self.given();
        if parted <= LEAP_MAX && self.after_leap(&mut given).is_some() {
            tracing::info!(time = %now.rfc3339(), "a witness confirmed this machine's clock");
            given.start = self.clock.started();
        }
    }

    /// The clock's time. After a leap of the clock, the machine's believed start plus the time that has passed since.
    fn now(&self, given: &mut Given) -> UnixTime {
        let after_leap = self.after_leap(given);
        after_leap.unwrap_or_else(|| self.clock.now())
    }

    /// The machine's believed start plus the time that has passed since; `None` if the clock did not leap.
    fn after_leap(&self, given: &mut Given) -> Option<UnixTime> {
        let now = self.clock.started();
        if now.seconds_since(given.start) <= LEAP_MAX || self.clock.is_synchronized() {
            (given.start, given.away_since) = (given.start.max(now), None);
            return None;
        }
        Some(UnixTime(given.start.0.saturating_add(self.clock.passed())))
    }

    /// The time of a new block that follows a block of time `last`, which is stored or in progress.
    pub(super) fn begin_block(&self, last: UnixTime) -> UnixTime {
        let mut given = self.given();
        let time = self.now(&mut given).max(last).max(given.checkpoint);
        given.blocks.push_back(time);
        time
    }

    /// Removes the first block in progress: it is stored.
    pub(super) fn end_block(&self) {
        self.given().blocks.pop_front();
    }

    /// Removes the last block in progress: it will not be made.
    pub(super) fn give_up(&self) {
        self.given().blocks.pop_back();
    }

    /// Removes all blocks in progress: they are given up, or it is unknown whether they are stored.
    pub(super) fn end_all(&self) {
        self.given().blocks.clear();
    }

    /// The time as of which a block, given by height and time, is the newest; `None` if a later block has a checkpoint.
    pub(super) fn of_checkpoint(&self, height: u64, time: UnixTime) -> Option<UnixTime> {
        let mut given = self.given();
        if height < given.height {
            return None;
        }
        let now = self.now(&mut given);
        let seen = given.blocks.front().map_or(now, |first| now.min(*first));
        let time = seen.max(time).max(given.checkpoint);
        (given.checkpoint, given.height) = (time, height);
        Some(time)
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
