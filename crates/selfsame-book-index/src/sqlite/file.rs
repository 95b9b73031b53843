//! The file of a book: its layout and its connections.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, InterruptHandle, OpenFlags};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::error::{IndexError, IndexResult};

/// Marks our files, with the layout of this release. An index of another layout is built anew.
const APPLICATION: u32 = 0x5353_6271;
const LAYOUT: u32 = 1;
/// Questions that are answered at once, and how long one may wait and take.
const READERS: usize = 4;
const PATIENCE: Duration = Duration::from_secs(2);
/// Page caches in KiB.
const READER_CACHE: i64 = 16 * 1024;
const WRITER_CACHE: i64 = 64 * 1024;
/// Bytes of the file that are read by mapping it into memory.
const MAPPED: i64 = 1 << 30;
const STATEMENTS_CACHED: usize = 64;

const SCHEMA: &str = "
CREATE TABLE state (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT NOT NULL) STRICT;
CREATE TABLE topics (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    source_id TEXT NOT NULL,
    main INTEGER NOT NULL,
    effective INTEGER NOT NULL,
    revoked INTEGER,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL
) STRICT;
CREATE TABLE sets (
    id INTEGER PRIMARY KEY,
    topic INTEGER NOT NULL,
    latest INTEGER NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    first_effective INTEGER NOT NULL,
    last_effective INTEGER NOT NULL
) STRICT;
CREATE INDEX sets_of_topic ON sets (topic, last_effective, id);
CREATE TABLE credentials (
    id INTEGER PRIMARY KEY,
    credential_id TEXT NOT NULL,
    topic INTEGER NOT NULL,
    credential_set INTEGER NOT NULL,
    type_id TEXT NOT NULL,
    issuer TEXT NOT NULL,
    founds INTEGER NOT NULL,
    effective INTEGER NOT NULL,
    expires INTEGER,
    entered INTEGER NOT NULL,
    inactive INTEGER NOT NULL,
    revoked INTEGER,
    latest INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX credentials_of_topic ON credentials (topic, latest, founds, effective);
CREATE INDEX credentials_of_set ON credentials (credential_set, effective, entered);
CREATE TABLE facts (
    topic INTEGER NOT NULL,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    text TEXT NOT NULL,
    normal TEXT NOT NULL,
    searched INTEGER NOT NULL,
    body TEXT NOT NULL,
    credential INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    PRIMARY KEY (topic, kind, label, text)
) STRICT, WITHOUT ROWID;
CREATE INDEX facts_beginning ON facts (normal, topic) WHERE searched = 1;
CREATE TABLE tokens (
    topic INTEGER NOT NULL,
    facet INTEGER NOT NULL,
    uses INTEGER NOT NULL,
    PRIMARY KEY (topic, facet)
) STRICT, WITHOUT ROWID;
CREATE TABLE facets (id INTEGER PRIMARY KEY, facet TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE relations (
    topic INTEGER NOT NULL,
    other INTEGER NOT NULL,
    relation TEXT NOT NULL,
    kind TEXT NOT NULL,
    source_id TEXT NOT NULL,
    uses INTEGER NOT NULL,
    PRIMARY KEY (topic, other, relation)
) STRICT, WITHOUT ROWID;
CREATE INDEX relations_back ON relations (other, topic);
CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE, uses INTEGER NOT NULL) STRICT;
CREATE TABLE grams (
    gram TEXT NOT NULL,
    length INTEGER NOT NULL,
    word INTEGER NOT NULL,
    PRIMARY KEY (gram, length, word)
) STRICT, WITHOUT ROWID;
CREATE TABLE documents (
    topic INTEGER PRIMARY KEY,
    names TEXT NOT NULL,
    addresses TEXT NOT NULL,
    facets TEXT NOT NULL
) STRICT;
CREATE VIRTUAL TABLE search USING fts5 (
    names, addresses, facets,
    content = 'documents', content_rowid = 'topic',
    tokenize = 'ascii', prefix = '2 3 4', detail = 'column', columnsize = 0
);
INSERT INTO search (search, rank) VALUES ('secure-delete', 1);
";

const EMPTY: &str = "
DROP TABLE IF EXISTS search;
DROP TABLE IF EXISTS documents;
DROP TABLE IF EXISTS grams;
DROP TABLE IF EXISTS words;
DROP TABLE IF EXISTS relations;
DROP TABLE IF EXISTS facets;
DROP TABLE IF EXISTS tokens;
DROP TABLE IF EXISTS facts;
DROP TABLE IF EXISTS credentials;
DROP TABLE IF EXISTS sets;
DROP TABLE IF EXISTS topics;
DROP TABLE IF EXISTS state;
";

/// An open book.
pub(super) struct BookFile {
    path: Option<PathBuf>,
    writer: Arc<Mutex<Connection>>,
    readers: Mutex<Vec<Connection>>,
    places: Semaphore,
}

impl BookFile {
    /// Opens a book, and makes an empty one of a file that is absent, damaged or of another layout.
    pub fn open(path: Option<PathBuf>) -> IndexResult<Self> {
        let writer = match &path {
            None => laid_out(Connection::open_in_memory()?)?,
            Some(path) => match open_writer(path) {
                Err(IndexError::Storage(detail)) => {
                    tracing::warn!(file = %path.display(), detail, "the index of a book is built anew");
                    remove(path)?;
                    open_writer(path)?
                }
                opened => opened?,
            },
        };
        Ok(Self {
            path,
            writer: Arc::new(Mutex::new(writer)),
            readers: Mutex::default(),
            places: Semaphore::new(READERS),
        })
    }

    /// Answers a question on a thread where it may block, within a time limit.
    pub async fn read<T: Send + 'static>(
        self: Arc<Self>,
        read: impl FnOnce(&Connection) -> IndexResult<T> + Send + 'static,
    ) -> IndexResult<T> {
        let place = timeout(PATIENCE, self.places.acquire());
        let _place = place
            .await
            .map_err(|_| IndexError::Busy)?
            .map_err(|_| IndexError::Busy)?;
        let Some(path) = self.path.clone() else {
            let writer = self.writer.clone();
            return blocking(move || read(&lock(&writer))).await;
        };
        let reader = lock(&self.readers).pop();
        let reader = match reader {
            Some(reader) => reader,
            None => blocking(move || open_reader(&path)).await?,
        };
        let interrupt = reader.get_interrupt_handle();
        let answering = blocking(move || {
            let answer = read(&reader);
            Ok((reader, answer))
        });
        let (reader, answer) = within_limit(interrupt, answering).await?;
        lock(&self.readers).push(reader);
        answer
    }

    /// Changes the book, one change at a time.
    pub async fn write(
        self: Arc<Self>,
        write: impl FnOnce(&mut Connection) -> IndexResult<()> + Send + 'static,
    ) -> IndexResult<()> {
        blocking(move || write(&mut lock(&self.writer))).await
    }
}

