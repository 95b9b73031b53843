//! The events in SQL.

use rusqlite::params;

use super::{Apply, schema, sql};
use crate::backend::{EVENT_SECONDS, EVENTS_BITE, EVENTS_MAX, Place};
use crate::error::Result;

impl Apply<'_> {
    /// Adds an event at the next position. At some positions it also removes those beyond the number kept.
    pub(super) fn tell(&self, place: &Place, stamp: u64) -> Result<()> {
        let insert =
            "INSERT OR FAIL INTO events (stamp, at, tenant, kind, id) VALUES (?1, ?2, ?3, ?4, ?5)";
        let tenant = place.tenant.as_str();
        self.run(
            insert,
            params![sql(stamp), self.now, tenant, place.kind, place.id],
        )?;
        let seq = self.connection.last_insert_rowid();
        if seq % sql(EVENTS_BITE) == 0 && seq > sql(EVENTS_MAX) {
            let beyond = seq.saturating_sub(sql(EVENTS_MAX));
            self.run("DELETE FROM events WHERE seq <= ?1", [beyond])?;
        }
        Ok(())
    }

    pub(super) fn purge_events(&self, limit: i64) -> Result<usize> {
        let before = self.now.saturating_sub(sql(EVENT_SECONDS));
        self.run(schema::PURGE_EVENTS, [before, limit])
    }
}
