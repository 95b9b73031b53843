//! The times of blocks and of checkpoints, which go forward together whatever the clock does.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::time::UnixTime;

use crate::clock::Clock;

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
    /// The time of the block under way: no checkpoint of the one before it is later.
    block: Option<UnixTime>,
}

impl Times {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            given: Arc::default(),
        }
    }

    /// The time of the block that is begun, after one of that time.
    pub(super) fn begin_block(&self, last: UnixTime) -> UnixTime {
        let mut given = self.given();
        let time = self.clock.now().max(last).max(given.checkpoint);
        given.block = Some(time);
        time
    }

    /// The block is stored or given up.
    pub(super) fn end_block(&self) {
        self.given().block = None;
    }

    /// The time as of which a block, known by height and time, is seen to be the newest; none if a checkpoint of a
    /// later one was made.
    pub(super) fn of_checkpoint(&self, (height, time): (u64, UnixTime)) -> Option<UnixTime> {
        let mut given = self.given();
        if height < given.height {
            return None;
        }
        let now = self.clock.now();
        let seen = given.block.map_or(now, |block| block.min(now));
        let time = seen.max(time).max(given.checkpoint);
        (given.checkpoint, given.height) = (time, height);
        Some(time)
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
