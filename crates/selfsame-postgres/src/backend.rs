//! The back end: reads go through a pool, writes through the one writer of this process.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::Pool;
use selfsame_crypto::seal::{SealingKey, random_seed};
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::{
    Backend, Backlog, BatchOutcome, DEAD_LETTER_SECONDS, EVENT_SECONDS, Meter, OutboxId, Place,
    SealedBatch, SealedEntry, SealedLetter, SealedRecord, StoredEvent, Weight, Window,
};
use selfsame_store::rotation::KeyCheck;
use selfsame_store::{Result, StoreError, TenantId};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::address::Address;
use crate::copying::copy;
use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::pool::{connection, discard};
use crate::process::NewSeat;
use crate::reach::Reach;
use crate::readers::Readers;
use crate::rows::{self, sql};
use crate::writer::{CommitWriter, WriterNotes};
use crate::{figures, layout, schema};

/// How often the tables are tried to be made while another process makes them.
const STARTS: usize = 20;
const START_PAUSE: Duration = Duration::from_millis(100);

/// Whether other processes may use the records at the same time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Company {
    /// This process alone.
    Alone,
    /// Any number of processes that keep to themselves what only one may have, such as a ledger.
    Shared,
}

/// Keeps everything in a PostgreSQL database.
pub struct Postgres {
    name: String,
    new: NewSeat,
    readers: Readers,
    writer: CommitWriter,
    meter: Arc<Meter>,
    sum_key: OnceLock<Arc<SealingKey>>,
}

impl fmt::Debug for Postgres {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Postgres({})", self.name)
    }
}

impl Postgres {
    /// Connects to the database, and creates the tables in a new database. At most `connections` connections are used for
    /// reading, and one for writing.
    ///
    /// # Errors
    /// If the database cannot be reached in time or refuses the user, or its tables are of another release.
    pub async fn open(address: &Address, connections: usize, company: Company) -> Result<Self> {
        figures::describe();
        let reach = Reach::default();
        let readers = Readers::new(address, connections, reach.clone())?;
        made(&readers.pool, &address.schema)
            .await
            .map_err(DatabaseFailure::into_error)?;
        let meter = Arc::new(Meter::default());
        let mut process = [0; 16];
        process.copy_from_slice(&random_seed()[..16]);
        let new = NewSeat {
            process: Uuid::from_bytes(process),
            alone: company == Company::Alone,
        };
        let writer = CommitWriter::start(
            address,
            new,
            WriterNotes {
                meter: meter.clone(),
                reach,
            },
        )?;
        Ok(Self {
            name: address.to_string(),
            new,
            readers,
            writer,
            meter,
            sum_key: OnceLock::new(),
        })
    }

    async fn rows(&self, statement: &str, parameters: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>> {
        self.readers.rows(statement, parameters).await
    }
}

async fn made(readers: &Pool, schema_name: &str) -> DatabaseResult<()> {
    let mut tries = 0;
    loop {
        let client = connection(readers).await?;
        match layout::tables(&client, schema_name).await {
            Err(DatabaseFailure::Raced) if tries < STARTS => tries += 1,
            made => return made,
        }
        tokio::time::sleep(START_PAUSE).await;
    }
}

fn all<T>(rows: &[Row], map: impl FnMut(&Row) -> DatabaseResult<T>) -> Result<Vec<T>> {
    let mapped: DatabaseResult<Vec<T>> = rows.iter().map(map).collect();
    mapped.map_err(DatabaseFailure::into_error)
}

fn first<T>(rows: &[Row], map: impl FnMut(&Row) -> DatabaseResult<T>) -> Result<Option<T>> {
    Ok(all(rows.get(..1).unwrap_or_default(), map)?.pop())
}

#[async_trait]
impl Backend for Postgres {
    async fn read(&self, place: &Place, now: UnixTime) -> Result<Option<SealedRecord>> {
        let found = self
            .rows(schema::READ, &[&rows::key(place), &sql(now.0)])
            .await?;
        first(&found, rows::record)
    }

    async fn version(&self, place: &Place, now: UnixTime) -> Result<Option<u64>> {
        let found = self
            .rows(schema::VERSION, &[&rows::key(place), &sql(now.0)])
            .await?;
        first(&found, |row| Ok(row.try_get::<_, i64>(0)?.cast_unsigned()))
    }

    async fn find(&self, tag: &[u8], window: Window, now: UnixTime) -> Result<Vec<SealedRecord>> {
        let (query, from) = window.directed(schema::FIND);
        let limit = sql(window.limit as u64);
        let found = self
            .rows(query, &[&tag, &from, &sql(now.0), &limit])
            .await?;
        all(&found, rows::record)
    }

    async fn list(
        &self,
        tenant: &TenantId,
        kind: &str,
        window: Window,
        now: UnixTime,
    ) -> Result<Vec<SealedRecord>> {
        let (query, from) = window.directed(schema::LIST);
        let (tenant, limit) = (tenant.as_str(), sql(window.limit as u64));
        let found = self
            .rows(query, &[&tenant, &kind, &from, &sql(now.0), &limit])
            .await?;
        all(&found, rows::record)
    }

    async fn keys(&self, after: &str, limit: usize) -> Result<Vec<(TenantId, SealedRecord)>> {
        let limit = sql(limit as u64);
        let found = self.rows(schema::KEYS, &[&after, &limit]).await?;
        all(&found, |row| {
            Ok((rows::tenant(row.try_get(5)?)?, rows::record(row)?))
        })
    }

