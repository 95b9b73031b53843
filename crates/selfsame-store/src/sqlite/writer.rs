//! The one writer: a desk at which one transaction at a time is written, and a thread that drains its whole queue into
//! each, so that one wait for the disk serves all batches that came in meanwhile. There is no timer.
//!
//! A batch that comes alone is written by who brings it, which saves waking a thread and being woken by it. While
//! batches come together, all go by the queue, so that nobody but the writer waits for the disk.
//!
//! A deferred batch that comes alone is held back: its transaction stays open for the next batch, most of whose pages
//! are the same, and is committed with it, or after a moment. Until then it is read at the desk; before another
//! connection reads, it is committed.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::apply::{Apply, Last};
use super::checkpoint::{Checkpoints, Limits};
use super::sums::{self, Sums};
use crate::backend::{Outcome, SealedBatch, Write};
use crate::error::{Result, StoreError};
use crate::meter::{Meter, timed};

/// Batches that may wait; past it callers wait, and past the deadline they are told to come back.
const QUEUE: usize = 1_024;
/// Batches of one transaction at most.
const GROUP: usize = 256;
const DEADLINE: Duration = Duration::from_secs(15);
/// Transactions of a single batch after which batches count as coming alone again.
const ALONE_AFTER: u32 = 8;
/// A disk that takes longer is never waited for where requests are served.
const QUICK: Duration = Duration::from_millis(1);
/// So long a batch is held back.
const MOMENT: Duration = Duration::from_millis(20);
/// Batches that are held back together, and pages of each.
const HELD: usize = 16;
const HELD_PAGES: usize = 32;

/// 8 MiB and 64 MiB.
const LOG: Limits = Limits {
    every: 2_048,
    log: 16_384,
};

