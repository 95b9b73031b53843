//! Copies: all rows as of one moment, in a file that an instance can start from.

use std::path::Path;
use std::sync::Arc;

use deadpool_postgres::Client;
use futures_util::TryStreamExt;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::SealedBatch;
use selfsame_store::transfer::{Burial, NewFile, StoredRow};
use selfsame_store::{Result, StoreError};
use tokio::sync::mpsc;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::failure::{Attempt, Failure};
use crate::process::ProcessRow;
use crate::rows::{self, record_row};
use crate::schema;

/// The number of rows that wait to be written to the file.
const AHEAD: usize = 256;

/// Writes all rows to a new file, while commits continue.
pub(crate) async fn copy(
    client: &Client,
    key: Arc<SealingKey>,
    to: &Path,
    mark: SealedBatch,
) -> Attempt<()> {
    client
        .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
        .await?;
    let copied = snapshot(client, key, to, mark).await;
    client.batch_execute("ROLLBACK").await?;
    copied
}

async fn snapshot(
    client: &Client,
    key: Arc<SealingKey>,
    to: &Path,
    mark: SealedBatch,
) -> Attempt<()> {
    let mut generation = 0_u64;
    for row in client.query(schema::PROCESSES, &[]).await? {
        let counted = ProcessRow::of(&row)?.seat.generation.cast_unsigned();
        generation = generation.saturating_add(counted);
    }
    let (sender, receiver) = mpsc::channel(AHEAD);
    let path = to.to_owned();
    let writing =
        tokio::task::spawn_blocking(move || write(&path, key, receiver, generation, mark));
    let read = all(client, &sender).await;
    if read.is_err() {
        // Without its end, the file is removed.
        drop(sender);
        let _ = writing.await;
        return read;
    }
    let ended = sender.send(None).await;
    drop(sender);
    let written = writing.await;
    let written = written.map_err(|_| cut_off())?;
    written?;
    ended.map_err(|_| cut_off())
}

fn cut_off() -> Failure {
    Failure::Final(StoreError::Storage("a copy was cut off".to_owned()))
}

type Rows = mpsc::Sender<Option<StoredRow>>;

/// Writes the file. `None` is the end of the rows.
#[allow(clippy::too_many_arguments, reason = "a thread's whole work")]
fn write(
    path: &Path,
    key: Arc<SealingKey>,
    mut rows: mpsc::Receiver<Option<StoredRow>>,
    generation: u64,
    mark: SealedBatch,
) -> Result<()> {
    let mut file = NewFile::create(path, key)?;
    while let Some(row) = rows.blocking_recv() {
        match row {
            Some(row) => file.add(row)?,
            None => return file.finish(generation, mark),
        }
    }
    file.abandon()?;
    Err(StoreError::Storage("a copy was cut off".to_owned()))
}

async fn all(client: &Client, rows: &Rows) -> Attempt<()> {
    each(client, schema::COPIED_RECORDS, rows, |row| {
        let record = record_row(row, 3)?;
        Ok(StoredRow::Record {
            place: rows::place(row, 0)?,
            seq: record.seq.cast_unsigned(),
            version: record.version.cast_unsigned(),
            expires: record.expires.map(|at| UnixTime(at.cast_unsigned())),
            tags: record.tags,
            value: row.try_get(7)?,
        })
    })
    .await?;
    each(client, schema::ALL_COUNTER_ROWS, rows, |row| {
        let next: i64 = row.try_get(2)?;
        Ok(StoredRow::Counter {
            tenant: rows::tenant(row.try_get(0)?)?,
            counter: row.try_get(1)?,
            next: next.cast_unsigned(),
        })
    })
    .await?;
    each(client, schema::COPIED_ENTRIES, rows, |row| {
        let (seq, reason, at): (i64, Option<String>, Option<i64>) =
            (row.try_get(7)?, row.try_get(8)?, row.try_get(9)?);
        Ok(StoredRow::Entry {
            entry: rows::entry(row)?,
            seq: seq.cast_unsigned(),
            buried: at.map(|at| Burial {
                at: UnixTime(at.cast_unsigned()),
                reason: reason.unwrap_or_default(),
            }),
        })
    })
    .await?;
    each(client, schema::ALL_EVENTS, rows, |row| {
        Ok(StoredRow::Event(rows::event_row(row)?.into()))
    })
    .await
}

async fn each(
    client: &Client,
    statement: &str,
    rows: &Rows,
    map: impl Fn(&Row) -> Attempt<StoredRow>,
) -> Attempt<()> {
    let none: [&(dyn ToSql + Sync); 0] = [];
    let found = client.query_raw(statement, none).await?;
    let mut found = std::pin::pin!(found);
    while let Some(row) = found.try_next().await? {
        let sent = rows.send(Some(map(&row)?)).await;
        sent.map_err(|_| cut_off())?;
    }
    Ok(())
}