    async fn reads_under(&self, check: KeyCheck) -> Result<()> {
        let (process, check) = (self.new.process, check.as_bytes());
        self.rows(schema::READS_UNDER, &[&process, &check]).await?;
        self.rows(schema::FORGET_READERS, &[]).await.map(drop)
    }

    async fn unready(&self, check: KeyCheck) -> Result<u64> {
        let found = self.rows(schema::UNREADY, &[&check.as_bytes()]).await?;
        let unready = first(&found, |row| Ok(row.try_get::<_, i64>(0)?))?;
        Ok(unready.unwrap_or_default().cast_unsigned())
    }

    async fn weight(&self, tenant: &TenantId, kind: &str, most: u64) -> Result<Weight> {
        let found = self
            .rows(schema::WEIGHT, &[&tenant.as_str(), &kind, &sql(most)])
            .await?;
        let weight = first(&found, |row| {
            Ok(Weight {
                records: row.try_get::<_, i64>(0)?.cast_unsigned(),
                bytes: row.try_get::<_, i64>(1)?.cast_unsigned(),
            })
        })?;
        Ok(weight.unwrap_or_default())
    }

    async fn count(&self, tenant: &TenantId, kind: &str, most: u64) -> Result<u64> {
        let values: [&(dyn ToSql + Sync); 3] = [&tenant.as_str(), &kind, &sql(most)];
        let found = self.rows(schema::COUNT, &values).await?;
        let counted = first(&found, |row| Ok(row.try_get::<_, i64>(0)?))?;
        Ok(counted.unwrap_or_default().cast_unsigned())
    }

    async fn guard(&self, key: SealingKey, _kept: bool) -> Result<()> {
        let key = Arc::new(key);
        self.writer.guard(key.clone()).await?;
        // A second guard is under the same key.
        let _ = self.sum_key.set(key);
        Ok(())
    }

    fn generation(&self) -> Option<u64> {
        Some(self.writer.generation())
    }

    async fn commit(&self, batch: SealedBatch) -> Result<BatchOutcome> {
        self.writer.commit(batch).await
    }

    async fn due(&self, now: UnixTime, limit: usize) -> Result<Vec<OutboxId>> {
        let found = self
            .rows(
                schema::DUE,
                &[&sql(now.0), &sql(limit as u64), &self.new.process],
            )
            .await?;
        all(&found, |row| {
            Ok(OutboxId(row.try_get::<_, i64>(0)?.cast_unsigned()))
        })
    }

    async fn entry(&self, id: OutboxId, now: UnixTime) -> Result<Option<SealedEntry>> {
        let found = self
            .rows(schema::ENTRY, &[&id.0.cast_signed(), &sql(now.0)])
            .await?;
        first(&found, rows::entry)
    }

    async fn hold(&self, id: OutboxId) -> Result<bool> {
        if self.new.alone {
            return Ok(true);
        }
        let held = self
            .rows(schema::HOLD, &[&id.0.cast_signed(), &self.new.process])
            .await?;
        Ok(!held.is_empty())
    }

    fn is_shared(&self) -> bool {
        !self.new.alone
    }

    async fn answers(&self) -> bool {
        self.readers.answers().await
    }

    async fn dead_letters(&self, window: Window) -> Result<Vec<SealedLetter>> {
        let (query, from) = window.directed(schema::LETTERS);
        let found = self
            .rows(query, &[&from, &sql(window.limit as u64)])
            .await?;
        all(&found, rows::letter)
    }

    async fn backlog(&self) -> Result<Backlog> {
        let found = self.rows(schema::BACKLOG, &[]).await?;
        let backlog = first(&found, |row| {
            let oldest: Option<i64> = row.try_get(2)?;
            Ok(Backlog {
                pending: row.try_get::<_, i64>(0)?.cast_unsigned(),
                dead: row.try_get::<_, i64>(1)?.cast_unsigned(),
                oldest: oldest.map(|at| UnixTime(at.cast_unsigned())),
            })
        })?;
        Ok(backlog.unwrap_or_default())
    }

    async fn events(&self, window: Window) -> Result<Vec<StoredEvent>> {
        let (query, from) = window.directed(schema::EVENTS);
        let found = self
            .rows(query, &[&from, &sql(window.limit as u64)])
            .await?;
        all(&found, |row| Ok(rows::event_row(row)?.into()))
    }

    async fn has_expired(&self, now: UnixTime) -> Result<bool> {
        let before = |age| sql(now.minus(age).0);
        let (letters, events) = (before(DEAD_LETTER_SECONDS), before(EVENT_SECONDS));
        let found = self
            .rows(schema::HAS_EXPIRED, &[&sql(now.0), &letters, &events])
            .await?;
        Ok(first(&found, |row| Ok(row.try_get(0)?))?.unwrap_or(false))
    }

    async fn copy(&self, to: &Path, mark: SealedBatch) -> Result<()> {
        let key = self.sum_key.get().cloned();
        let key = key.ok_or(StoreError::Malformed("copy before the guard"))?;
        let copied = async {
            let client = connection(&self.readers.pool).await?;
            let copied = copy(&client, (*key).clone(), to, mark).await;
            if copied.is_err() {
                discard(client);
            }
            copied
        };
        copied.await.map_err(DatabaseFailure::into_error)
    }

    fn meter(&self) -> &Meter {
        &self.meter
    }
}