/// The desk, and the queue to the thread that waits at it.
pub(super) struct Writer {
    desk: Arc<Desk>,
    queue: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

enum Job {
    Write(SealedBatch, Answer),
    /// What is held back is committed.
    Publish,
}

type Answer = oneshot::Sender<Result<Outcome>>;

impl Writer {
    pub(super) fn start(path: &Path, connection: Connection, meter: Arc<Meter>) -> Result<Self> {
        // Moving pages from the log to the file is left to another thread.
        connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        let (queue, jobs) = mpsc::channel(QUEUE);
        let last = Last::read(&connection)?;
        let checkpoints = Checkpoints::start(path, LOG)?;
        let (published, generation) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let desk = Arc::new(Desk {
            book: Mutex::new(Book {
                connection,
                last,
                meter: meter.clone(),
                checkpoints,
                pages: 0,
                full: true,
                held: Vec::new(),
                published: published.clone(),
                sums: None,
                generation: generation.clone(),
                sealed_at: 0,
            }),
            meter,
            published,
            generation,
            crowded: AtomicU32::new(0),
            read: AtomicBool::new(false),
            holds: AtomicBool::new(false),
        });
        let at = desk.clone();
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || at.serve(jobs))?;
        Ok(Self {
            desk,
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// The writer's connection for a short read, if nobody writes or waits to.
    pub(super) fn resting(&self) -> Option<Resting<'_>> {
        self.desk.resting(self.queue.as_ref()?)
    }

    /// Commits what is held back, so that other connections see it.
    pub(super) fn publish(&self) {
        self.desk.publish();
    }

    /// Compares all rows with their sum, and keeps it from now on. Done where nobody waits, since it may take long.
    pub(super) async fn guard(&self, sums: Sums, kept: bool) -> Result<()> {
        let desk = self.desk.clone();
        tokio::task::spawn_blocking(move || desk.book().guard(sums, kept))
            .await
            .map_err(|_| stopped())?
    }

    /// How many commits are durable, if they are counted.
    pub(super) fn generation(&self) -> Option<u64> {
        let generation = self.desk.generation.load(Ordering::Relaxed);
        (generation > 0).then_some(generation)
    }

    /// What keeps the sum over all rows, if it is kept.
    pub(super) fn sums(&self) -> Option<Sums> {
        self.desk.book().sums.clone()
    }

    pub(super) async fn commit(&self, batch: SealedBatch) -> Result<Outcome> {
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        let batch = match self.desk.alone(batch, queue) {
            Ok(outcome) => return outcome,
            Err(batch) => batch,
        };
        let (answer, answered) = oneshot::channel();
        match timeout(DEADLINE, queue.send(Job::Write(batch, answer))).await {
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

/// Where transactions are written, one at a time.
struct Desk {
    book: Mutex<Book>,
    meter: Arc<Meter>,
    /// Above zero while batches come together.
    crowded: AtomicU32,
    /// Whether somebody reads at the desk, which takes microseconds.
    read: AtomicBool,
    /// Whether something is held back.
    holds: AtomicBool,
    /// How often something that was held back was committed.
    published: Arc<AtomicU64>,
    /// How many commits are durable; none while they are not counted.
    generation: Arc<AtomicU64>,
}

/// The writer's connection between two transactions, for who holds this. It has what was written last at hand, where
/// other connections first drop what they know and read it again.
pub(super) struct Resting<'a> {
    book: MutexGuard<'a, Book>,
    read: &'a AtomicBool,
}

impl Resting<'_> {
    pub(super) fn connection(&self) -> &Connection {
        &self.book.connection
    }
}

impl Drop for Resting<'_> {
    fn drop(&mut self) {
        self.read.store(false, Ordering::Release);
    }
}

impl Desk {
    /// Writes the batch here and now if nobody else writes or waits, else gives it back.
    fn alone(
        &self,
        batch: SealedBatch,
        queue: &mpsc::Sender<Job>,
    ) -> std::result::Result<Result<Outcome>, SealedBatch> {
        let waiting = || queue.capacity() < queue.max_capacity();
        let slow = batch.durable && self.meter.last() > QUICK;
        if slow || self.crowded.load(Ordering::Relaxed) > 0 || waiting() {
            return Err(batch);
        }
        let Some(mut book) = self.free() else {
            self.crowded.store(ALONE_AFTER, Ordering::Relaxed);
            return Err(batch);
        };
        if book.checkpoints.are_behind() {
            drop(book);
            return Err(batch);
        }
        let hold = !batch.durable && self.meter.last() <= QUICK && pages(&batch) <= HELD_PAGES;
        let outcome = book.group(vec![batch], hold).pop();
        if self.note(&book) {
            publish_later(queue.downgrade(), self.published.clone());
        }
        book.turn_pages();
        if waiting() {
            self.crowded.store(ALONE_AFTER, Ordering::Relaxed);
        }
        Ok(outcome.unwrap_or_else(|| Err(stopped())))
    }

    /// The book, if nobody writes in it. Who reads in it is soon done.
    fn free(&self) -> Option<MutexGuard<'_, Book>> {
        match self.book.try_lock() {
            Ok(book) => Some(book),
            Err(TryLockError::WouldBlock) if self.read.load(Ordering::Acquire) => Some(self.book()),
            Err(_) => None,
        }
    }

    fn resting(&self, queue: &mpsc::Sender<Job>) -> Option<Resting<'_>> {
        let waiting = queue.capacity() < queue.max_capacity();
        if waiting || self.crowded.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let book = self.book.try_lock().ok()?;
        if !book.connection.is_autocommit() && book.held.is_empty() {
            return None;
        }
        self.read.store(true, Ordering::Release);
        Some(Resting {
            book,
            read: &self.read,
        })
    }

    /// The thread: one transaction for all that is queued, again and again.
    fn serve(&self, mut jobs: mpsc::Receiver<Job>) {
        let mut group = Vec::with_capacity(GROUP);
        while jobs.blocking_recv_many(&mut group, GROUP) > 0 {
            let (batches, answers) = self.sort(&mut group);
            if batches.is_empty() {
                continue;
            }
            let crowded = match self.crowded.load(Ordering::Relaxed) {
                _ if batches.len() > 1 => ALONE_AFTER,
                before => before.saturating_sub(1),
            };
            self.crowded.store(crowded, Ordering::Relaxed);
            let mut book = self.book();
            let outcomes = book.group(batches, false);
            self.note(&book);
            drop(book);
            for (answer, outcome) in answers.into_iter().zip(outcomes) {
                // Who no longer waits does not need the answer.
                let _ = answer.send(outcome);
            }
            self.book().turn_pages();
        }
        self.publish();
    }

