//! Data files: who may open them, which format they have, how connections to them are set up.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Result, StoreError};

/// What kind of file it is and how it is laid out.
pub(crate) struct Format {
    /// Tells our files from others.
    pub(crate) application: u32,
    /// The layout this release knows.
    pub(crate) version: u32,
    /// Layouts that whoever opens the file makes into this one.
    pub(crate) former: &'static [u32],
    /// Lay out an empty file, one after the other.
    pub(crate) schema: &'static [&'static str],
    /// Whether pages that nothing is in may be given back to the file system.
    pub(crate) shrinks: bool,
}

impl Format {
    fn takes(&self, version: u32) -> bool {
        version == self.version || self.former.contains(&version)
    }
}

const STATEMENTS_CACHED: usize = 48;

/// Opens the file for writing, creating it if there is none. The lock is held until it is dropped.
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
        // Has an effect on an empty file alone.
        writer.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    lay_out(&mut writer, path, format)?;
    // WAL keeps readers and the writer apart. FULL: a commit is on the disk before it is answered.
    writer.pragma_update(None, "journal_mode", "WAL")?;
    writer.pragma_update(None, "synchronous", "FULL")?;
    writer.pragma_update(None, "cache_size", -4_096)?;
    set_up(&writer)?;
    File::open(parent)?.sync_all()?;
    Ok((lock, writer))
}

/// Opens the file, which a writer has opened before, for reading.
pub(crate) fn open_reader(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let reader = Connection::open_with_flags(path, flags)?;
    reader.pragma_update(None, "cache_size", -1_024)?;
    set_up(&reader)?;
    Ok(reader)
}

/// Writes the file's content, as of one moment, to a new file, whatever is written meanwhile, and lets `mark` write on
/// top of it there. Done where nobody waits, since it may take long.
pub(crate) async fn copy(
    from: PathBuf,
    (to, format): (PathBuf, &'static Format),
    mark: impl FnOnce(&mut Connection) -> Result<()> + Send + 'static,
) -> Result<()> {
    tokio::task::spawn_blocking(move || copy_now(&from, (&to, format), mark))
        .await
        .map_err(|_| StoreError::Storage("a copy was cut off".to_owned()))?
}

fn copy_now(
    from: &Path,
    (to, format): (&Path, &Format),
    mark: impl FnOnce(&mut Connection) -> Result<()>,
) -> Result<()> {
    if let Some(parent) = to.parent() {
        private_directory(parent)?;
    }
    if to.exists() {
        return Err(StoreError::Storage(format!("{} exists", to.display())));
    }
    // Made by us, empty, so that only its owner can ever read it.
    let file = private_file(to)?;
    let name = to.to_str().ok_or(StoreError::Malformed("path"))?;
    open_reader(from)?.execute("VACUUM INTO ?1", [name])?;
    file.sync_all()?;
    let (lock, mut connection) = open_writer(to, format)?;
    mark(&mut connection)?;
    // One file, without a log beside it.
    connection.pragma_update(None, "journal_mode", "DELETE")?;
    drop((connection, lock));
    Ok(std::fs::remove_file(beside(to, ".lock"))?)
}

/// Looks through the whole file for damage.
pub(crate) fn check(path: &Path, format: &Format) -> Result<()> {
    let connection = open_reader(path)?;
    is_of(&connection, path, format)?;
    let said: String = connection.pragma_query_value(None, "integrity_check", |row| row.get(0))?;
    if said != "ok" {
        return Err(StoreError::Tampered("file"));
    }
    Ok(())
}

/// Opens a file that no process has open, for reading. The lock keeps others away until it is dropped.
pub(crate) fn open_offline(path: &Path, format: &Format) -> Result<(File, Connection)> {
    if !path.exists() {
        return Err(StoreError::Foreign(path.to_owned()));
    }
    let lock = lock(path)?;
    let connection = open_reader(path)?;
    is_of(&connection, path, format)?;
    Ok((lock, connection))
}

/// What SQLite finds wrong in a file: nothing, where it is sound.
pub(crate) fn unsound(connection: &Connection) -> Result<Vec<String>> {
    let mut check = connection.prepare("PRAGMA integrity_check")?;
    let said = check.query_map([], |row| row.get::<_, String>(0))?;
    let mut said: Vec<String> = said.collect::<rusqlite::Result<_>>()?;
    said.retain(|line| line != "ok");
    Ok(said)
}

/// Whether a file is of this kind, and of a layout that this release knows.
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
    // A plan does not depend on the values bound to it: else SQLite parses some statements anew for each of them.
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
    // An empty file has neither mark nor tables; ours get all of them at once.
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

/// A file that belongs to this one, named by what is added to its name.
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

/// Creates what is missing of the path, for its owner only; a directory that is there is left as it is.
fn private_directory(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(Into::into)
}
