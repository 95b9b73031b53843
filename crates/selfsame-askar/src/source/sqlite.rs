//! A wallet in a file of SQLite. The file is never changed.
//!
//! While no agent has the file open, SQLite is told that it cannot change: then SQLite takes no lock and creates no file
//! beside it, and after each question we look whether the file is still the same. An agent that has the file open, or
//! did not close it, has a journal beside it; then SQLite reads both, and takes the locks that readers take.

use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::types::{FromSql, Value};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Row, params};

use super::{CONFIG, ItemPage, PROFILE_BYTES_MAX, ProfilesAsked, misfit};
use crate::cursor::RecordCursor;
use crate::error::WalletError;
use crate::expiry::Expiry;
use crate::sealed::{
    ItemHead, SealedItem, SealedProfile, SealedTag, StoreConfig, StoredExpiry, Totals,
};

const TABLES: [&str; 4] = ["config", "profiles", "items", "items_tags"];
/// How long an agent may hold the file.
const BUSY: Duration = Duration::from_secs(5);

pub(crate) struct SqliteSource(Arc<Mutex<OpenFile>>);

struct OpenFile {
    connection: Connection,
    path: PathBuf,
    /// The file's stamp at opening; `None` if the file had a journal, so that another program may be writing to it.
    closed: Option<Stamp>,
}

/// What changes when a file is written.
#[derive(Eq, PartialEq)]
struct Stamp {
    device: u64,
    inode: u64,
    length: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl SqliteSource {
    pub async fn open(path: &Path) -> Result<Self, WalletError> {
        let path = path.to_owned();
        let opened = on_a_thread(move || OpenFile::open(path)).await?;
        Ok(Self(Arc::new(Mutex::new(opened))))
    }

    pub async fn config(&self) -> Result<StoreConfig, WalletError> {
        self.ask(|connection| {
            connection.query_row(CONFIG, [], |row| {
                Ok(StoreConfig {
                    version: row.get(0)?,
                    key: row.get(1)?,
                    default_profile: row.get(2)?,
                })
            })
        })
        .await
    }

    pub async fn profiles(
        &self,
        asked: &ProfilesAsked<'_>,
        limit: u16,
    ) -> Result<Vec<SealedProfile>, WalletError> {
        let (condition, value) = match asked {
            ProfilesAsked::After(id) => ("id > ?1", Value::Integer(*id)),
            ProfilesAsked::Named(name) => ("name = ?1", Value::Text((*name).to_owned())),
        };
        let sql = format!(
            "SELECT id, CASE WHEN octet_length(name) <= ?3 THEN name END,
                    CASE WHEN octet_length(profile_key) <= ?3 THEN profile_key END
             FROM profiles WHERE {condition} ORDER BY id LIMIT ?2"
        );
        self.ask(move |connection| {
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map(params![value, limit, PROFILE_BYTES_MAX], |row| {
                Ok(SealedProfile {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    key: row.get(2)?,
                })
            })?;
            rows.collect()
        })
        .await
    }

    pub async fn heads(&self, page: &ItemPage<'_>) -> Result<Vec<ItemHead>, WalletError> {
        let (profile, limit) = (page.profile, page.limit);
        let RecordCursor {
            kind,
            category,
            name,
        } = page.after.clone();
        self.ask(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT i.id, octet_length(i.category) + octet_length(i.name), octet_length(i.value),
                        (SELECT COUNT(*) FROM items_tags t WHERE t.item_id = i.id),
                        (SELECT COALESCE(SUM(octet_length(t.name) + octet_length(t.value)), 0)
                         FROM items_tags t WHERE t.item_id = i.id)
                 FROM items i
                 WHERE i.profile_id = ?1 AND (i.kind, i.category, i.name) > (?2, ?3, ?4)
                 ORDER BY i.kind, i.category, i.name LIMIT ?5",
            )?;
            let after = params![profile, kind, category, name, limit];
            let rows = statement.query_map(after, |row| {
                Ok(ItemHead {
                    id: row.get(0)?,
                    key_bytes: row.get(1)?,
                    value_bytes: row.get(2)?,
                    tags: row.get(3)?,
                    tag_bytes: row.get(4)?,
                })
            })?;
            rows.collect()
        })
        .await
    }

    pub async fn items(&self, ids: &[i64], value_max: i64) -> Result<Vec<SealedItem>, WalletError> {
        let ids = ids.to_vec();
        self.ask(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT id, kind, category, name,
                        CASE WHEN octet_length(value) <= ?2 THEN value END, expiry
                 FROM items WHERE id = ?1",
            )?;
            let item = |id: &i64| statement.query_row(params![id, value_max], sealed_item);
            ids.iter().map(item).collect()
        })
        .await
    }

    pub async fn tags(&self, ids: &[i64]) -> Result<Vec<SealedTag>, WalletError> {
        let ids = ids.to_vec();
        self.ask(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT item_id, name, value, plaintext FROM items_tags WHERE item_id = ?1 ORDER BY id",
            )?;
            let mut tags = Vec::new();
            for id in ids {
                let of_item = statement.query_map([id], |row| {
                    Ok(SealedTag {
                        item: row.get(0)?,
                        name: row.get(1)?,
                        value: row.get(2)?,
                        plaintext: row.get(3)?,
                    })
                })?;
                for tag in of_item {
                    tags.push(tag?);
                }
            }
            Ok(tags)
        })
        .await
    }

    /// Counts the rows themselves, not the entries of an index, which damage can make differ.
    pub async fn totals(&self) -> Result<Totals, WalletError> {
        self.ask(|connection| {
            let count = |table: &str| {
                let sql = format!("SELECT COUNT(id + 0) FROM {table} NOT INDEXED");
                connection.query_row(&sql, [], |row| row.get(0))
            };
            Ok(Totals {
                items: count("items")?,
                tags: count("items_tags")?,
            })
        })
        .await
    }

    /// Asks the database on a thread that may wait.
    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, WalletError> {
        let file = Arc::clone(&self.0);
        on_a_thread(move || {
            let file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let answer = question(&file.connection);
            // What was read from a file that changed may be anything.
            file.is_unchanged()?;
            answer.map_err(|error| failed(&error))
        })
        .await
    }
}