    /// The batches among the jobs; what else is to be done is done.
    fn sort(&self, jobs: &mut Vec<Job>) -> (Vec<SealedBatch>, Vec<Answer>) {
        let (mut batches, mut answers) = (Vec::with_capacity(jobs.len()), Vec::new());
        for job in jobs.drain(..) {
            match job {
                Job::Write(batch, answer) => {
                    batches.push(batch);
                    answers.push(answer);
                }
                Job::Publish => self.publish(),
            }
        }
        (batches, answers)
    }

    /// Commits what is held back. Where that fails it stays held back, until the next commit.
    fn publish(&self) {
        if !self.holds.load(Ordering::Acquire) {
            return;
        }
        let mut book = self.book();
        if let Err(error) = book.publish() {
            tracing::error!(%error, "what was held back could not be committed");
        }
        self.note(&book);
    }

    /// Notes whether the book holds something back; says whether it did not until now.
    fn note(&self, book: &Book) -> bool {
        let holds = !book.held.is_empty();
        !self.holds.swap(holds, Ordering::AcqRel) && holds
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // A transaction that panicked is rolled back before the next begins.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What transactions are written with.
struct Book {
    connection: Connection,
    last: Last,
    meter: Arc<Meter>,
    checkpoints: Checkpoints,
    /// Written since the checkpoints were told, roughly.
    pages: usize,
    full: bool,
    /// What the open transaction has, to be written again should it fail with another batch.
    held: Vec<SealedBatch>,
    published: Arc<AtomicU64>,
    /// What keeps the sum over all rows.
    sums: Option<Sums>,
    generation: Arc<AtomicU64>,
    /// How many rows had changed at the commit that was counted last.
    sealed_at: u64,
}

impl Book {
    /// One transaction for all, together with what is held back; each batch succeeds or fails on its own. A batch that
    /// is alone may be held back too.
    fn group(&mut self, batches: Vec<SealedBatch>, hold: bool) -> Vec<Result<Outcome>> {
        let count = batches.len();
        self.pages += batches.iter().map(pages).sum::<usize>();
        let durable = batches.iter().any(|batch| batch.durable);
        match self.transaction(batches, durable, hold) {
            Ok(outcomes) => outcomes,
            Err(error) => {
                tracing::error!(reason = %error, "a commit failed");
                self.roll_back();
                (0..count).map(|_| Err(error.again())).collect()
            }
        }
    }

    fn transaction(
        &mut self,
        batches: Vec<SealedBatch>,
        durable: bool,
        hold: bool,
    ) -> Result<Vec<Result<Outcome>>> {
        self.begin(durable || hold)?;
        let outcomes = match <[SealedBatch; 1]>::try_from(batches) {
            Ok([batch]) => {
                if let Err(refused) = self.apply(&batch).judge(&batch) {
                    if self.held.is_empty() {
                        self.roll_back();
                    }
                    return Ok(vec![Err(refused)]);
                }
                let again = (hold && self.held.len() < HELD).then(|| batch.clone());
                let outcome = self.apply(&batch).write(batch.writes)?;
                if let Some(batch) = again {
                    self.held.push(batch);
                    return Ok(vec![Ok(outcome)]);
                }
                vec![Ok(outcome)]
            }
            Err(batches) => {
                let each = batches.into_iter().map(|batch| self.batch(batch));
                each.collect()
            }
        };
        let durable = durable && outcomes.iter().any(Result::is_ok);
        match self.commit(durable) {
            Ok(()) => Ok(outcomes),
            // What made the database give up says more than that it did.
            Err(error) => Err(outcomes
                .into_iter()
                .find_map(|outcome| outcome.err().filter(StoreError::is_full))
                .unwrap_or(error)),
        }
    }

    /// Begins a transaction, or goes on with the one that is held open.
    fn begin(&mut self, durable: bool) -> Result<()> {
        if !self.held.is_empty() && !self.connection.is_autocommit() {
            return Ok(());
        }
        self.roll_back();
        if self.held.is_empty() {
            self.synchronise(durable)?;
            self.execute("BEGIN IMMEDIATE")?;
        }
        Ok(())
    }

    fn commit(&mut self, durable: bool) -> Result<()> {
        if self.connection.is_autocommit() {
            let reason = "the database gave up the transaction";
            return Err(StoreError::Storage(reason.to_owned()));
        }
        self.seal()?;
        let (committed, took) = timed(|| self.execute("COMMIT"));
        committed?;
        self.count()?;
        if durable || !self.held.is_empty() {
            self.meter.record(took);
        }
        if !self.held.is_empty() {
            self.held.clear();
            self.published.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Counts the commit that follows, if it changes anything.
    fn seal(&mut self) -> Result<()> {
        if self.sums.is_some() && self.connection.total_changes() != self.sealed_at {
            Sums::seal(&self.connection)?;
            self.sealed_at = self.connection.total_changes();
        }
        Ok(())
    }

    /// Notes how many commits the disk has for certain: what did not wait for it may be lost with the power.
    fn count(&self) -> Result<()> {
        if self.sums.is_some() && self.full {
            let generation = sums::generation(&self.connection)?;
            self.generation.store(generation, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Compares the rows with their sum, and keeps it from now on. The start is a commit of its own, so that all before
    /// it is durable.
    fn guard(&mut self, sums: Sums, kept: bool) -> Result<()> {
        self.publish()?;
        self.synchronise(true)?;
        sums.keep(&self.connection)?;
        sums.begin(&mut self.connection, kept)?;
        Sums::seal(&self.connection)?;
        self.sealed_at = self.connection.total_changes();
        self.sums = Some(sums);
        self.count()
    }

    /// Commits what is held back.
    fn publish(&mut self) -> Result<()> {
        if self.held.is_empty() {
            return Ok(());
        }
        self.begin(true)?;
        let published = self.commit(true);
        if published.is_err() {
            self.roll_back();
        }
        published
    }

    fn apply(&mut self, batch: &SealedBatch) -> Apply<'_> {
        Apply::new(&self.connection, &mut self.last, batch.now)
    }

    /// A batch that is not alone in its transaction can be undone by itself.
    fn batch(&mut self, batch: SealedBatch) -> Result<Outcome> {
        self.apply(&batch).judge(&batch)?;
        self.execute("SAVEPOINT batch")?;
        let written = self.apply(&batch).write(batch.writes);
        if written.is_err() && !self.connection.is_autocommit() {
            self.execute("ROLLBACK TO batch")?;
        }
        if !self.connection.is_autocommit() {
            self.execute("RELEASE batch")?;
        }
        written
    }

    /// Tells the checkpoints what was written.
    fn turn_pages(&mut self) {
        if !self.held.is_empty() {
            return;
        }
        let pages = std::mem::take(&mut self.pages);
        self.checkpoints.after_commit(&self.connection, pages);
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

    /// Undoes the transaction, and writes again what was held back in it.
    fn roll_back(&mut self) {
        if !self.connection.is_autocommit() && self.execute("ROLLBACK").is_err() {
            tracing::error!("a failed transaction could not be rolled back");
        }
        let held = std::mem::take(&mut self.held);
        if let Err(error) = self.hold_again(&held) {
            tracing::error!(%error, "what was held back is lost");
        } else {
            self.held = held;
        }
    }

    fn hold_again(&mut self, held: &[SealedBatch]) -> Result<()> {
        if held.is_empty() {
            return Ok(());
        }
        self.synchronise(true)?;
        self.execute("BEGIN IMMEDIATE")?;
        for batch in held {
            self.apply(batch).write(batch.writes.clone())?;
        }
        Ok(())
    }
}

/// Asks the writer after a moment to commit what is held back now, unless that was done meanwhile.
fn publish_later(queue: mpsc::WeakSender<Job>, published: Arc<AtomicU64>) {
    let before = published.load(Ordering::Relaxed);
    tokio::spawn(async move {
        tokio::time::sleep(MOMENT).await;
        if published.load(Ordering::Relaxed) == before
            && let Some(queue) = queue.upgrade()
        {
            // Full: whoever is served next has it committed.
            let _ = queue.try_send(Job::Publish);
        }
    });
}
