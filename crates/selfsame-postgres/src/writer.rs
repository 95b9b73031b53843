//! The only writer of this process: a thread that takes everything queued into each transaction, so that one commit of
//! the database serves all batches that arrived meanwhile. There is no timer.
//!
//! A transaction that lost a race is done again. After a lost connection the writer connects again; the count of commits
//! in the row of this process tells whether the last transaction took effect, so a batch is never written twice, and its
//! caller gets the true answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use deadpool_postgres::{Client, Pool};
use selfsame_crypto::seal::SealingKey;
use selfsame_store::backend::{BatchOutcome, Meter, SealedBatch, Write};
use selfsame_store::{Result, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};

use crate::address::Address;
use crate::commit::{CommitOutcome, SentCommit, Transaction};
use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::figures;
use crate::guard;
use crate::pool::{SILENCE, connection, discard, in_time, pool};
use crate::process::{NewSeat, WrittenSeats};
use crate::reach::Reach;
use crate::schema;
use crate::sequence::Sequence;
use crate::sums::RowSums;

/// The maximum number of queued batches. Beyond it callers wait, and after the deadline they get `Busy`.
const QUEUE: usize = 1_024;
/// The maximum number of batches in one transaction, and of bytes of their values after which none is added.
const GROUP: usize = 256;
const GROUP_BYTES: usize = 16 << 20;
/// How long a batch is tried, races and lost connections included.
const DEADLINE: Duration = Duration::from_secs(15);
/// How often an idle process says that it is alive.
const BEAT: Duration = Duration::from_secs(3);
/// How long a start waits for a process that may have crashed: longer than one that is alive is silent.
pub(crate) const STALE: Duration = Duration::from_secs(11);
pub(crate) const RETRY: Duration = Duration::from_secs(1);
/// After this many events, those beyond the number kept are removed.
const TRIMMED: usize = 1_024;
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The queue of the writer thread.
pub(crate) struct CommitWriter {
    queue: Option<mpsc::Sender<WriterTask>>,
    thread: Option<JoinHandle<()>>,
    generation: Arc<AtomicU64>,
}

/// What the writer tells of its work.
pub(crate) struct WriterNotes {
    pub(crate) meter: Arc<Meter>,
    pub(crate) reach: Reach,
}

enum WriterTask {
    Guard(Arc<SealingKey>, oneshot::Sender<Result<()>>),
    Write(Waiting),
}

struct Waiting {
    batch: SealedBatch,
    answer: oneshot::Sender<Result<BatchOutcome>>,
}

impl CommitWriter {
    pub(crate) fn start(address: &Address, new: NewSeat, notes: WriterNotes) -> Result<Self> {
        let pool = pool(address, 1)?;
        let servers = address.config.get_hosts().len();
        let (queue, jobs) = mpsc::channel(QUEUE);
        let generation = Arc::new(AtomicU64::new(0));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let counted = generation.clone();
        let thread = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || {
                let [a, b, ..] = *new.process.as_bytes();
                let mut thread = WriterThread {
                    pool,
                    servers,
                    new,
                    notes,
                    generation: counted,
                    sequence: Sequence::new(u16::from_be_bytes([a, b])),
                    client: None,
                    seated: None,
                    unknown: None,
                    told: 0,
                };
                runtime.block_on(thread.run(jobs));
            })?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
            generation,
        })
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    pub(crate) async fn guard(&self, key: Arc<SealingKey>) -> Result<()> {
        let (answer, answered) = oneshot::channel();
        self.ask(WriterTask::Guard(key, answer)).await?;
        // The comparison reads every row.
        answered.await.map_err(|_| stopped())?
    }

    pub(crate) async fn commit(&self, batch: SealedBatch) -> Result<BatchOutcome> {
        let (answer, answered) = oneshot::channel();
        self.ask(WriterTask::Write(Waiting { batch, answer }))
            .await?;
        // The thread keeps its own deadline; this one is for a thread that hangs.
        match timeout(DEADLINE + SILENCE, answered).await {
            Ok(answer) => answer.map_err(|_| stopped())?,
            Err(_) => Err(StoreError::Deadline),
        }
    }

    async fn ask(&self, job: WriterTask) -> Result<()> {
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        let asked = timeout(DEADLINE, queue.send(job)).await;
        let asked = asked.map_err(|_| StoreError::Busy)?;
        asked.map_err(|_| stopped())
    }
}

