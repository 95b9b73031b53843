//! Restores: all rows of a backup's file, written to an empty database in one transaction. They are counted and hashed
//! on both sides before it commits, so the database has all of them or none.

use deadpool_postgres::Client;
use selfsame_crypto::seal::random_seed;
use selfsame_store::StoreError;
use selfsame_store::backend::{SealedEntry, SealedLetter, StoredEvent};
use selfsame_store::offline::{FileRow, StoreFile, Tell};
use tokio::sync::mpsc;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::address::Address;
use crate::census::{Census, RowCount, census};
use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::guard;
use crate::layout;
use crate::parameters::{CounterColumns, EntryColumns, EventColumns, RecordParameters};
use crate::pool::{LONG, connection, pool, query, transaction};
use crate::process::ProcessSeat;
use crate::rows::{key, sql};
use crate::schema;
use crate::script::Script;
use crate::sequence::Sequence;
use crate::sums::RowSums;

/// The number of rows in one exchange with the database, and of their bytes after which none is added.
const BATCH: usize = 500;
const BATCH_BYTES: usize = 4 << 20;
/// The number of batches that are read ahead.
const AHEAD: usize = 2;

/// Why a backup was not restored. Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// The database has records already, which would be mixed with those of the backup.
    #[error("the database already has records")]
    Occupied,
    /// The rows in the database were not those of the backup.
    #[error("the rows in the database are not those of the backup: {0}")]
    Different(String),
    /// The backup cannot be read, or the database failed.
    #[error(transparent)]
    Store(StoreError),
}

impl From<DatabaseFailure> for RestoreError {
    fn from(failure: DatabaseFailure) -> Self {
        Self::Store(failure.into_error())
    }
}

impl From<StoreError> for RestoreError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// Writes all rows of a backup to a database without records, and tells how many there are of each kind.
///
/// # Errors
/// If the database has records or tables of something else, or one of the two fails: then it is left as it was.
pub async fn restore(
    address: &Address,
    file: StoreFile,
    tell: Tell<'_>,
) -> Result<Vec<RowCount>, RestoreError> {
    let pool = pool(address, 1)?;
    let client = connection(&pool).await?;
    let work = async {
        let begun = client.batch_execute(LONG).await;
        begun.map_err(DatabaseFailure::from)?;
        match layout::empty_tables(&client, &address.schema).await? {
            true => fill(&client, file, tell).await,
            false => Err(RestoreError::Occupied),
        }
    };
    transaction(&client, work).await
}

/// Fills empty tables.
async fn fill(
    client: &Client,
    file: StoreFile,
    tell: Tell<'_>,
) -> Result<Vec<RowCount>, RestoreError> {
    let (sums, generation) = (RowSums::new(file.sum_key().into()), file.generation()?);
    let (sender, mut batches) = mpsc::channel(AHEAD);
    let reader = tokio::task::spawn_blocking(move || read(&file, &sender));
    let loaded = load_all(client, &mut batches, tell).await;
    // The reader ends once its batches have no receiver. It has the file locked until then.
    drop(batches);
    let read = reader.await;
    let given = loaded?;
    read.map_err(|_| StoreError::Storage("the reading of the backup was cut off".to_owned()))??;
    query(client, schema::SET_NEWEST, &[]).await?;
    tell("compared", 0);
    let arrived = census(client, &schema::KEPT_ROWS).await?;
    if let Some(difference) = given.difference(&arrived) {
        return Err(RestoreError::Different(difference));
    }
    seat(client, &sums, sql(generation.unwrap_or_default())).await?;
    Ok(arrived.counts())
}

/// Writes all batches as they come, and counts their rows.
async fn load_all(
    client: &Client,
    batches: &mut mpsc::Receiver<Vec<FileRow>>,
    tell: Tell<'_>,
) -> Result<Census, RestoreError> {
    let mut given = Census::default();
    let mut seen = 0;
    while let Some(batch) = batches.recv().await {
        load(client, &batch).await?;
        batch.iter().for_each(|row| count(&mut given, row));
        seen += batch.len() as u64;
        tell("rows", seen);
    }
    Ok(given)
}

