//! The only writer: a desk, where one transaction at a time is written, and a thread that takes the whole queue into
//! each transaction. So one wait for the disk serves all batches that arrived meanwhile. There is no timer.
//!
//! A batch that arrives alone is written by the calling thread, which saves waking two threads. While batches arrive
//! together, all go through the queue, so that only the writer thread waits for the disk.
//!
//! A deferred batch that arrives alone is held back: its transaction stays open for the next batch, which mostly
//! changes the same pages, and is committed with it or after a short time. Until then it can be read at the desk; it is
//! committed before another connection reads.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::apply::{Apply, Last};
use super::checkpoint::{Checkpoints, LogLimits};
use super::page_cache::PageCache;
use super::sums::{KeptSum, Sums};
use crate::backend::{BatchOutcome, SealedBatch, Write};
use crate::error::{Result, StoreError};
use crate::meter::{Meter, timed};

/// The maximum number of queued batches. Beyond it callers wait, and after the deadline they get `Busy`.
const QUEUE: usize = 1_024;
/// The maximum number of batches in one transaction.
const GROUP: usize = 256;
const DEADLINE: Duration = Duration::from_secs(15);
/// After this many transactions of a single batch, batches count as arriving alone again.
const ALONE_AFTER: u32 = 8;
/// If the last commit took longer, threads that serve requests do not wait for the disk.
const QUICK: Duration = Duration::from_millis(1);
/// How long a batch is held back.
const MOMENT: Duration = Duration::from_millis(20);
/// The maximum number of batches held back together, and of pages of each.
const HELD: usize = 16;
const HELD_PAGES: usize = 32;

/// 8 MiB and 64 MiB.
const LOG: LogLimits = LogLimits {
    every: 2_048,
    log: 16_384,
};

/// The desk, and the queue of the writer thread.
pub(super) struct Writer {
    desk: Arc<Desk>,
    queue: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

enum Job {
    Write(SealedBatch, WriterAnswer),
    /// Commit the held-back batches.
    Publish,
}

type WriterAnswer = oneshot::Sender<Result<BatchOutcome>>;

impl Writer {
    pub(super) fn start(path: &Path, connection: Connection, meter: Arc<Meter>) -> Result<Self> {
        // Another thread moves pages from the log to the main file.
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
                cache: PageCache::default(),
                held: Vec::new(),
                published: published.clone(),
                sum: None,
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

    /// The writer's connection for a short read, if no batch is being written or waiting.
    pub(super) fn resting(&self) -> Option<Resting<'_>> {
        self.desk.resting(self.queue.as_ref()?)
    }

    /// Commits the held-back batches, so that other connections see them.
    pub(super) fn publish(&self) {
        self.desk.publish();
    }

    /// Compares all rows with their sum, and maintains it from now on. Runs in the blocking pool, since it may take
    /// long.
    pub(super) async fn guard(&self, sums: Sums, kept: bool) -> Result<()> {
        let desk = self.desk.clone();
        tokio::task::spawn_blocking(move || desk.book().guard(sums, kept))
            .await
            .map_err(|_| stopped())?
    }

    /// The number of durable commits, if they are counted.
    pub(super) fn generation(&self) -> Option<u64> {
        let generation = self.desk.generation.load(Ordering::Relaxed);
        (generation > 0).then_some(generation)
    }

    /// The sums over all rows, if they are maintained.
    pub(super) fn sums(&self) -> Option<Sums> {
        self.desk.book().sum.as_ref().map(KeptSum::sums)
    }

    pub(super) async fn commit(&self, batch: SealedBatch) -> Result<BatchOutcome> {
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
    /// Queued batches are written before the store closes.
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

/// Roughly how many pages a batch writes: its values, and for each write the pages of a table and its indices.
fn pages(batch: &SealedBatch) -> usize {
    let of = |write: &Write| match write {
        Write::Put { value, .. } | Write::Update { value, .. } => 4 + value.len() / 4_096,
        Write::Enqueue(entry) => 4 + entry.sealed.len() / 4_096,
        Write::Expect(..) => 0,
        Write::Erase { limit, .. } => *limit,
        _ => 3,
    };
    batch.writes.iter().map(of).sum()
}

/// The place where transactions are written, one at a time.
struct Desk {
    book: Mutex<Book>,
    meter: Arc<Meter>,
    /// Above zero while batches arrive together.
    crowded: AtomicU32,
    /// Whether a thread is reading at the desk, which takes microseconds.
    read: AtomicBool,
    /// Whether batches are held back.
    holds: AtomicBool,
    /// How many times held-back batches were committed.
    published: Arc<AtomicU64>,
    /// The number of durable commits; zero while they are not counted.
    generation: Arc<AtomicU64>,
}

/// The writer's connection between two transactions, while this is held. It has the latest pages in its cache; other
/// connections must first drop their cache and read them again.
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
    /// Writes the batch on the calling thread if no other batch is being written or waiting; otherwise returns it.
    fn alone(
        &self,
        batch: SealedBatch,
        queue: &mpsc::Sender<Job>,
    ) -> std::result::Result<Result<BatchOutcome>, SealedBatch> {
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

    /// The book, if it is not being written to. A reader is soon done, so this waits for one.
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

    /// The writer thread: writes one transaction for all queued batches, repeatedly.
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
                // A caller that no longer waits does not need the answer.
                let _ = answer.send(outcome);
            }
            self.book().turn_pages();
        }
        self.publish();
    }