impl Drop for CommitWriter {
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

fn unconnected() -> DatabaseFailure {
    DatabaseFailure::Lost("no connection".to_owned())
}

struct WriterThread {
    pool: Pool,
    /// How many servers the database has.
    servers: usize,
    new: NewSeat,
    notes: WriterNotes,
    generation: Arc<AtomicU64>,
    sequence: Sequence,
    client: Option<Client>,
    seated: Option<Seated>,
    /// The last transaction, if its commit was sent and its answer lost.
    unknown: Option<SentCommit>,
    /// The number of events told since those beyond the number kept were removed.
    told: usize,
}

/// What the writer has once the rows were compared with the sum.
struct Seated {
    sums: RowSums,
    seats: WrittenSeats,
    /// The number of commits of the other processes when the seat was taken.
    before: i64,
}

impl WriterThread {
    async fn run(&mut self, mut jobs: mpsc::Receiver<WriterTask>) {
        loop {
            let job = match timeout(BEAT, jobs.recv()).await {
                Ok(Some(job)) => job,
                Ok(None) => break,
                Err(_) => {
                    self.say(schema::BEAT).await;
                    continue;
                }
            };
            match job {
                WriterTask::Guard(key, answer) => {
                    let _ = answer.send(self.guard(key).await);
                }
                WriterTask::Write(waiting) => self.group(waiting, &mut jobs).await,
            }
        }
        self.say(schema::LEAVE).await;
    }

    /// Says something of this process to the database. If it is not there, a commit will find out.
    async fn say(&mut self, statement: &str) {
        if self.seated.is_none() {
            return;
        }
        // A connection that is lost says nothing of the database, another one does.
        let mut is_said = self.said(statement).await;
        if !is_said {
            is_said = self.said(statement).await;
        }
        self.notes.reach.wrote(is_said);
    }

    async fn said(&mut self, statement: &str) -> bool {
        let process = self.new.process;
        let said = in_time(async {
            let client = self.connected().await?;
            client.execute(statement, &[&process]).await?;
            Ok(())
        });
        let is_said = said.await.is_ok();
        if !is_said {
            self.lose();
        }
        is_said
    }

    fn lose(&mut self) {
        if let Some(client) = self.client.take() {
            discard(client);
        }
    }

    async fn connected(&mut self) -> DatabaseResult<&Client> {
        if self.client.as_ref().is_none_or(|client| client.is_closed()) {
            self.lose();
            let client = connection(&self.pool).await?;
            self.sequence.set_clock(guard::clock(&client).await?);
            self.client = Some(client);
        }
        self.client.as_ref().ok_or_else(unconnected)
    }

    async fn guard(&mut self, key: Arc<SealingKey>) -> Result<()> {
        let sums = RowSums::new(key);
        let guarded = async {
            let new = self.new;
            self.connected().await?;
            let client = self.client.as_ref().ok_or_else(unconnected)?;
            guard::compare(client, &sums, &self.sequence).await?;
            let mut waited = Duration::ZERO;
            loop {
                match guard::sit(client, &sums, new).await {
                    // A process that crashed is taken for alive until it has been silent for a while.
                    Err(DatabaseFailure::Final(StoreError::InUse(_))) if waited < STALE => {}
                    sat => break sat,
                }
                tokio::time::sleep(RETRY).await;
                waited += RETRY;
            }
        };
        let (seat, before) = guarded.await.map_err(DatabaseFailure::into_error)?;
        self.unknown = None;
        let seats = WrittenSeats::new(seat);
        self.seated = Some(Seated {
            sums,
            seats,
            before,
        });
        self.count();
        Ok(())
    }

    /// Takes a seat again. What this process holds in memory needs no renewal: each write has its conditions.
    async fn sit_again(&mut self) -> DatabaseResult<()> {
        let (Some(client), Some(seated)) = (&self.client, &mut self.seated) else {
            return Err(unconnected());
        };
        let (seat, before) = in_time(guard::sit(client, &seated.sums, self.new)).await?;
        (seated.seats, seated.before) = (WrittenSeats::new(seat), before);
        figures::unseated();
        tracing::warn!(
            "this process was silent for so long that its place was given away; it has a new one"
        );
        Ok(())
    }

