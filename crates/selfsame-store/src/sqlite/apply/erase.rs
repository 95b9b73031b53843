//! The removal of a tenant's rows in SQL, in portions.

use rusqlite::{OptionalExtension, params};

use super::{Apply, sql};
use crate::backend::{KEY_KIND, stays};
use crate::error::Result;
use crate::tenant::TenantId;

impl Apply<'_> {
    /// Removes at most `limit` records of a tenant, and without `keep` as many outbox entries, and overwrites their bytes.
    pub(super) fn erase(
        &self,
        tenant: &TenantId,
        keep: Option<&[String]>,
        limit: usize,
    ) -> Result<u64> {
        let removed = self.overwriting(|apply| apply.portion(tenant, keep, limit));
        Ok(removed? as u64)
    }

    fn portion(&self, tenant: &TenantId, keep: Option<&[String]>, limit: usize) -> Result<usize> {
        let (name, mut entries) = (tenant.as_str(), 0);
        if keep.is_none() {
            self.of_kind(name, KEY_KIND, 1)?;
            self.run("DELETE FROM counters WHERE tenant = ?1", [name])?;
            // The other entries of a lane stop too: none of them is at its head any more.
            let delete = "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE tenant = ?1 ORDER BY seq LIMIT ?2)";
            entries = self.run(delete, params![name, sql(limit as u64)])?;
        }
        // Kind by kind, so that no portion passes over all rows that stay.
        let next = "SELECT kind FROM records WHERE tenant = ?1 AND kind > ?2 ORDER BY kind LIMIT 1";
        let mut next = self.connection.prepare_cached(next)?;
        let (mut kind, mut records) = (String::new(), 0);
        while records < limit
            && let Some(found) = next.query_row([name, &kind], |row| row.get(0)).optional()?
        {
            kind = found;
            if !stays(&kind, keep) {
                records += self.of_kind(name, &kind, limit - records)?;
            }
        }
        Ok(entries + records)
    }

    /// Removes records of one kind, at most `limit`; returns how many.
    fn of_kind(&self, tenant: &str, kind: &str, limit: usize) -> Result<usize> {
        let query = "SELECT seq, tags FROM records WHERE tenant = ?1 AND kind = ?2 LIMIT ?3";
        let mut statement = self.connection.prepare_cached(query)?;
        let values = params![tenant, kind, sql(limit as u64)];
        let rows = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let rows = rows.collect::<rusqlite::Result<Vec<(i64, Vec<u8>)>>>()?;
        for (seq, tags) in &rows {
            self.remove(*seq, tags)?;
        }
        Ok(rows.len())
    }
}
