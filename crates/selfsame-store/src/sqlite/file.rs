//! Data files: access rights, formats, and the setup of connections.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::page_cache;
use crate::error::{Result, StoreError};

/// The kind and layout of a file.
pub(crate) struct Format {
    /// The application identifier, which marks our files.
    pub(crate) application: u32,
    /// The layout of this release.
    pub(crate) version: u32,
    /// Former layouts, which the caller converts to this one on opening.
    pub(crate) former: &'static [u32],
    /// The statements that lay out an empty file, in order.
    pub(crate) schema: &'static [&'static str],
    /// Whether free pages may be returned to the file system.
    pub(crate) shrinks: bool,
}

impl Format {
    fn takes(&self, version: u32) -> bool {
        version == self.version || self.former.contains(&version)
    }
}

const STATEMENTS_CACHED: usize = 48;

/// Opens the file for writing. Creates it if it does not exist. Dropping the returned lock releases the file.
pub(crate) fn open_writer(path: &Path, format: &Format) -> Result<(File, Connection)> {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    private_directory(parent)?;
    let lock = lock(path)?;
    private_file(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut writer = Connection::open_with_flags(path, flags)?;
    if format.shrinks {
        // Takes effect only on an empty file.
        writer.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    lay_out(&mut writer, path, format)?;
    // WAL lets readers and the writer work concurrently. FULL: a commit is on disk before it is acknowledged.
    writer.pragma_update(None, "journal_mode", "WAL")?;
    writer.pragma_update(None, "synchronous", "FULL")?;
    page_cache::set_up(&writer)?;
    set_up(&writer)?;
    File::open(parent)?.sync_all()?;
    Ok((lock, writer))
}

/// Opens a file for reading that a writer has opened before.
pub(crate) fn open_reader(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let reader = Connection::open_with_flags(path, flags)?;
    reader.pragma_update(None, "cache_size", -1_024)?;
    set_up(&reader)?;
    Ok(reader)
}

/// Writes a snapshot of the file to a new file, while writes to the source continue, and lets `mark` write to the copy.
/// Runs in the blocking pool, since it may take long.
pub(crate) async fn copy(
    from: PathBuf,
    to: PathBuf,
    format: &'static Format,
    mark: impl FnOnce(&mut Connection) -> Result<()> + Send + 'static,
) -> Result<()> {
    tokio::task::spawn_blocking(move || copy_now(&from, &to, format, mark))
        .await
        .map_err(|_| StoreError::Storage("a copy was cut off".to_owned()))?
}

fn copy_now(
    from: &Path,
    to: &Path,
    format: &Format,
    mark: impl FnOnce(&mut Connection) -> Result<()>,
) -> Result<()> {
    if let Some(parent) = to.parent() {
        private_directory(parent)?;
    }
    if to.exists() {
        return Err(StoreError::Storage(format!("{} exists", to.display())));
    }
    // Created here, empty, so that only its owner can ever read it.
    let file = private_file(to)?;
    let name = to.to_str().ok_or(StoreError::Malformed("path"))?;
    open_reader(from)?.execute("VACUUM INTO ?1", [name])?;
    file.sync_all()?;
    let (lock, mut connection) = open_writer(to, format)?;
    mark(&mut connection)?;
    // A single file, without a log beside it.
    connection.pragma_update(None, "journal_mode", "DELETE")?;
    drop((connection, lock));
    Ok(std::fs::remove_file(beside(to, ".lock"))?)
}

/// Checks the whole file for damage.
pub(crate) fn check(path: &Path, format: &Format) -> Result<()> {
    let connection = open_reader(path)?;
    is_of(&connection, path, format)?;
    match unsound(&connection)?.is_empty() {
        true => Ok(()),
        false => Err(StoreError::Tampered("file")),
    }
}

/// Opens a file for reading that no process has open. The returned lock keeps other processes out until it is dropped.
pub(crate) fn open_offline(path: &Path, format: &Format) -> Result<(File, Connection)> {
    if !path.exists() {
        return Err(StoreError::Foreign(path.to_owned()));
    }
    let lock = lock(path)?;
    let connection = open_reader(path)?;
    is_of(&connection, path, format)?;
    Ok((lock, connection))
}

/// The damage that SQLite finds in a file; empty if it is sound.
pub(crate) fn unsound(connection: &Connection) -> Result<Vec<String>> {
    let mut check = connection.prepare("PRAGMA integrity_check")?;
    let said = check.query_map([], |row| row.get::<_, String>(0))?;
    let mut said: Vec<String> = said.collect::<rusqlite::Result<_>>()?;
    said.retain(|line| line != "ok");
    Ok(said)
}

/// Checks that a file is of this kind and has a layout that this release reads.
fn is_of(connection: &Connection, path: &Path, format: &Format) -> Result<()> {
    let number =
        |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0));
    let application = number("application_id").map_err(|_| StoreError::Foreign(path.to_owned()))?;
    if application != format.application {
        return Err(StoreError::Foreign(path.to_owned()));
    }
    let found = number("user_version")?;
    match format.takes(found) {
        true => Ok(()),
        false => Err(StoreError::OtherLayout {
            found,
            known: format.version,
        }),
    }
}

pub(crate) fn set_up(connection: &Connection) -> Result<()> {
    // Makes query plans independent of bound values; otherwise SQLite prepares some statements anew for each value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    Ok(())
}

fn lay_out(writer: &mut Connection, path: &Path, format: &Format) -> Result<()> {
    let foreign = || StoreError::Foreign(path.to_owned());
    let number = |pragma: &str| writer.pragma_query_value(None, pragma, |row| row.get::<_, u32>(0));
    let found = number("application_id").map_err(|error| match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => foreign(),
        _ => error.into(),
    })?;
    let version = number("user_version")?;
    let tables: u32 =
        writer.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    // An empty file has neither identifier nor tables; ours get both at once.
    let is_empty = found == 0 && version == 0 && tables == 0;
    let is_ours = found == format.application && version != 0;
    if !is_empty && !is_ours {
        return Err(foreign());
    }
    if is_ours && !format.takes(version) {
        return Err(StoreError::OtherLayout {
            found: version,
            known: format.version,
        });
    }
    if is_empty {
        let layout = writer.transaction()?;
        for schema in format.schema {
            layout.execute_batch(schema)?;
        }
        layout.pragma_update(None, "application_id", format.application)?;
        layout.pragma_update(None, "user_version", format.version)?;
        layout.commit()?;
    }
    Ok(())
}

/// The path of an accompanying file: this path with a suffix.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn lock(path: &Path) -> Result<File> {
    let lock = private_file(&beside(path, ".lock"))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// SQLite gives its other files the permissions of the first.
fn private_file(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    file.set_permissions(<Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600))?;
    Ok(file)
}

/// Creates missing directories of the path, accessible to their owner only. Existing directories are left unchanged.
fn private_directory(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(Into::into)
}