    /// Goes on from a row that counts only this many commits. If a durable commit is missing, one of several servers may
    /// be a former primary, and another one is looked for.
    ///
    /// # Errors
    /// `Tampered` if a durable commit is missing at the only server.
    fn go_back(&mut self, commits: i64) -> Result<()> {
        let seated = self.seated.as_mut();
        match seated.and_then(|seated| seated.seats.set_back(commits)) {
            Some(lost) => tracing::warn!(
                lost,
                "the database stopped before it had stored the last commits, which need not be durable"
            ),
            None if self.servers > 1 => {
                tracing::error!(
                    "this server of the database lacks commits; looking for another one"
                );
                self.lose();
            }
            None => return Err(StoreError::Tampered("row of this process")),
        }
        Ok(())
    }

    /// Publishes the number of commits that no crash of the database loses.
    fn count(&self) {
        if let Some(seated) = &self.seated {
            let generation = seated.seats.durable().saturating_add(seated.before);
            let generation = generation.cast_unsigned();
            self.generation.fetch_max(generation, Ordering::Release);
        }
    }

    /// Removes events beyond the number kept, now and then.
    async fn trim(&mut self, batches: &[SealedBatch]) {
        let writes = batches.iter().flat_map(|batch| &batch.writes);
        let told = writes.filter(|write| matches!(write, Write::Event(..)));
        self.told = self.told.saturating_add(told.count());
        if let (true, Some(batch)) = (self.told >= TRIMMED, batches.first()) {
            self.told = 0;
            let purge = SealedBatch {
                now: batch.now,
                durable: false,
                writes: vec![Write::Purge(0)],
            };
            if let Err(error) = self.until_done(&[purge]).await {
                tracing::warn!(%error, "events beyond the number kept were not removed");
            }
        }
    }

    /// Writes this batch, and those that wait with it.
    async fn group(&mut self, first: Waiting, jobs: &mut mpsc::Receiver<WriterTask>) {
        let mut bytes = weight(&first.batch);
        let is_alone = is_sweep(&first.batch);
        let (mut batches, mut answers) = (vec![first.batch], vec![first.answer]);
        let mut then = None;
        while then.is_none() && !is_alone && batches.len() < GROUP && bytes < GROUP_BYTES {
            match jobs.try_recv() {
                Ok(WriterTask::Write(next)) if !is_sweep(&next.batch) => {
                    bytes = bytes.saturating_add(weight(&next.batch));
                    batches.push(next.batch);
                    answers.push(next.answer);
                }
                Ok(job) => then = Some(job),
                Err(_) => break,
            }
        }
        figures::queued(jobs.len());
        self.finish(&batches, answers).await;
        match then {
            Some(WriterTask::Write(next)) => self.finish(&[next.batch], vec![next.answer]).await,
            Some(WriterTask::Guard(key, answer)) => {
                let _ = answer.send(self.guard(key).await);
            }
            None => {}
        }
    }

    async fn finish(
        &mut self,
        batches: &[SealedBatch],
        waiting: Vec<oneshot::Sender<Result<BatchOutcome>>>,
    ) {
        self.trim(batches).await;
        match self.until_done(batches).await {
            Ok(answers) => {
                self.notes.reach.wrote(true);
                for (waiting, answer) in waiting.into_iter().zip(answers) {
                    let _ = waiting.send(answer);
                }
            }
            Err(error) => {
                tracing::warn!(%error, batches = batches.len(), "a commit failed");
                if matches!(error, StoreError::Busy | StoreError::Deadline) {
                    self.notes.reach.wrote(false);
                }
                for waiting in waiting {
                    let _ = waiting.send(Err(error.again()));
                }
            }
        }
    }