/// Reads the file, batch by batch.
fn read(file: &StoreFile, batches: &mpsc::Sender<Vec<FileRow>>) -> selfsame_store::Result<()> {
    let (mut batch, mut bytes) = (Vec::new(), 0_usize);
    let send = |batch: &mut Vec<FileRow>| {
        let sent = batches.blocking_send(std::mem::take(batch));
        sent.map_err(|_| StoreError::Storage("the database takes no more rows".to_owned()))
    };
    file.rows(|row| {
        bytes = bytes.saturating_add(match &row {
            FileRow::Record(_, sealed, _) => sealed.value.len(),
            FileRow::Entry(entry, ..) => entry.sealed.len(),
            FileRow::Letter(letter) => letter.entry.sealed.len(),
            FileRow::Counter(..) | FileRow::Event(_) => 0,
        });
        batch.push(row);
        if batch.len() < BATCH && bytes < BATCH_BYTES {
            return Ok(());
        }
        bytes = 0;
        send(&mut batch)
    })?;
    send(&mut batch)
}

/// The rows of a batch, as columns.
#[derive(Default)]
struct RowColumns<'a> {
    records: RecordParameters<'a>,
    counters: CounterColumns<'a>,
    entries: EntryColumns<'a>,
    events: EventColumns<'a>,
}

