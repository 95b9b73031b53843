//! Views: many reads under one lock of the file. Locking for each read would double its cost.

use std::sync::MutexGuard;

use rusqlite::{Connection, OptionalExtension as _};

use super::{LedgerWriter, NODE, state};
use crate::error::Result;
use crate::ledger::LedgerView;

/// The connection of a view, held while the view exists.
pub(super) enum HeldConnection<'a> {
    /// The writer's connection, which has the latest pages in its cache.
    Writer(MutexGuard<'a, LedgerWriter>),
    /// The connection for views.
    Own(MutexGuard<'a, Connection>),
}

/// A snapshot of the ledger.
pub(super) struct View<'a>(HeldConnection<'a>);

impl HeldConnection<'_> {
    fn connection(&self) -> &Connection {
        match self {
            Self::Writer(writer) => &writer.connection,
            Self::Own(connection) => connection,
        }
    }
}

impl<'a> View<'a> {
    pub(super) fn begin(held: HeldConnection<'a>) -> Result<Self> {
        held.connection().prepare_cached("BEGIN")?.execute([])?;
        Ok(Self(held))
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        let connection = self.0.connection();
        let ended = connection
            .prepare_cached("COMMIT")
            .and_then(|mut end| end.execute([]));
        if let Err(error) = ended {
            tracing::warn!(%error, "a view of the ledger did not end");
        }
    }
}

impl LedgerView for View<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        state::value(self.0.connection(), key)
    }

    fn key(&self, place: &[u8; 32]) -> Result<Option<Vec<u8>>> {
        state::key(self.0.connection(), place)
    }

    fn node(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut node = self.0.connection().prepare_cached(NODE)?;
        Ok(node.query_row([key], |row| row.get(0)).optional()?)
    }
}