    /// Tries until the group is written, or refused, or its time is over.
    async fn until_done(&mut self, batches: &[SealedBatch]) -> Result<Vec<Result<BatchOutcome>>> {
        let end = Instant::now() + DEADLINE;
        let mut pause = FIRST_PAUSE;
        let mut is_sent = false;
        loop {
            let failure = match self.attempt(batches, &mut is_sent).await {
                Ok(answers) => return Ok(answers),
                Err(failure) => failure,
            };
            match &failure {
                DatabaseFailure::Lost(reason) => {
                    tracing::warn!(reason, "the connection to the database is lost");
                    figures::again("connection");
                    self.lose();
                }
                DatabaseFailure::Raced => figures::again("race"),
                DatabaseFailure::SetBack(commits) => self.go_back(*commits)?,
                _ => {}
            }
            match failure {
                DatabaseFailure::Final(error) => return Err(error),
                // Whether the last commit took effect, the row that counted it no longer says.
                DatabaseFailure::Unseated if is_sent => return Err(StoreError::Deadline),
                DatabaseFailure::Unseated => match self.sit_again().await {
                    Err(DatabaseFailure::Final(error)) => return Err(error),
                    Err(DatabaseFailure::Lost(_)) => self.lose(),
                    _ => {}
                },
                _ => {}
            }
            if Instant::now() + pause > end {
                return Err(match is_sent {
                    true => StoreError::Deadline,
                    false => failure.into_answer(),
                });
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// One attempt. `is_sent` says whether a commit of this group was sent of which nothing is known.
    async fn attempt(
        &mut self,
        batches: &[SealedBatch],
        is_sent: &mut bool,
    ) -> DatabaseResult<Vec<Result<BatchOutcome>>> {
        in_time(async { self.connected().await.map(drop) }).await?;
        // The answers to a group whose time was over are wanted no more, but its commit counts.
        if let Some(answers) = self.found_out().await?
            && *is_sent
        {
            return Ok(answers);
        }
        *is_sent = false;
        let (Some(client), Some(seated)) = (&self.client, &self.seated) else {
            let early = StoreError::Malformed("commit before the guard");
            return Err(DatabaseFailure::Final(early));
        };
        let transaction = Transaction {
            client,
            sums: &seated.sums,
            sequence: &self.sequence,
            is_shared: !self.new.alone,
        };
        let begun = Instant::now();
        match transaction.write(batches, seated.seats.last()).await? {
            CommitOutcome::Committed(sent) => {
                if sent.is_durable {
                    self.notes.meter.record(begun.elapsed());
                }
                Ok(self.settled(sent))
            }
            CommitOutcome::Unchanged(answers) => Ok(answers),
            CommitOutcome::Unknown(sent, failure) => {
                *is_sent = true;
                self.unknown = Some(sent);
                Err(failure)
            }
        }
    }

    /// Whether the transaction took effect of which nothing is known. Returns the answers to its batches if it did.
    async fn found_out(&mut self) -> DatabaseResult<Option<Vec<Result<BatchOutcome>>>> {
        let (Some(client), Some(sent)) = (&self.client, &self.unknown) else {
            return Ok(None);
        };
        let counted = in_time(guard::counted(client, self.new.process)).await?;
        let Some(counted) = counted else {
            self.unknown = None;
            return Err(DatabaseFailure::Unseated);
        };
        let took_effect = counted == sent.seat.generation;
        let sent = self.unknown.take().filter(|_| took_effect);
        Ok(sent.map(|sent| self.settled(sent)))
    }

    fn settled(&mut self, sent: SentCommit) -> Vec<Result<BatchOutcome>> {
        if let Some(seated) = &mut self.seated {
            seated.seats.wrote(sent.seat, sent.is_durable);
        }
        self.count();
        sent.answers
    }
}

/// Sweeps look for rows first, and are written alone.
fn is_sweep(batch: &SealedBatch) -> bool {
    let sweeps = |write: &Write| {
        matches!(
            write,
            Write::Purge(_) | Write::Erase { .. } | Write::Leap(_)
        )
    };
    batch.writes.iter().any(sweeps)
}

fn weight(batch: &SealedBatch) -> usize {
    let bytes = batch.writes.iter().map(|write| match write {
        Write::Put { value, .. } | Write::Update { value, .. } => value.len(),
        Write::Enqueue(entry) => entry.sealed.len(),
        _ => 0,
    });
    bytes.sum()
}