    /// Separates the batches from the other jobs, and executes the latter.
    fn sort(&self, jobs: &mut Vec<Job>) -> (Vec<SealedBatch>, Vec<WriterAnswer>) {
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

    /// Commits the held-back batches. On failure they stay held back until the next commit.
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

    /// Records whether the book holds batches back. Returns true if it has just begun to.
    fn note(&self, book: &Book) -> bool {
        let holds = !book.held.is_empty();
        !self.holds.swap(holds, Ordering::AcqRel) && holds
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        // A transaction that panicked is rolled back before the next begins.
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state for writing transactions.
struct Book {
    connection: Connection,
    last: Last,
    meter: Arc<Meter>,
    checkpoints: Checkpoints,
    /// Approximate number of pages written and not yet reported to the checkpoints.
    pages: usize,
    full: bool,
    cache: PageCache,
    /// The batches of the open transaction. They are written again if it fails together with another batch.
    held: Vec<SealedBatch>,
    published: Arc<AtomicU64>,
    /// The sum over all rows.
    sum: Option<KeptSum>,
    generation: Arc<AtomicU64>,
    /// The connection's count of row changes at the last counted commit.
    sealed_at: u64,
}

impl Book {
    /// Writes one transaction with all batches and the held-back ones. Each batch succeeds or fails on its own. A
    /// single batch may be held back too.
    fn group(&mut self, batches: Vec<SealedBatch>, hold: bool) -> Vec<Result<BatchOutcome>> {
        let count = batches.len();
        let written = batches.iter().map(pages).sum::<usize>();
        self.pages += written;
        let durable = batches.iter().any(|batch| batch.durable);
        let sized = self.cache.size_for(written, &self.connection);
        match sized.and_then(|()| self.transaction(batches, durable, hold)) {
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
    ) -> Result<Vec<Result<BatchOutcome>>> {
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
            // The cause of a failed transaction says more than the failure of its commit.
            Err(error) => Err(outcomes
                .into_iter()
                .find_map(|outcome| outcome.err().filter(StoreError::is_full))
                .unwrap_or(error)),
        }
    }

    /// Begins a transaction, or continues the open one.
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
        let counted = self.seal()?;
        let (committed, took) = timed(|| self.execute("COMMIT"));
        committed?;
        self.count(counted);
        if durable || !self.held.is_empty() {
            self.meter.record(took);
        }
        if !self.held.is_empty() {
            self.held.clear();
            self.published.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Counts the next commit, if it changes anything. Returns the count.
    fn seal(&mut self) -> Result<Option<u64>> {
        let changes = self.connection.total_changes();
        match &self.sum {
            Some(sum) if changes != self.sealed_at => {
                let counted = sum.seal(&self.connection)?;
                self.sealed_at = self.connection.total_changes();
                Ok(Some(counted))
            }
            _ => Ok(None),
        }
    }

    /// Records a commit. Only those are counted that are certainly on disk: one that did not wait for the disk may be
    /// lost in a power cut.
    fn count(&mut self, counted: Option<u64>) {
        if let Some(sum) = &mut self.sum {
            sum.committed();
        }
        if let Some(generation) = counted.filter(|_| self.full) {
            self.generation.store(generation, Ordering::Relaxed);
        }
    }

    /// Compares the rows with their sum, and maintains it from now on. The start is a commit of its own, so that all
    /// earlier commits are durable.
    fn guard(&mut self, sums: Sums, kept: bool) -> Result<()> {
        self.publish()?;
        self.synchronise(true)?;
        sums.begin(&mut self.connection, kept)?;
        let sum = sums.keep(&self.connection)?;
        let counted = sum.seal(&self.connection)?;
        self.sealed_at = self.connection.total_changes();
        self.sum = Some(sum);
        self.count(Some(counted));
        Ok(())
    }

    /// Commits the held-back batches.
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

    /// Writes a batch that shares its transaction with others, so that it can be undone alone.
    fn batch(&mut self, batch: SealedBatch) -> Result<BatchOutcome> {
        self.apply(&batch).judge(&batch)?;
        self.execute("SAVEPOINT batch")?;
        let before = self.sum.as_ref().map(KeptSum::tally);
        let written = self.apply(&batch).write(batch.writes);
        if written.is_err() && !self.connection.is_autocommit() {
            self.execute("ROLLBACK TO batch")?;
            if let (Some(sum), Some(before)) = (&self.sum, before) {
                sum.back_to(before);
            }
        }
        if !self.connection.is_autocommit() {
            self.execute("RELEASE batch")?;
        }
        written
    }

    /// Reports the pages written to the checkpoints.
    fn turn_pages(&mut self) {
        if !self.held.is_empty() {
            return;
        }
        let pages = std::mem::take(&mut self.pages);
        self.checkpoints.after_commit(&self.connection, pages);
    }

    /// FULL waits for the disk at each commit. NORMAL leaves that to the next commit that waits.
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

    /// Rolls the transaction back, and writes its held-back batches again.
    fn roll_back(&mut self) {
        if !self.connection.is_autocommit() && self.execute("ROLLBACK").is_err() {
            tracing::error!("a failed transaction could not be rolled back");
        }
        if let Some(sum) = &self.sum {
            sum.roll_back();
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

/// Asks the writer, after a short time, to commit the batches held back now, unless they have been committed by then.
fn publish_later(queue: mpsc::WeakSender<Job>, published: Arc<AtomicU64>) {
    let before = published.load(Ordering::Relaxed);
    tokio::spawn(async move {
        tokio::time::sleep(MOMENT).await;
        if published.load(Ordering::Relaxed) == before
            && let Some(queue) = queue.upgrade()
        {
            // If the queue is full, the next transaction commits the held-back batches.
            let _ = queue.try_send(Job::Publish);
        }
    });
}

#[cfg(test)]
mod tests;
