//! The one writer: a thread that drains its whole queue into each transaction, so that one wait for the disk serves
//! all batches that came in meanwhile. There is no timer: a batch that finds the writer idle is written at once.

use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::apply::{Apply, Last};
use super::checkpoint::Checkpoints;
use crate::backend::{Outcome, SealedBatch, Write};
use crate::error::{Result, StoreError};
use crate::meter::{Meter, timed};

/// Batches that may wait; past it callers wait, and past the deadline they are told to come back.
const QUEUE: usize = 1_024;
/// Batches of one transaction at most.
const GROUP: usize = 256;
const DEADLINE: Duration = Duration::from_secs(15);

/// The queue to the writer's thread.
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

struct Job {
    batch: SealedBatch,
    answer: oneshot::Sender<Result<Outcome>>,
}

impl Writer {
    pub(super) fn start(path: &Path, connection: Connection, meter: Arc<Meter>) -> Result<Self> {
        // Moving pages from the log to the file is left to another thread.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let (queue, jobs) = mpsc::channel(QUEUE);
        let last = Last::read(&connection)?;
        let checkpoints = Checkpoints::start(path)?;
        let desk = Desk {
            connection,
            last,
            meter,
            checkpoints,
            full: true,
        };
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || desk.run(jobs))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    pub(super) async fn commit(&self, batch: SealedBatch) -> Result<Outcome> {
        let (answer, answered) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        match timeout(DEADLINE, queue.send(Job { batch, answer })).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(stopped()),
            Err(_) => return Err(StoreError::Busy),
        }
        match timeout(DEADLINE, answered).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(stopped()),
            Err(_) => Err(StoreError::Deadline),
        }
    }
}

impl Drop for Writer {
    /// What was queued is written before the store is gone.
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn stopped() -> StoreError {
    StoreError::Storage("the writer has stopped".to_owned())
}

/// Roughly how many pages a batch writes: its values, and for each write those of a table and its indices.
fn pages(batch: &SealedBatch) -> usize {
    let of = |write: &Write| match write {
        Write::Put { value, .. } | Write::Update { value, .. } => 4 + value.len() / 4_096,
        Write::Enqueue(entry) => 4 + entry.sealed.len() / 4_096,
        Write::Expect(..) => 0,
        _ => 3,
    };
    batch.writes.iter().map(of).sum()
}

/// What the writer's thread works with.
struct Desk {
    connection: Connection,
    last: Last,
    meter: Arc<Meter>,
    checkpoints: Checkpoints,
    full: bool,
}

impl Desk {
    fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut group = Vec::with_capacity(GROUP);
        while jobs.blocking_recv_many(&mut group, GROUP) > 0 {
            let (batches, answers): (Vec<_>, Vec<_>) =
                group.drain(..).map(|job| (job.batch, job.answer)).unzip();
            let pages = batches.iter().map(pages).sum();
            let outcomes = self.group(batches);
            for (answer, outcome) in answers.into_iter().zip(outcomes) {
                // Who no longer waits does not need the answer.
                let _ = answer.send(outcome);
            }
            self.checkpoints.after_commit(&self.connection, pages);
        }
    }

    /// One transaction for all; each batch succeeds or fails on its own.
    fn group(&mut self, batches: Vec<SealedBatch>) -> Vec<Result<Outcome>> {
        let count = batches.len();
        let durable = batches.iter().any(|batch| batch.durable);
        match self.transaction(batches, durable) {
            Ok(outcomes) => outcomes,
            Err(error) => {
                let reason = error.to_string();
                tracing::error!(%reason, "a commit failed");
                self.roll_back();
                (0..count)
                    .map(|_| Err(StoreError::Storage(reason.clone())))
                    .collect()
            }
        }
    }

    fn transaction(
        &mut self,
        batches: Vec<SealedBatch>,
        durable: bool,
    ) -> Result<Vec<Result<Outcome>>> {
        self.synchronise(durable)?;
        self.execute("BEGIN IMMEDIATE")?;
        let outcomes: Vec<_> = batches.into_iter().map(|batch| self.batch(batch)).collect();
        if self.connection.is_autocommit() {
            return Err(StoreError::Storage(
                "the database gave up the transaction".to_owned(),
            ));
        }
        let (committed, took) = timed(|| self.execute("COMMIT"));
        committed?;
        if durable && outcomes.iter().any(Result::is_ok) {
            self.meter.record(took);
        }
        Ok(outcomes)
    }

    fn batch(&mut self, batch: SealedBatch) -> Result<Outcome> {
        let mut apply = Apply::new(&self.connection, &mut self.last, batch.now);
        apply.judge(&batch)?;
        self.connection
            .prepare_cached("SAVEPOINT batch")?
            .execute([])?;
        let written = apply.write(batch.writes);
        if written.is_err() && !self.connection.is_autocommit() {
            self.execute("ROLLBACK TO batch")?;
        }
        if !self.connection.is_autocommit() {
            self.execute("RELEASE batch")?;
        }
        written
    }

    /// FULL waits for the disk at each commit, NORMAL leaves that to the next that does.
    fn synchronise(&mut self, full: bool) -> Result<()> {
        if self.full != full {
            self.execute(if full {
                "PRAGMA synchronous = FULL"
            } else {
                "PRAGMA synchronous = NORMAL"
            })?;
            self.full = full;
        }
        Ok(())
    }

    fn execute(&self, statement: &str) -> Result<()> {
        Ok(self
            .connection
            .prepare_cached(statement)?
            .execute([])
            .map(drop)?)
    }

    fn roll_back(&self) {
        if !self.connection.is_autocommit() && self.execute("ROLLBACK").is_err() {
            tracing::error!("a failed transaction could not be rolled back");
        }
    }
}
