//! One transaction, in two exchanges with the database: what a group touches is read and locked, then everything that
//! has changed is written and committed.

use std::collections::HashSet;

use deadpool_postgres::Client;
use futures_util::future::{BoxFuture, FutureExt, TryFutureExt, join_all};
use selfsame_store::Result;
use selfsame_store::backend::{BatchOutcome, OutboxId, SealedBatch, Write};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::group::{CounterName, Doomed, FoundRows, JudgedGroup, RowChanges, Touched, judge};
use crate::parameters::{CounterColumns, EntryParameters, EventColumns, RecordParameters};
use crate::pool::in_time;
use crate::process::ProcessSeat;
use crate::rows::{LaneKey, entry_row, record_row, tenant_key};
use crate::schema;
use crate::script::{Parameters, Script};
use crate::sequence::Sequence;
use crate::sums::RowSums;
use crate::sweep;

/// What a transaction needs beside its batches.
pub(crate) struct Transaction<'a> {
    pub(crate) client: &'a Client,
    pub(crate) sums: &'a RowSums,
    pub(crate) sequence: &'a Sequence,
    /// Whether other processes may use the records.
    pub(crate) is_shared: bool,
}

/// A transaction whose commit has been sent.
#[derive(Debug)]
pub(crate) struct SentCommit {
    pub(crate) answers: Vec<Result<BatchOutcome>>,
    /// The row of this process if the commit takes effect.
    pub(crate) seat: ProcessSeat,
    /// Whether no crash of the database loses it.
    pub(crate) is_durable: bool,
}

/// How a transaction went.
#[derive(Debug)]
pub(crate) enum CommitOutcome {
    Committed(SentCommit),
    /// No batch changed anything, so nothing was written.
    Unchanged(Vec<Result<BatchOutcome>>),
    /// The connection was lost after the commit was sent: it may or may not have taken effect.
    Unknown(SentCommit, DatabaseFailure),
}

