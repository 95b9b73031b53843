//! Moves committed pages from the write-ahead log to the main file, concurrently with the writer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::{Result, StoreError};

/// Limits on the length of the log.
#[derive(Clone, Copy)]
pub(crate) struct LogLimits {
    /// The approximate number of pages written between two checkpoints.
    pub(crate) every: usize,
    /// The number of pages in the log above which the writer waits until the log is empty.
    pub(crate) log: usize,
}

/// The kind of checkpoint.
#[derive(Clone, Copy)]
enum CheckpointMode {
    /// Moves pages to the main file. The log continues, or restarts if it has no readers.
    Passive,
    /// Empties the log, unless it has readers.
    Truncate,
}

impl CheckpointMode {
    fn name(self) -> &'static str {
        match self {
            Self::Passive => "PASSIVE",
            Self::Truncate => "TRUNCATE",
        }
    }
}

/// The writer's handle to the checkpoint thread.
pub(crate) struct Checkpoints {
    due: Option<SyncSender<CheckpointMode>>,
    behind: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    limits: LogLimits,
    pages: usize,
}

impl Checkpoints {
    pub(crate) fn start(path: &Path, limits: LogLimits) -> Result<Self> {
        // Readers hold the log for microseconds only.
        let connection = connect(path, Duration::from_millis(100))?;
        let (due, asked) = sync_channel(1);
        let behind = Arc::new(AtomicBool::new(false));
        let seen = behind.clone();
        let thread = std::thread::Builder::new()
            .name("store-checkpoint".to_owned())
            .spawn(move || run(&connection, limits, &asked, &seen))?;
        Ok(Self {
            due: Some(due),
            behind,
            thread: Some(thread),
            limits,
            pages: 0,
        })
    }

    /// Whether the writer must wait at the next call of [`Self::after_commit`], which may take long.
    pub(crate) fn are_behind(&self) -> bool {
        self.behind.load(Ordering::Relaxed)
    }

    /// Called by the writer between two transactions, with the approximate number of pages written.
    pub(crate) fn after_commit(&mut self, writer: &Connection, pages: usize) {
        self.pages += pages;
        if self.are_behind() {
            // Readers hold the log for microseconds, a running checkpoint holds it longer. On timeout, the next commit
            // tries again.
            let emptied = writer
                .busy_timeout(Duration::from_secs(1))
                .and_then(|()| checkpoint(writer, "RESTART"));
            if emptied.is_ok_and(|(busy, _)| !busy) {
                self.behind.store(false, Ordering::Relaxed);
                self.pages = 0;
            }
        } else if self.pages >= self.limits.every
            && let Some(due) = &self.due
        {
            // If the channel is full, a checkpoint has been requested already. If it does not come, the writer makes
            // one itself.
            if due.try_send(CheckpointMode::Passive).is_ok() {
                self.pages = 0;
            } else if self.pages >= self.limits.log {
                self.behind.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Called when the writer has no work: moves the log's pages to the main file, so that the log can restart.
    pub(crate) fn at_rest(&mut self) {
        let asked =
            |due: &SyncSender<CheckpointMode>| due.try_send(CheckpointMode::Passive).is_ok();
        if self.pages > 0 && self.due.as_ref().is_some_and(asked) {
            self.pages = 0;
        }
    }

    /// Called when the writer has had no work for a while: empties the log.
    pub(crate) fn for_long(&mut self) {
        if let Some(due) = &self.due
            && due.try_send(CheckpointMode::Truncate).is_ok()
        {
            self.pages = 0;
        }
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.due = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Moves the log's pages to the main file and empties the log, so that the file is complete on its own. Concurrent
/// writers wait only for the last part.
pub(crate) async fn fold(path: PathBuf) -> Result<()> {
    let folding = tokio::task::spawn_blocking(move || {
        let connection = connect(&path, Duration::from_secs(1))?;
        checkpoint(&connection, "PASSIVE")?;
        // While another checkpoint runs, SQLite refuses this one at once, whatever its timeout.
        for tries in 0..=8 {
            match checkpoint(&connection, "TRUNCATE")? {
                (true, _) => std::thread::sleep(Duration::from_millis(10 << tries)),
                (false, _) => return Ok(()),
            }
        }
        Err(StoreError::Busy)
    });
    folding
        .await
        .map_err(|_| StoreError::Storage("a checkpoint was cut off".to_owned()))?
}

fn connect(path: &Path, patience: Duration) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "cache_size", -256)?;
    connection.busy_timeout(patience)?;
    Ok(connection)
}

fn run(
    connection: &Connection,
    limits: LogLimits,
    asked: &Receiver<CheckpointMode>,
    behind: &AtomicBool,
) {
    let most = i64::try_from(limits.log).unwrap_or(i64::MAX);
    while let Ok(mode) = asked.recv() {
        match checkpoint(connection, mode.name()) {
            Ok((_, pages)) if pages > most => behind.store(true, Ordering::Relaxed),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "a checkpoint failed; the next will try again"),
        }
    }
}

/// Makes a checkpoint. Returns whether it was prevented from finishing, and the number of pages in the log.
fn checkpoint(connection: &Connection, mode: &str) -> rusqlite::Result<(bool, i64)> {
    let mut statement = connection.prepare_cached(&format!("PRAGMA wal_checkpoint({mode})"))?;
    statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}
