//! This process among those that share the database: its row, which holds its part of the sum and counts its commits.
//!
//! Each transaction that writes locks the row, so no other process declares this process dead meanwhile. After a lost
//! connection, the count in the row says whether the last commit took effect.

use std::collections::VecDeque;

use selfsame_crypto::hash::sum::{Sum, Tally};
use selfsame_store::{Result, StoreError};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::sums::RowSums;

/// What the row of this process says.
#[derive(Clone, Debug)]
pub(crate) struct ProcessSeat {
    pub(crate) process: Uuid,
    pub(crate) tally: Tally,
    pub(crate) generation: i64,
}

/// The maximum number of deferred commits in a row that the database may lose.
const LOST_MAX: usize = 1_024;

/// The row as this process wrote it last, and as it was before each deferred commit since the last durable one. A crash
/// of the database, or a fail-over, may lose those commits.
#[derive(Debug)]
pub(crate) struct WrittenSeats {
    last: ProcessSeat,
    before: VecDeque<ProcessSeat>,
}

/// A seat to take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewSeat {
    pub(crate) process: Uuid,
    /// Whether no other process may have one.
    pub(crate) alone: bool,
}

/// The row of a process as found.
#[derive(Debug)]
pub(crate) struct ProcessRow {
    pub(crate) seat: ProcessSeat,
    mac: Vec<u8>,
}

impl WrittenSeats {
    pub(crate) fn new(seat: ProcessSeat) -> Self {
        Self {
            last: seat,
            before: VecDeque::new(),
        }
    }

    pub(crate) fn last(&self) -> &ProcessSeat {
        &self.last
    }

    /// The number of commits that no crash loses.
    pub(crate) fn durable(&self) -> i64 {
        self.before.front().unwrap_or(&self.last).generation
    }

    /// A commit wrote the row.
    pub(crate) fn wrote(&mut self, seat: ProcessSeat, is_durable: bool) {
        let before = std::mem::replace(&mut self.last, seat);
        if is_durable {
            self.before.clear();
            return;
        }
        if self.before.len() == LOST_MAX {
            self.before.pop_front();
        }
        self.before.push_back(before);
    }

    /// The row counts this many commits. Returns how many deferred ones were lost; `None` if a durable one was.
    pub(crate) fn set_back(&mut self, generation: i64) -> Option<usize> {
        let mut earlier = self.before.iter();
        let kept = earlier.position(|seat| seat.generation == generation)?;
        let lost = self.before.len().saturating_sub(kept);
        self.last = self.before.drain(kept..).next()?;
        Some(lost)
    }
}

impl ProcessRow {
    /// Columns `process, sum, rows, generation, mac`.
    pub(crate) fn of(row: &Row) -> DatabaseResult<Self> {
        let sum: &[u8] = row.try_get(1)?;
        let sum = Sum::of(sum).ok_or(DatabaseFailure::Final(StoreError::Tampered("sum")))?;
        let tally = Tally {
            sum,
            rows: row.try_get(2)?,
        };
        let seat = ProcessSeat {
            process: row.try_get(0)?,
            tally,
            generation: row.try_get(3)?,
        };
        let mac = row.try_get(4)?;
        Ok(Self { seat, mac })
    }

    /// Whether a process wrote the row that has the key.
    pub(crate) fn check(&self, sums: &RowSums) -> Result<()> {
        match self.seat.mac(sums)[..] == self.mac[..] {
            true => Ok(()),
            false => Err(StoreError::Tampered("sum of all records")),
        }
    }
}

impl ProcessSeat {
    pub(crate) fn new(process: Uuid) -> Self {
        Self {
            process,
            tally: Tally::default(),
            generation: 0,
        }
    }

    /// The seat after one more commit.
    pub(crate) fn after(&self, tally: Tally, leap: i64) -> Self {
        Self {
            process: self.process,
            tally: self.tally.plus(tally),
            generation: self.generation.saturating_add(leap).saturating_add(1),
        }
    }

    pub(crate) fn mac(&self, sums: &RowSums) -> [u8; 32] {
        sums.mac(self.process, &self.tally, self.generation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(generation: i64) -> ProcessSeat {
        ProcessSeat {
            generation,
            ..ProcessSeat::new(Uuid::nil())
        }
    }

    #[test]
    fn deferred_commits_may_be_lost_and_durable_ones_may_not() {
        let mut seats = WrittenSeats::new(seat(0));
        for (generation, is_durable) in [(1, false), (2, true), (3, false), (4, false)] {
            seats.wrote(seat(generation), is_durable);
        }
        assert_eq!((seats.last().generation, seats.durable()), (4, 2));
        for lost in [0, 1, 4, 5] {
            assert_eq!(seats.set_back(lost), None, "{lost}");
        }
        assert_eq!(seats.set_back(3), Some(1));
        assert_eq!((seats.last().generation, seats.durable()), (3, 2));
        seats.wrote(seat(4), false);
        assert_eq!(seats.set_back(2), Some(2));
        assert_eq!((seats.last().generation, seats.durable()), (2, 2));
        assert_eq!(seats.set_back(2), None);
    }

    #[test]
    fn the_seats_before_deferred_commits_are_bounded() {
        let mut seats = WrittenSeats::new(seat(0));
        for generation in (1..).take(2 * LOST_MAX) {
            seats.wrote(seat(generation), false);
        }
        assert_eq!(seats.before.len(), LOST_MAX);
        assert_eq!(seats.set_back(LOST_MAX as i64), Some(LOST_MAX));
    }
}
