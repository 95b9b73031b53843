//! Moves committed pages from the write-ahead log to the file, beside the writer rather than in its way.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::{Result, StoreError};

/// How long the log may become.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// Pages written between two checkpoints, roughly.
    pub(crate) every: usize,
    /// Pages in the log past which the writer stands back until it is empty.
    pub(crate) log: usize,
}

/// What becomes of the log.
#[derive(Clone, Copy)]
enum Mode {
    /// What is in it is moved to the file; it goes on, or begins anew if nobody reads it.
    Passive,
    /// It is emptied, unless somebody reads it.
    Truncate,
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Self::Passive => "PASSIVE",
            Self::Truncate => "TRUNCATE",
        }
    }
}

/// The thread that makes checkpoints, as the writer sees it.
pub(crate) struct Checkpoints {
    due: Option<SyncSender<Mode>>,
    behind: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    limits: Limits,
    pages: usize,
}

impl Checkpoints {
    pub(crate) fn start(path: &Path, limits: Limits) -> Result<Self> {
        // Readers hold the log for microseconds.
        let connection = connect(path, Duration::from_millis(100))?;
        let (due, asked) = sync_channel(1);
        let behind = Arc::new(AtomicBool::new(false));
        let seen = behind.clone();
        let thread = std::thread::Builder::new()
            .name("store-checkpoint".to_owned())
            .spawn(move || run((&connection, limits), &asked, &seen))?;
        Ok(Self {
            due: Some(due),
            behind,
            thread: Some(thread),
            limits,
            pages: 0,
        })
    }

    /// Whether the writer must stand back at the next call of [`Self::after_commit`], which may take long.
    pub(crate) fn are_behind(&self) -> bool {
        self.behind.load(Ordering::Relaxed)
    }

    /// Called by the writer between two transactions; says roughly how many pages were written.
    pub(crate) fn after_commit(&mut self, writer: &Connection, pages: usize) {
        self.pages += pages;
        if self.are_behind() {
            // Readers hold the log for microseconds, a checkpoint that is under way for longer. Past this the next
            // commit tries again.
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
            // Full: one is asked for already. If it does not come, the writer makes it itself.
            if due.try_send(Mode::Passive).is_ok() {
                self.pages = 0;
            } else if self.pages >= self.limits.log {
                self.behind.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Called when there is nothing else to do: what is in the log goes to the file, so that the log can begin anew.
    pub(crate) fn at_rest(&mut self) {
        let asked = |due: &SyncSender<Mode>| due.try_send(Mode::Passive).is_ok();
        if self.pages > 0 && self.due.as_ref().is_some_and(asked) {
            self.pages = 0;
        }
    }

    /// Called when there has been nothing to do for a while: the log is left empty.
    pub(crate) fn for_long(&mut self) {
        if let Some(due) = &self.due
            && due.try_send(Mode::Truncate).is_ok()
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

/// Moves all that is in the log to the file and empties the log, so that the file is whole by itself. Whoever writes
/// meanwhile waits for the last of it alone.
pub(crate) async fn fold(path: PathBuf) -> Result<()> {
    let folding = tokio::task::spawn_blocking(move || {
        let connection = connect(&path, Duration::from_secs(1))?;
        checkpoint(&connection, "PASSIVE")?;
        // While another checkpoint is under way, SQLite refuses this one at once, whatever its timeout.
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

fn run((connection, limits): (&Connection, Limits), asked: &Receiver<Mode>, behind: &AtomicBool) {
    let most = i64::try_from(limits.log).unwrap_or(i64::MAX);
    while let Ok(mode) = asked.recv() {
        match checkpoint(connection, mode.name()) {
            Ok((_, pages)) if pages > most => behind.store(true, Ordering::Relaxed),
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "a checkpoint failed; the next will try again"),
        }
    }
}

/// Whether it was kept from finishing, and how many pages are in the log.
fn checkpoint(connection: &Connection, mode: &str) -> rusqlite::Result<(bool, i64)> {
    let mut statement = connection.prepare_cached(&format!("PRAGMA wal_checkpoint({mode})"))?;
    statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}