impl<'a> RowColumns<'a> {
    fn add(&mut self, row: &'a FileRow) -> DatabaseResult<()> {
        match row {
            FileRow::Record(place, sealed, tags) => {
                let (key, seq) = (key(place), sealed.seq.cast_signed());
                let new = &mut self.records.added;
                new.place.push(key);
                new.tenant.push(place.tenant.as_str());
                new.kind.push(&place.kind);
                new.id.push(&place.id);
                new.seq.push(seq);
                new.version.push(sealed.version.cast_signed());
                new.expires
                    .push(sealed.expires.map(|at| at.0.cast_signed()));
                new.tags.push(tags);
                new.value.push(&sealed.value);
                self.records.tagged.add(tags, seq, key)?;
            }
            FileRow::Counter(tenant, counter, next) => {
                self.counters.tenant.push(tenant.as_str());
                self.counters.counter.push(counter);
                self.counters.next.push(next.cast_signed());
            }
            FileRow::Entry(entry, seq, head) => self.entry(entry, *seq, *head),
            FileRow::Letter(letter) => {
                self.entry(&letter.entry, letter.seq, false);
                self.buried_last(letter);
            }
            FileRow::Event(event) => {
                self.events.place.push(event.seq.cast_signed());
                self.events.stamp.push(event.stamp.cast_signed());
                self.events.at.push(event.at.0.cast_signed());
                self.events.tenant.push(event.place.tenant.as_str());
                self.events.kind.push(&event.place.kind);
                self.events.id.push(&event.place.id);
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &'a SealedEntry, seq: u64, head: bool) {
        let new = &mut self.entries;
        new.id.push(entry.id.0.cast_signed());
        new.seq.push(seq.cast_signed());
        new.tenant.push(entry.tenant.as_str());
        new.lane.push(&entry.lane);
        new.head.push(head);
        new.not_before.push(entry.not_before.0.cast_signed());
        new.attempts.push(entry.attempts.cast_signed());
        new.created.push(entry.created.0.cast_signed());
        new.sealed.push(&entry.sealed);
        new.buried.push(None);
        new.reason.push(None);
    }

    /// Makes the last entry a dead letter.
    fn buried_last(&mut self, letter: &'a SealedLetter) {
        let new = &mut self.entries;
        if let (Some(buried), Some(reason)) = (new.buried.last_mut(), new.reason.last_mut()) {
            *buried = Some(letter.buried.0.cast_signed());
            *reason = Some(&letter.reason);
        }
    }
}

/// Writes a batch.
async fn load(client: &Client, batch: &[FileRow]) -> DatabaseResult<()> {
    let mut columns = RowColumns::default();
    for row in batch {
        columns.add(row)?;
    }
    let RowColumns {
        records,
        counters,
        entries: new,
        events,
    } = &columns;
    let mut script = Script::default();
    script.records(records);
    script.add(&counters.tenant, schema::ADD_COUNTERS, counters.all());
    let sealed: [&(dyn ToSql + Sync); 3] = [&new.buried, &new.reason, &new.sealed];
    script.add_both(&new.id, schema::LOAD_ENTRIES, new.open_columns(), sealed);
    script.add(&events.place, schema::LOAD_EVENTS, events.all());
    for (statement, parameters) in script.statements() {
        query(client, statement, parameters).await?;
    }
    Ok(())
}

/// Counts a row of the file as the database sends it.
fn count(census: &mut Census, row: &FileRow) {
    match row {
        FileRow::Record(place, sealed, tags) => {
            let (seq, version) = (sealed.seq.to_be_bytes(), sealed.version.to_be_bytes());
            let expires = sealed.expires.map(|at| at.0.to_be_bytes());
            let columns = [
                Some(place.tenant.as_str().as_bytes()),
                Some(place.id.as_bytes()),
                Some(&seq),
                Some(&version),
                expires.as_ref().map(<[u8; 8]>::as_slice),
                Some(tags),
                Some(&sealed.value),
            ];
            census.add("records", &place.kind, &columns);
            census.add_tags(tags, sealed.seq, key(place));
        }
        FileRow::Counter(tenant, counter, next) => {
            let (tenant, next) = (tenant.as_str().as_bytes(), next.to_be_bytes());
            let columns = [Some(tenant), Some(counter.as_bytes()), Some(&next)];
            census.add("counters", "", &columns);
        }
        FileRow::Entry(entry, seq, head) => {
            count_entry(census, entry, &[&seq.to_be_bytes(), &[u8::from(*head)]]);
        }
        FileRow::Letter(letter) => {
            let (seq, buried) = (letter.seq.to_be_bytes(), letter.buried.0.to_be_bytes());
            let state: [&[u8]; 4] = [&seq, &[0], &buried, letter.reason.as_bytes()];
            count_entry(census, &letter.entry, &state);
        }
        FileRow::Event(event) => count_event(census, event),
    }
}

/// `state`: `seq, head`, and `buried, reason` of a dead letter.
fn count_entry(census: &mut Census, entry: &SealedEntry, state: &[&[u8]]) {
    let (id, not_before) = (entry.id.0.to_be_bytes(), entry.not_before.0.to_be_bytes());
    let (attempts, created) = (entry.attempts.to_be_bytes(), entry.created.0.to_be_bytes());
    let state = |at: usize| state.get(at).copied();
    let columns = [
        Some(&id[..]),
        state(0),
        Some(entry.tenant.as_str().as_bytes()),
        Some(&entry.lane),
        state(1),
        Some(&not_before),
        Some(&attempts),
        Some(&created),
        state(2),
        state(3),
        Some(&entry.sealed),
    ];
    census.add("outbox", "", &columns);
}

fn count_event(census: &mut Census, event: &StoredEvent) {
    let (seq, stamp) = (event.seq.to_be_bytes(), event.stamp.to_be_bytes());
    let at = event.at.0.to_be_bytes();
    let columns = [
        Some(&seq[..]),
        Some(&stamp),
        Some(&at),
        Some(event.place.tenant.as_str().as_bytes()),
        Some(event.place.kind.as_bytes()),
        Some(event.place.id.as_bytes()),
    ];
    census.add("events", "", &columns);
}

/// Leaves the sum over all rows as a process would that is gone. The first that starts takes it over.
async fn seat(client: &Client, sums: &RowSums, generation: i64) -> DatabaseResult<()> {
    let mut process = [0; 16];
    process.copy_from_slice(&random_seed()[..16]);
    let seat = ProcessSeat {
        process: Uuid::from_bytes(process),
        tally: guard::all(client, sums, &Sequence::new(0)).await?,
        generation,
    };
    guard::add(client, sums, &seat, false).await?;
    query(client, schema::LEAVE, &[&seat.process]).await?;
    Ok(())
}
