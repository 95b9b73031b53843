//! The start: all rows are compared with the sum, and this process takes its seat.

use deadpool_postgres::Client;
use futures_util::TryStreamExt;
use selfsame_crypto::hash::sum::Tally;
use selfsame_store::StoreError;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::pool::{snapshot, stream, transaction};
use crate::process::{NewSeat, ProcessRow, ProcessSeat};
use crate::rows::{entry_row, event_row, place, record_row};
use crate::schema;
use crate::sequence::Sequence;
use crate::sums::RowSums;

/// Compares all rows with the sum of the processes.
///
/// # Errors
/// `Tampered` if a row was removed, put back, moved or changed from outside.
pub(crate) async fn compare(
    client: &Client,
    sums: &RowSums,
    sequence: &Sequence,
) -> DatabaseResult<()> {
    snapshot(client, compared(client, sums, sequence)).await
}

async fn compared(client: &Client, sums: &RowSums, sequence: &Sequence) -> DatabaseResult<()> {
    let mut summed = Tally::default();
    let processes = client.query(schema::PROCESSES, &[]).await?;
    for row in &processes {
        let row = ProcessRow::of(row)?;
        row.check(sums)?;
        summed = summed.plus(row.seat.tally);
    }
    let found = all(client, sums, sequence).await?;
    if found == summed {
        return Ok(());
    }
    tracing::error!(
        rows = found.rows,
        summed = summed.rows,
        "rows of the store were removed, put back, moved or changed from outside"
    );
    Err(DatabaseFailure::Final(StoreError::Tampered(
        "set of records",
    )))
}

/// The sum over all rows.
pub(crate) async fn all(
    client: &Client,
    sums: &RowSums,
    sequence: &Sequence,
) -> DatabaseResult<Tally> {
    let mut tally = Tally::default();
    each(client, schema::ALL_RECORDS, |row| {
        let record = record_row(row, 3)?;
        sequence.follow(record.seq);
        tally.add(sums.record(&place(row, 0)?, &record));
        Ok(())
    })
    .await?;
    each(client, schema::ALL_COUNTER_ROWS, |row| {
        let (tenant, counter): (&str, &str) = (row.try_get(0)?, row.try_get(1)?);
        tally.add(sums.counter(tenant, counter, row.try_get(2)?));
        Ok(())
    })
    .await?;
    each(client, schema::ALL_ENTRIES, |row| {
        let (id, entry) = entry_row(row)?;
        sequence.follow(entry.seq);
        tally.add(sums.entry(id, &entry));
        Ok(())
    })
    .await?;
    each(client, schema::ALL_EVENTS, |row| {
        let event = event_row(row)?;
        tally.add(sums.event(&event.place, event.stamp, event.at));
        Ok(())
    })
    .await?;
    Ok(tally)
}

/// Calls `row` with each row, without holding all of them.
async fn each(
    client: &Client,
    statement: &str,
    mut row: impl FnMut(&Row) -> DatabaseResult<()>,
) -> DatabaseResult<()> {
    let rows = stream(client, statement).await?;
    let mut rows = std::pin::pin!(rows);
    while let Some(found) = rows.try_next().await? {
        row(&found)?;
    }
    Ok(())
}

/// Takes a seat for this process, and the seats of processes that are gone. Returns the seat, and the number of commits
/// of the other processes.
///
/// # Errors
/// `InUse` if this process or another one wants to be alone.
pub(crate) async fn sit(
    client: &Client,
    sums: &RowSums,
    seat: NewSeat,
) -> DatabaseResult<(ProcessSeat, i64)> {
    transaction(client, seated(client, sums, seat)).await
}

async fn seated(
    client: &Client,
    sums: &RowSums,
    new: NewSeat,
) -> DatabaseResult<(ProcessSeat, i64)> {
    let process = new.process;
    // The row of the layout is a lock: only one process at a time takes a seat.
    client.query_one(schema::LOCK_LAYOUT, &[]).await?;
    let others = client
        .query_one(schema::LIVE_PROCESSES, &[&process])
        .await?;
    let (live, is_one_alone): (i64, bool) = (others.try_get(0)?, others.try_get(1)?);
    let commits: i64 = others.try_get(2)?;
    if live > 0 && (new.alone || is_one_alone) {
        return Err(DatabaseFailure::Final(StoreError::InUse(
            "the database".into(),
        )));
    }
    let mut seat = ProcessSeat::new(process);
    let mut gone = Vec::new();
    for row in client
        .query(schema::LOCK_GONE_PROCESSES, &[&process])
        .await?
    {
        let row = ProcessRow::of(&row)?;
        row.check(sums)?;
        seat.tally = seat.tally.plus(row.seat.tally);
        seat.generation = seat.generation.saturating_add(row.seat.generation);
        gone.push(row.seat.process);
    }
    client.execute(schema::DELETE_PROCESSES, &[&gone]).await?;
    add(client, sums, &seat, new.alone).await?;
    Ok((seat, commits))
}

/// Adds the row of a process.
pub(crate) async fn add(
    client: &Client,
    sums: &RowSums,
    seat: &ProcessSeat,
    alone: bool,
) -> DatabaseResult<()> {
    let (sum, mac) = (seat.tally.sum.to_bytes(), seat.mac(sums));
    let (sum, mac) = (&sum[..], &mac[..]);
    let (process, rows, generation) = (&seat.process, &seat.tally.rows, &seat.generation);
    client
        .execute(
            schema::ADD_PROCESS,
            &[process, &sum, rows, generation, &mac, &alone],
        )
        .await?;
    Ok(())
}

/// The database's time, in microseconds since 1970.
pub(crate) async fn clock(client: &Client) -> DatabaseResult<i64> {
    Ok(client.query_one(schema::CLOCK, &[]).await?.try_get(0)?)
}

/// Whether the row of this process is still there, and how many commits it counts.
pub(crate) async fn counted(client: &Client, process: Uuid) -> DatabaseResult<Option<i64>> {
    transaction(client, async {
        // Waits for a transaction of a lost connection that has not ended yet.
        let found = client.query_opt(schema::LOCK_PROCESS, &[&process]).await?;
        found.map(|row| Ok(row.try_get(0)?)).transpose()
    })
    .await
}