impl OpenFile {
    fn open(path: PathBuf) -> Result<Self, WalletError> {
        let unreachable = |why: &dyn std::fmt::Display| {
            WalletError::Unreachable(format!("{}: {why}", path.display()))
        };
        let stamp = Stamp::of(&path).map_err(|error| unreachable(&error))?;
        let closed = (!has_journal(&path)).then_some(stamp);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(uri(&path, closed.is_some()), flags)
            .map_err(|error| unreachable(&error))?;
        let prepared = prepare(&connection);
        let file = Self {
            connection,
            path,
            closed,
        };
        file.is_unchanged()?;
        prepared.map_err(|error| failed(&error))?;
        file.has_the_tables()?;
        Ok(file)
    }

    fn is_unchanged(&self) -> Result<(), WalletError> {
        let Some(closed) = &self.closed else {
            return Ok(());
        };
        let now = Stamp::of(&self.path);
        match now.is_ok_and(|now| now == *closed) && !has_journal(&self.path) {
            true => Ok(()),
            false => Err(WalletError::Changed),
        }
    }

    /// A view of a foreign file could run for ever, so all must be tables.
    fn has_the_tables(&self) -> Result<(), WalletError> {
        let kind = |name: &str| {
            let sql = "SELECT type FROM sqlite_schema WHERE name = ?1";
            let kind = self.connection.query_row(sql, [name], |row| row.get(0));
            let kind: Option<String> = kind.optional().map_err(|error| failed(&error))?;
            Ok::<_, WalletError>(kind)
        };
        for table in TABLES {
            if kind(table)?.as_deref() != Some("table") {
                let is_indy = kind("tags_encrypted")?.is_some();
                return Err(WalletError::Foreign(match is_indy {
                    true => "it is a wallet of the Indy SDK, which Askar has a migration for",
                    false => "it has other tables",
                }));
            }
        }
        Ok(())
    }
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.execute_batch("PRAGMA query_only = ON; PRAGMA cell_size_check = ON; BEGIN")?;
    // The first question begins the snapshot.
    connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| {
        row.get::<_, i64>(0)
    })?;
    Ok(())
}

fn sealed_item(row: &Row<'_>) -> rusqlite::Result<SealedItem> {
    Ok(SealedItem {
        id: row.get(0)?,
        kind: row.get(1)?,
        category: row.get(2)?,
        name: row.get(3)?,
        value: row.get(4)?,
        expiry: row.get(5)?,
    })
}

impl FromSql for StoredExpiry {
    fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
        Ok(match value {
            rusqlite::types::ValueRef::Null => Self::Never,
            value => value
                .as_str()
                .ok()
                .and_then(Expiry::parse)
                .map_or(Self::Unclear, Self::At),
        })
    }
}

/// The address of the file for SQLite, with every byte that could have a meaning in it escaped.
fn uri(path: &Path, immutable: bool) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    if immutable {
        uri.push_str("?immutable=1");
    }
    uri
}

/// Whether an agent writes to the file, or did not close it.
fn has_journal(path: &Path) -> bool {
    ["-wal", "-journal"].iter().any(|suffix| {
        let mut name = path.as_os_str().as_bytes().to_vec();
        name.extend_from_slice(suffix.as_bytes());
        let beside = PathBuf::from(std::ffi::OsString::from_vec(name));
        std::fs::metadata(beside).is_ok_and(|found| found.len() > 0)
    })
}

impl Stamp {
    fn of(path: &Path) -> std::io::Result<Self> {
        let metadata = std::fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(std::io::Error::other("it is not a file"));
        }
        Ok(Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            length: metadata.len(),
            seconds: metadata.mtime(),
            nanoseconds: metadata.mtime_nsec(),
        })
    }
}

fn failed(error: &rusqlite::Error) -> WalletError {
    match error {
        rusqlite::Error::SqliteFailure(code, _) => match code.code {
            ErrorCode::NotADatabase => WalletError::Foreign("it is not a database of SQLite"),
            ErrorCode::DatabaseCorrupt => {
                WalletError::Damaged("SQLite finds its pages malformed".to_owned())
            }
            ErrorCode::ReadOnly => WalletError::Unreachable(
                "its agent was killed while it wrote; let the agent open and close it once"
                    .to_owned(),
            ),
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
                WalletError::Unreachable(error.to_string())
            }
            _ => WalletError::Database(error.to_string()),
        },
        rusqlite::Error::QueryReturnedNoRows => {
            WalletError::Damaged("an index names an item that is not there".to_owned())
        }
        rusqlite::Error::InvalidColumnType(_, column, _) => misfit(column),
        rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::Utf8Error(..) => misfit("a value"),
        _ => WalletError::Database(error.to_string()),
    }
}

async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WalletError> + Send + 'static,
) -> Result<T, WalletError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or(Err(WalletError::Machine("the process is about to end")))
}
