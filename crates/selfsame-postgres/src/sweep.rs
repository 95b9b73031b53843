//! Sweeps: purging what has expired, and erasing a tenant. What is to be removed is looked for first, without locks; the
//! batch then locks these rows and removes those that are still to be removed.

use deadpool_postgres::Client;
use selfsame_crypto::time::UnixTime;
use selfsame_store::TenantId;
use selfsame_store::backend::{
    DEAD_LETTER_SECONDS, EVENT_SECONDS, EVENTS_MAX, KEY_KIND, OutboxId, Place, SealedBatch, Write,
    stays,
};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::failure::DatabaseResult;
use crate::group::{CounterName, Doomed};
use crate::pool::query;
use crate::rows::{event_row, place, sql};
use crate::schema;

/// The number of events beyond those kept that one sweep removes.
const EXCESS: usize = 4_096;

/// Looks for what the sweeps of this batch remove. Nothing for a batch without a sweep.
pub(crate) async fn look(client: &Client, batch: &SealedBatch) -> DatabaseResult<Doomed> {
    let mut doomed = Doomed::default();
    for write in &batch.writes {
        match write {
            Write::Purge(limit) => purge(client, batch.now, *limit, &mut doomed).await?,
            Write::Erase {
                tenant,
                keep,
                limit,
            } => {
                let erasure = Erasure {
                    client,
                    tenant,
                    limit: *limit,
                };
                erasure.look(keep.as_deref(), &mut doomed).await?;
            }
            Write::Leap(_) => {
                let counters = query(client, schema::ALL_COUNTERS, &[]).await?;
                doomed.raised = names(&counters)?;
            }
            _ => {}
        }
    }
    Ok(doomed)
}

fn names(rows: &[Row]) -> DatabaseResult<Vec<CounterName>> {
    let name = |row: &Row| {
        Ok(CounterName {
            tenant: row.try_get(0)?,
            counter: row.try_get(1)?,
        })
    };
    rows.iter().map(name).collect()
}

fn places(rows: &[Row]) -> DatabaseResult<Vec<Place>> {
    rows.iter().map(|row| place(row, 0)).collect()
}

fn ids(rows: &[Row]) -> DatabaseResult<Vec<OutboxId>> {
    let id = |row: &Row| Ok(OutboxId(row.try_get::<_, i64>(0)?.cast_unsigned()));
    rows.iter().map(id).collect()
}

async fn purge(
    client: &Client,
    now: UnixTime,
    limit: usize,
    doomed: &mut Doomed,
) -> DatabaseResult<()> {
    let limit = sql(limit as u64);
    let before = |age| sql(now.minus(age).0);
    let (letters, events) = (before(DEAD_LETTER_SECONDS), before(EVENT_SECONDS));
    doomed.only_expired = true;
    doomed.records = places(&query(client, schema::EXPIRED, &[&sql(now.0), &limit]).await?)?;
    doomed.entries = ids(&query(client, schema::OLD_LETTERS, &[&letters, &limit]).await?)?;
    let (kept, excess) = (sql(EVENTS_MAX), sql(EXCESS as u64));
    let mut old = query(client, schema::EXCESS_EVENTS, &[&kept, &excess]).await?;
    if old.is_empty() {
        old = query(client, schema::OLD_EVENTS, &[&events, &limit]).await?;
    }
    doomed.events = old.iter().map(event_row).collect::<DatabaseResult<_>>()?;
    Ok(())
}

struct Erasure<'a> {
    client: &'a Client,
    tenant: &'a TenantId,
    limit: usize,
}

impl Erasure<'_> {
    async fn look(&self, keep: Option<&[String]>, doomed: &mut Doomed) -> DatabaseResult<()> {
        let tenant = self.tenant.as_str();
        let limit = sql(self.limit as u64);
        if keep.is_none() {
            doomed.records.push(Place {
                tenant: self.tenant.clone(),
                kind: KEY_KIND.to_owned(),
                id: String::new(),
            });
            doomed.counters = names(&query(self.client, schema::COUNTERS_OF, &[&tenant]).await?)?;
            // The other entries of a lane stop too: none of them is at its head any more.
            let entries = query(self.client, schema::ENTRIES_OF, &[&tenant, &limit]).await?;
            doomed.entries = ids(&entries)?;
        }
        let kinds = self.kinds(keep).await?;
        let found = query(self.client, schema::OF_KINDS, &[&tenant, &kinds, &limit]).await?;
        doomed.records.extend(places(&found)?);
        Ok(())
    }

    /// The kinds of which records are removed.
    async fn kinds(&self, keep: Option<&[String]>) -> DatabaseResult<Vec<String>> {
        let (mut kinds, mut after) = (Vec::new(), String::new());
        loop {
            let parameters: [&(dyn ToSql + Sync); 2] = [&self.tenant.as_str(), &after];
            let found = query(self.client, schema::NEXT_KIND, &parameters).await?;
            let Some(row) = found.first() else {
                return Ok(kinds);
            };
            after = row.try_get(0)?;
            if !stays(&after, keep) && after != KEY_KIND {
                kinds.push(after.clone());
            }
        }
    }
}
