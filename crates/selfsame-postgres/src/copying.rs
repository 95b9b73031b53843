//! Copies: all rows as of one moment, written as ordinary batches to a file that an instance can start from.

use std::path::Path;

use deadpool_postgres::Client;
use futures_util::TryStreamExt;
use selfsame_crypto::frame;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::{Backend, SealedBatch, Write};
use selfsame_store::{Sqlite, StoreError};

use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::pool::{snapshot, stream};
use crate::process::ProcessRow;
use crate::rows::{self, record_row};
use crate::schema;

/// The number of writes in a batch, and of bytes of their values after which none is added.
const BATCH: usize = 500;
const BATCH_BYTES: usize = 4 << 20;

/// Writes all rows to a new file, while commits continue.
pub(crate) async fn copy(
    client: &Client,
    key: SealingKey,
    to: &Path,
    mark: SealedBatch,
) -> DatabaseResult<()> {
    if to.exists() {
        let exists = StoreError::Storage(format!("{} exists", to.display()));
        return Err(exists.into());
    }
    let file = Sqlite::open(to)?;
    let filled = async {
        file.guard(key, false).await?;
        let mut copy = Copy {
            client,
            file: &file,
            now: mark.now,
            writes: Vec::new(),
            bytes: 0,
        };
        snapshot(client, copy.fill()).await?;
        file.commit(mark).await?;
        DatabaseResult::Ok(())
    };
    let filled = filled.await;
    let closed = file.close();
    if filled.is_err() {
        // Half a copy is worse than none.
        std::fs::remove_file(to).map_err(StoreError::from)?;
    }
    filled?;
    Ok(closed?)
}

struct Copy<'a> {
    client: &'a Client,
    file: &'a Sqlite,
    now: UnixTime,
    writes: Vec<Write>,
    bytes: usize,
}

impl Copy<'_> {
    async fn fill(&mut self) -> DatabaseResult<()> {
        let mut generation = 0_u64;
        for row in self.client.query(schema::PROCESSES, &[]).await? {
            let counted = ProcessRow::of(&row)?.seat.generation.cast_unsigned();
            generation = generation.saturating_add(counted);
        }
        // Before there are counters, which it would raise too.
        self.add(Write::Leap(generation), 0).await?;
        self.flush().await?;
        self.records().await?;
        self.counters().await?;
        self.outbox().await?;
        self.events().await
    }

    async fn add(&mut self, write: Write, bytes: usize) -> DatabaseResult<()> {
        self.writes.push(write);
        self.bytes = self.bytes.saturating_add(bytes);
        match self.writes.len() >= BATCH || self.bytes >= BATCH_BYTES {
            true => self.flush().await,
            false => Ok(()),
        }
    }

    async fn flush(&mut self) -> DatabaseResult<()> {
        let batch = SealedBatch {
            now: self.now,
            durable: false,
            writes: std::mem::take(&mut self.writes),
        };
        self.bytes = 0;
        if !batch.writes.is_empty() {
            self.file.commit(batch).await?;
        }
        Ok(())
    }

    async fn records(&mut self) -> DatabaseResult<()> {
        let found = stream(self.client, schema::COPIED_RECORDS).await?;
        let mut found = std::pin::pin!(found);
        while let Some(row) = found.try_next().await? {
            let record = record_row(&row, 3)?;
            let tags = frame::split(&record.tags);
            let tags = tags.ok_or(DatabaseFailure::Final(StoreError::Tampered("list of tags")))?;
            let value: Vec<u8> = row.try_get(7)?;
            let bytes = value.len();
            let put = Write::Put {
                place: rows::place(&row, 0)?,
                version: record.version.cast_unsigned(),
                value,
                tags: tags.into_iter().map(<[u8]>::to_vec).collect(),
                expires: record.expires.map(|at| UnixTime(at.cast_unsigned())),
            };
            self.add(put, bytes).await?;
        }
        self.flush().await
    }

    async fn counters(&mut self) -> DatabaseResult<()> {
        for row in self.client.query(schema::ALL_COUNTER_ROWS, &[]).await? {
            let next: i64 = row.try_get(2)?;
            let tenant = rows::tenant(row.try_get(0)?)?;
            let reserve = Write::Reserve(tenant, row.try_get(1)?, next.cast_unsigned());
            self.add(reserve, 0).await?;
        }
        self.flush().await
    }

    async fn outbox(&mut self) -> DatabaseResult<()> {
        let now = self.now;
        let found = stream(self.client, schema::COPIED_ENTRIES).await?;
        let mut found = std::pin::pin!(found);
        while let Some(row) = found.try_next().await? {
            let (entry, buried): (_, Option<i64>) = (rows::entry(&row)?, row.try_get(9)?);
            let (id, bytes) = (entry.id, entry.sealed.len());
            self.add(Write::Enqueue(entry), bytes).await?;
            if let Some(at) = buried {
                // A condition of a batch is checked before its writes, so the entry must be there before.
                self.flush().await?;
                self.now = UnixTime(at.cast_unsigned());
                let reason: Option<String> = row.try_get(8)?;
                self.add(Write::Bury(id, reason.unwrap_or_default()), 0)
                    .await?;
                self.flush().await?;
                self.now = now;
            }
        }
        self.flush().await
    }

    /// Their order stays, and their positions begin with one: a reader with a cursor is told to begin anew.
    async fn events(&mut self) -> DatabaseResult<()> {
        let now = self.now;
        let found = stream(self.client, schema::COPIED_EVENTS).await?;
        let mut found = std::pin::pin!(found);
        while let Some(row) = found.try_next().await? {
            let event = rows::event_row(&row)?;
            let at = UnixTime(event.at.cast_unsigned());
            if self.now != at {
                self.flush().await?;
                self.now = at;
            }
            self.add(Write::Event(event.place, event.stamp.cast_unsigned()), 0)
                .await?;
        }
        self.flush().await?;
        self.now = now;
        Ok(())
    }
}