/// Waits for an answer, and interrupts the question when its time is over.
async fn within_limit<T>(
    interrupt: InterruptHandle,
    answering: impl Future<Output = IndexResult<T>>,
) -> IndexResult<T> {
    let mut answering = std::pin::pin!(answering);
    if let Ok(answered) = timeout(PATIENCE, &mut answering).await {
        return answered;
    }
    interrupt.interrupt();
    answering.await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> IndexResult<T> + Send + 'static,
) -> IndexResult<T> {
    let done = spawn_blocking(work).await;
    done.map_err(|_| IndexError::Storage("the work on the index was cut off".to_owned()))?
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes everything of a book and lays it out anew.
pub(super) fn lay_out_again(connection: &mut Connection) -> IndexResult<()> {
    let layout = connection.transaction()?;
    layout.execute_batch(EMPTY)?;
    layout.execute_batch(SCHEMA)?;
    layout.commit()?;
    connection.execute_batch("VACUUM")?;
    Ok(())
}

fn laid_out(mut connection: Connection) -> IndexResult<Connection> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    connection.busy_timeout(PATIENCE)?;
    // What is erased is overwritten in the file.
    connection.pragma_update(None, "secure_delete", "ON")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE)?;
    let number =
        |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0));
    let (application, layout) = (number("application_id")?, number("user_version")?);
    match (application, layout) {
        (APPLICATION, LAYOUT) => return Ok(connection),
        (0, 0) => {}
        _ => {
            return Err(IndexError::Storage(
                "the file has another layout".to_owned(),
            ));
        }
    }
    let laying = connection.transaction()?;
    laying.execute_batch(SCHEMA)?;
    laying.pragma_update(None, "application_id", APPLICATION)?;
    laying.pragma_update(None, "user_version", LAYOUT)?;
    laying.commit()?;
    Ok(connection)
}

fn open_writer(path: &Path) -> IndexResult<Connection> {
    if let Some(parent) = path.parent() {
        private_directory(parent)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // An index that loses its last changes with the power reads them again: its cursor goes back with them.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    laid_out(connection)
}

fn open_reader(path: &Path) -> IndexResult<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let reader = Connection::open_with_flags(path, flags)?;
    reader.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    reader.busy_timeout(PATIENCE)?;
    reader.pragma_update(None, "cache_size", -READER_CACHE)?;
    reader.pragma_update(None, "mmap_size", MAPPED)?;
    reader.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(reader)
}

fn remove(path: &Path) -> IndexResult<()> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match std::fs::remove_file(&name) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
    }
    Ok(())
}

/// Creates missing directories, accessible to their owner only.
fn private_directory(path: &Path) -> IndexResult<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    Ok(builder.create(path)?)
}
