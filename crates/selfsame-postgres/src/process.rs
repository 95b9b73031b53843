//! This process among those that share the database: its row, which holds its part of the sum and counts its commits.
//!
//! Each transaction that writes locks the row, so no other process declares this process dead meanwhile. After a lost
//! connection, the count in the row says whether the last commit took effect.

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
