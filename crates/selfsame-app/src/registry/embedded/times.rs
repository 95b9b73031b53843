//! The times of blocks and of checkpoints, which go forward together whatever the clock does.

use std::collections::VecDeque;
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
    /// The times of the blocks under way, one to be stored and one judged on top of it: no checkpoint of the one
    /// before them is later than the first.
    blocks: VecDeque<UnixTime>,
}

impl Times {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            given: Arc::default(),
        }
    }

    /// The time of the block that is begun, after one of that time that is stored or under way.
    pub(super) fn begin_block(&self, last: UnixTime) -> UnixTime {
        let mut given = self.given();
        let time = self.clock.now().max(last).max(given.checkpoint);
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
        let now = self.clock.now();
        let seen = given.blocks.front().map_or(now, |first| now.min(*first));
        let time = seen.max(time).max(given.checkpoint);
        (given.checkpoint, given.height) = (time, height);
        Some(time)
    }

    fn given(&self) -> MutexGuard<'_, Given> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