impl Transaction<'_> {
    /// Writes a group.
    ///
    /// # Errors
    /// If nothing was written. The connection must not be used again unless the failure is `Raced`.
    pub(crate) async fn write(
        &self,
        batches: &[SealedBatch],
        seat: &ProcessSeat,
    ) -> DatabaseResult<CommitOutcome> {
        let doomed = match batches {
            [batch] => in_time(sweep::look(self.client, batch)).await?,
            _ => Doomed::default(),
        };
        let touched = Touched::of(batches, &doomed);
        let rows = match in_time(self.lock(&touched, seat)).await {
            Ok(rows) => rows,
            Err(failure) => return Err(self.roll_back(failure).await),
        };
        let JudgedGroup { answers, changes } = judge(batches, &doomed, rows, self.sequence);
        if changes.is_empty() {
            in_time(self.plain("ROLLBACK")).await?;
            return Ok(CommitOutcome::Unchanged(answers));
        }
        let seat = seat.after(changes.tally(self.sums), changes.leap);
        let is_durable = batches.iter().any(|batch| batch.durable);
        let mut sent = SentCommit {
            answers,
            seat,
            is_durable,
        };
        match in_time(self.change(&changes, &sent.seat, is_durable)).await {
            Ok(heads) => {
                add_heads(&mut sent.answers, batches, &heads);
                Ok(CommitOutcome::Committed(sent))
            }
            Err(failure @ DatabaseFailure::Lost(_)) => Ok(CommitOutcome::Unknown(sent, failure)),
            Err(failure) => Err(self.roll_back(failure).await),
        }
    }

    async fn roll_back(&self, failure: DatabaseFailure) -> DatabaseFailure {
        match failure {
            DatabaseFailure::Lost(_) => failure,
            _ => match in_time(self.plain("ROLLBACK")).await {
                Ok(_) => failure,
                Err(lost) => lost,
            },
        }
    }

    /// Begins a transaction; reads and locks the rows. All statements are sent at once.
    async fn lock(&self, touched: &Touched<'_>, seat: &ProcessSeat) -> DatabaseResult<FoundRows> {
        let places: Vec<_> = touched.records.keys().copied().collect();
        let ids: Vec<_> = touched
            .entries
            .iter()
            .map(|id| id.0.cast_signed())
            .collect();
        let lanes: Vec<&[u8]> = touched.lanes.iter().map(|lane| &lane[..]).collect();
        let tenants: Vec<_> = touched.counters.iter().map(|name| &*name.tenant).collect();
        let counters: Vec<_> = touched.counters.iter().map(|name| &*name.counter).collect();
        let keys: Vec<_> = match self.is_shared {
            true => touched.tenants.iter().map(|t| tenant_key(t)).collect(),
            false => Vec::new(),
        };
        let process: [&(dyn ToSql + Sync); 1] = [&seat.process];
        let key: [&(dyn ToSql + Sync); 1] = [&keys];
        let place: [&(dyn ToSql + Sync); 1] = [&places];
        let id: [&(dyn ToSql + Sync); 1] = [&ids];
        let lane: [&(dyn ToSql + Sync); 1] = [&lanes];
        let counter: [&(dyn ToSql + Sync); 2] = [&tenants, &counters];
        let mut statements: Vec<(&str, Parameters<'_>)> = vec![(schema::LOCK_PROCESS, &process)];
        let wanted = [
            (places.is_empty(), schema::LOCK_RECORDS, &place[..]),
            (keys.is_empty(), schema::LOCK_KEYS, &key[..]),
            (ids.is_empty(), schema::LOCK_ENTRIES, &id[..]),
            (lanes.is_empty(), schema::LOCK_HEADS, &lane[..]),
            (lanes.is_empty(), schema::NEWEST_IN_LANES, &lane[..]),
            (tenants.is_empty(), schema::LOCK_COUNTERS, &counter[..]),
        ];
        let wanted = wanted.into_iter().filter(|(is_empty, ..)| !is_empty);
        statements.extend(wanted.map(|(_, statement, parameters)| (statement, parameters)));
        let found = self.exchange("BEGIN", &statements, None).await?;
        let mut rows = FoundRows {
            process: self.is_shared.then_some(seat.process),
            keys: self.is_shared.then(HashSet::new),
            ..FoundRows::default()
        };
        for ((statement, _), found) in statements.iter().zip(&found) {
            match *statement {
                schema::LOCK_PROCESS => same_seat(found, seat)?,
                statement => self.take(statement, found, &mut rows)?,
            }
        }
        Ok(rows)
    }

    fn take(&self, statement: &str, found: &[Row], rows: &mut FoundRows) -> DatabaseResult<()> {
        for row in found {
            match statement {
                schema::LOCK_RECORDS => {
                    rows.records.insert(row.try_get(0)?, record_row(row, 1)?);
                }
                schema::LOCK_KEYS => {
                    let key = row.try_get(0)?;
                    rows.keys.get_or_insert_default().insert(key);
                }
                schema::LOCK_ENTRIES => {
                    let (id, entry) = entry_row(row)?;
                    rows.entries.insert(id, entry);
                }
                schema::LOCK_HEADS => {
                    let lane = LaneKey::try_from(row.try_get::<_, &[u8]>(0)?);
                    rows.headed.extend(lane);
                }
                schema::NEWEST_IN_LANES => {
                    let newest: Option<i64> = row.try_get(0)?;
                    self.sequence.follow(newest.unwrap_or(0));
                }
                _ => {
                    let name = CounterName {
                        tenant: row.try_get(0)?,
                        counter: row.try_get(1)?,
                    };
                    rows.counters.insert(name, row.try_get(2)?);
                }
            }
        }
        Ok(())
    }

    /// Sends all statements at once, between `first` and `last`, and then waits for their answers.
    async fn exchange(
        &self,
        first: &str,
        statements: &[(&str, Parameters<'_>)],
        last: Option<&str>,
    ) -> DatabaseResult<Vec<Vec<Row>>> {
        // Statements that this connection has not prepared yet are prepared before, all at once.
        let prepared = statements.iter();
        let prepared = prepared.map(|(statement, _)| self.client.prepare_cached(statement));
        let mut ready = Vec::with_capacity(statements.len());
        for prepared in join_all(prepared).await {
            ready.push(prepared?);
        }
        let mut sent: Vec<BoxFuture<'_, DatabaseResult<Vec<Row>>>> = Vec::new();
        if !first.is_empty() {
            sent.push(self.plain(first).boxed());
        }
        for (prepared, (_, parameters)) in ready.iter().zip(statements) {
            let answer = self.client.query(prepared, parameters);
            sent.push(answer.map_err(DatabaseFailure::from).boxed());
        }
        if let Some(last) = last {
            sent.push(self.plain(last).boxed());
        }
        let answers = join_all(sent).await;
        let mut rows = Vec::with_capacity(answers.len());
        for answer in answers {
            rows.push(answer?);
        }
        if !first.is_empty() {
            rows.remove(0);
        }
        Ok(rows)
    }

    async fn plain(&self, statement: &str) -> DatabaseResult<Vec<Row>> {
        self.client.batch_execute(statement).await?;
        Ok(Vec::new())
    }

    /// Writes the changes and commits. Returns the entries that became the first of their lanes.
    async fn change(
        &self,
        changes: &RowChanges<'_>,
        seat: &ProcessSeat,
        is_durable: bool,
    ) -> DatabaseResult<Vec<OutboxId>> {
        let records = RecordParameters::of(changes)?;
        let entries = EntryParameters::of(changes);
        let [new, counters, gone] = CounterColumns::of(changes);
        let events = EventColumns::of(changes);
        let told = i64::try_from(changes.events.len()).unwrap_or(i64::MAX);
        let gone_events: Vec<i64> = changes.gone_events.iter().map(|event| event.seq).collect();
        let lanes: Vec<&[u8]> = changes.disturbed.iter().map(|lane| &lane[..]).collect();
        let (sum, mac) = (seat.tally.sum.to_bytes(), seat.mac(self.sums));
        let (sum, mac) = (&sum[..], &mac[..]);
        let mut script = Script::default();
        script.records(&records);
        script.entries(&entries, &seat.process);
        script.add(&lanes, schema::PROMOTE, [&lanes, &seat.process]);
        script.add(
            &gone.tenant,
            schema::DELETE_COUNTERS,
            [&gone.tenant, &gone.counter],
        );
        script.add(&new.tenant, schema::ADD_COUNTERS, new.all());
        script.add(&counters.tenant, schema::SET_COUNTERS, counters.all());
        script.add(&gone_events, schema::DELETE_EVENTS, [&gone_events]);
        script.add_both(&events.place, schema::INSERT_EVENTS, [&told], events.all());
        let row = &seat.tally.rows;
        script.add(
            &[()],
            schema::SET_PROCESS,
            [&seat.process, &sum, row, &seat.generation, &mac],
        );
        let first = match is_durable {
            true => "",
            false => "SET LOCAL synchronous_commit = off",
        };
        let statements = script.statements();
        let found = self.exchange(first, &statements, Some("COMMIT")).await?;
        let promoted = statements
            .iter()
            .zip(&found)
            .filter(|((statement, _), _)| *statement == schema::PROMOTE);
        let ids = promoted.flat_map(|(_, rows)| rows).map(|row| {
            let id: i64 = row.try_get(0)?;
            Ok(OutboxId(id.cast_unsigned()))
        });
        ids.collect()
    }
}

/// Whether the row of this process is as it left it. If it is gone, another process took this one for dead.
fn same_seat(found: &[Row], seat: &ProcessSeat) -> DatabaseResult<()> {
    let generation: Option<i64> = match found.first() {
        Some(row) => Some(row.try_get(0)?),
        None => None,
    };
    match generation {
        Some(found) if found == seat.generation => Ok(()),
        Some(found) => Err(DatabaseFailure::SetBack(found)),
        None => Err(DatabaseFailure::Unseated),
    }
}

/// Tells each batch which of the entries that it enqueued became the first of their lanes.
fn add_heads(answers: &mut [Result<BatchOutcome>], batches: &[SealedBatch], heads: &[OutboxId]) {
    if heads.is_empty() {
        return;
    }
    for (answer, batch) in answers.iter_mut().zip(batches) {
        let Ok(outcome) = answer else { continue };
        for write in &batch.writes {
            if let Write::Enqueue(entry) = write
                && heads.contains(&entry.id)
                && !outcome.heads.contains(&entry.id)
            {
                outcome.heads.push(entry.id);
            }
        }
    }
}
