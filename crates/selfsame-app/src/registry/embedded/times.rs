//! The times of blocks and of checkpoints, which go forward together whatever the clock does.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::time::UnixTime;

use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};

/// Seconds by which the clock may leap ahead of the time that passes.
const LEAP_MAX: u64 = 900;

/// Gives times to who makes blocks and to who signs checkpoints; clones agree.
#[derive(Clone)]
pub(super) struct Times {
    clock: Clock,
    given: Arc<Mutex<Given>>,
}

#[derive(Default)]
struct Given {
    /// The latest time of a checkpoint: no later block, and no checkpoint of one, is earlier.
    checkpoint: UnixTime,
    /// The greatest height a checkpoint was made for.
    height: u64,
    /// The times of the blocks under way, one to be stored and one judged on top of it: no checkpoint of the one
    /// before them is later than the first.
    blocks: VecDeque<UnixTime>,
    /// The clock's time when the machine started, by the clock while it was believed.
    start: UnixTime,
}

impl Times {
    pub(super) fn new(clock: Clock) -> Self {
        let given = Given {
            start: clock.started(),
            ..Given::default()
        };
        Self {
            clock,
            given: Arc::new(Mutex::new(given)),
        }
    }

    /// Whether the clock leapt ahead since the registry was opened. What is of a time to come stands in the log for
    /// good, so none of it is written until the clock is set, or until who starts the registry anew vouches for it.
    ///
    /// # Errors
    /// `Unavailable` if it did.
    pub(super) fn clock_has_not_leapt(&self) -> Result<()> {
        let Some(believed) = self.after_leap(&mut self.given()) else {
            return Ok(());
        };
        let kind = ErrorKind::Unavailable {
            retry_after: LEAP_MAX,
        };
        let reason = format!(
            "this machine's clock leapt ahead to {}, while by the time that passed it is {}",
            self.clock.now().rfc3339(),
            believed.rfc3339()
        );
        Err(Error::new(kind, reason)
            .with_hint("set the clock; if it is right now, start the instance again"))
    }

    /// The clock's time, or after a leap of the clock the one by the time that passed since.
    fn now(&self, given: &mut Given) -> UnixTime {
        let after_leap = self.after_leap(given);
        after_leap.unwrap_or_else(|| self.clock.now())
    }

    /// The time by what passed since the clock leapt; none if it did not.
    fn after_leap(&self, given: &mut Given) -> Option<UnixTime> {
        let now = self.clock.started();
        if now.seconds_since(given.start) <= LEAP_MAX {
            given.start = given.start.max(now);
            return None;
        }
        Some(UnixTime(given.start.0.saturating_add(self.clock.passed())))
    }

    /// The time of the block that is begun, after one of that time that is stored or under way.
    pub(super) fn begin_block(&self, last: UnixTime) -> UnixTime {
        let mut given = self.given();
        let time = self.now(&mut given).max(last).max(given.checkpoint);
        given.blocks.push_back(time);
        time
    }

    /// The first of the blocks is stored.
    pub(super) fn end_block(&self) {
        self.given().blocks.pop_front();
    }

    /// The last of them is none.
    pub(super) fn give_up(&self) {
        self.given().blocks.pop_back();
    }

    /// All of them are given up, or it is not known whether they are stored.
    pub(super) fn end_all(&self) {
        self.given().blocks.clear();
    }

    /// The time as of which a block, known by height and time, is seen to be the newest; none if a checkpoint of a
    /// later one was made.
    pub(super) fn of_checkpoint(&self, (height, time): (u64, UnixTime)) -> Option<UnixTime> {
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
