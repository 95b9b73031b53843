//! Access to a store's file while no process has it open: a check for damage, and reads of single records.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Row, params};
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;

use super::sums::{self, Sums};
use super::{Map, entry, event, file, record, schema, tenant};
use crate::backend::{KEY_KIND, Place, SealedEntry, SealedRecord, StoredEvent};
use crate::error::{Result, StoreError};
use crate::looked::{Looked, Tell};
use crate::outbox;
use crate::store::COPIED;
use crate::tenant::TenantId;
use crate::vault::{TenantKeys, Vault, bound};

const RECORDS: &str = "SELECT seq, tenant, kind, id, version, value FROM records ORDER BY seq";
const RECORD: &str = "SELECT seq, tenant, kind, id, version, value FROM records
    WHERE tenant = ?1 AND kind = ?2 AND id = ?3";
const OUTBOX: &str =
    "SELECT id, tenant, lane, not_before, attempts, created, sealed FROM outbox ORDER BY seq";

/// The rows of all tables that do not follow from others, in order of insertion.
const ROWS: [(&str, Map<FileRow>); 4] = [
    (
        "SELECT id, seq, version, expires, value, tenant, kind, tags FROM records ORDER BY seq",
        |row| {
            let sealed = record(row)?;
            let place = Place {
                tenant: tenant(row, 5)?,
                kind: row.get(6)?,
                id: sealed.id.clone(),
            };
            let tags = row.get(7)?;
            Ok(FileRow::Record {
                place,
                sealed,
                tags,
            })
        },
    ),
    ("SELECT tenant, counter, next FROM counters", |row| {
        Ok(FileRow::Counter {
            tenant: tenant(row, 0)?,
            counter: row.get(1)?,
            next: row.get::<_, i64>(2)?.cast_unsigned(),
        })
    }),
    (
        "SELECT id, tenant, lane, not_before, attempts, created, sealed, seq, head, reason, buried FROM outbox
        ORDER BY seq",
        |row| {
            Ok(FileRow::Entry {
                entry: entry(row)?,
                seq: row.get::<_, i64>(7)?.cast_unsigned(),
                head: row.get(8)?,
                reason: row.get(9)?,
                buried: row.get::<_, Option<i64>>(10)?.map(|at| UnixTime(at.cast_unsigned())),
            })
        },
    ),
    (
        "SELECT seq, stamp, at, tenant, kind, id FROM events ORDER BY seq",
        |row| event(row).map(FileRow::Event),
    ),
];

/// A row of a file, for another back end.
pub enum FileRow {
    /// A record.
    Record {
        /// Where it is.
        place: Place,
        /// The rest of it.
        sealed: SealedRecord,
        /// Its tag keys, framed.
        tags: Vec<u8>,
    },
    /// A counter.
    Counter {
        /// Whose it is.
        tenant: TenantId,
        /// Its name.
        counter: String,
        /// The next number.
        next: u64,
    },
    /// An entry of the outbox, or a dead letter.
    Entry {
        /// The entry.
        entry: SealedEntry,
        /// The sequence number.
        seq: u64,
        /// Whether it is the first of its lane.
        head: bool,
        /// Why it was given up.
        reason: Option<String>,
        /// When it was given up.
        buried: Option<UnixTime>,
    },
    /// An event.
    Event(StoredEvent),
}

/// A store's file and the key it is sealed with.
pub struct StoreFile {
    connection: Connection,
    vault: Vault,
    // Last field, so that the lock is released after the connection is closed.
    _lock: File,
}

/// A record as stored in the file.
struct FileRecord {
    tenant: TenantId,
    kind: String,
    id: String,
    version: u64,
    value: Vec<u8>,
}

impl StoreFile {
    /// Opens a file and locks it against other processes.
    ///
    /// # Errors
    /// `InUse` if another process has it open, `Foreign` and `OtherLayout` for other files, `WrongKey` if nothing in
    /// the file was written under this key.
    pub fn open(path: &Path, vault: Vault) -> Result<Self> {
        let (lock, connection) = file::open_offline(path, &schema::FORMAT)?;
        let opened = Self {
            connection,
            vault,
            _lock: lock,
        };
        match opened.is_of_this_key() {
            Ok(false) => Err(StoreError::WrongKey),
            // Errors are reported by the checks.
            Ok(true) | Err(_) => Ok(opened),
        }
    }

    /// Checks the whole file.
    pub fn look(&self, tell: Tell<'_>) -> Vec<Looked> {
        let sums = Sums::new(self.vault.sum_key());
        let through = |what, look: &dyn Fn(&mut Looked) -> Result<()>| {
            tell(what, 0);
            Looked::through(what, look)
        };
        vec![
            through("pages", &|looked| {
                let unsound = file::unsound(&self.connection)?;
                unsound.into_iter().for_each(|line| looked.wrong(line));
                Ok(())
            }),
            through("sum", &|looked| {
                sums.look(&self.connection, self.was_summed()?, looked)
            }),
            through("records", &|looked| self.records(looked, tell)),
            through("outbox", &|looked| self.outbox(looked, tell)),
            through("tags", &|looked| {
                sums::look_at_tags(&self.connection, looked)
            }),
        ]
    }

    /// The key of the sum over all rows, for the back end that the rows are written to.
    #[must_use]
    pub fn sum_key(&self) -> SealingKey {
        self.vault.sum_key()
    }

    /// Hands over every row, table by table.
    ///
    /// # Errors
    /// `OtherLayout` for a file of a former layout; those of `take`.
    pub fn rows(&self, mut take: impl FnMut(FileRow) -> Result<()>) -> Result<()> {
        let (found, known) = (schema::version(&self.connection)?, schema::FORMAT.version);
        if found != known {
            return Err(StoreError::OtherLayout { found, known });
        }
        for (rows, map) in ROWS {
            let mut statement = self.connection.prepare(rows)?;
            for row in statement.query_map([], map)? {
                take(row?)?;
            }
        }
        Ok(())
    }

    /// The value of a record, even if it has expired.
    ///
    /// # Errors
    /// If it can't be read or decrypted.
    pub fn read(&self, tenant: &TenantId, kind: &str, id: &str) -> Result<Option<Vec<u8>>> {
        let Some(kept) = self.kept(tenant, kind, id)? else {
            return Ok(None);
        };
        self.opened(&kept)
    }

    /// Whether the file is a copy that has not been started from yet.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn is_unbegun_copy(&self) -> Result<bool> {
        Ok(self.kept(&TenantId::instance(), COPIED, "")?.is_some())
    }

    /// The number of commits counted; `None` if they are not counted yet.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn generation(&self) -> Result<Option<u64>> {
        if schema::lacks_sum(&self.connection)? {
            return Ok(None);
        }
        let generation = self
            .connection
            .query_row("SELECT generation FROM totals", [], |row| {
                row.get::<_, i64>(0)
            });
        Ok(generation.optional()?.map(i64::cast_unsigned))
    }

    /// The key is right if it sealed the sum or opens the instance's own key. Both may be damaged, but hardly at once.
    fn is_of_this_key(&self) -> Result<bool> {
        let sums = Sums::new(self.vault.sum_key());
        if sums.is_of_this_key(&self.connection).ok().flatten() == Some(true) {
            return Ok(true);
        }
        match self.keys(&TenantId::instance()) {
            Ok(Some(_)) => Ok(true),
            Err(StoreError::WrongKey) => Ok(false),
            // If there is no such record, the file is empty and fits every key.
            Ok(None) => {
                let records = "SELECT EXISTS (SELECT 1 FROM records)";
                let some: bool = self.connection.query_row(records, [], |row| row.get(0))?;
                Ok(!some)
            }
            Err(other) => Err(other),
        }
    }

    /// Whether the rows were summed, according to the instance's own key. Without that key, the instance has written
    /// nothing.
    fn was_summed(&self) -> Result<bool> {
        let kept = self.kept(&TenantId::instance(), KEY_KIND, "")?;
        let own = kept.map(|kept| self.unwrapped(&kept)).transpose();
        // A key that does not open is reported with the records.
        Ok(own.is_ok_and(|own| own.is_none_or(|own| own.is_summed())))
    }

    fn records(&self, looked: &mut Looked, tell: Tell<'_>) -> Result<()> {
        let mut statement = self.connection.prepare(RECORDS)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            looked.one(tell);
            let number: i64 = row.get(0)?;
            let Ok(kept) = kept(row) else {
                looked.wrong(format!("record {number} has columns that can't be read"));
                continue;
            };
            let opens = match kept.kind == KEY_KIND {
                true => self.unwrapped(&kept).map(drop),
                false => self.opened(&kept).map(drop),
            };
            if opens.is_err() {
                looked.wrong(format!(
                    "record {number} (kind {:?}) does not open with the master key",
                    kept.kind
                ));
            }
        }
        Ok(())
    }

    fn outbox(&self, looked: &mut Looked, tell: Tell<'_>) -> Result<()> {
        let mut statement = self.connection.prepare(OUTBOX)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            looked.one(tell);
            let opens = match entry(row) {
                Ok(sealed) => match self.keys(&sealed.tenant) {
                    Ok(Some(keys)) => outbox::open(&keys, &sealed).map(drop),
                    other => other.map(drop),
                },
                Err(error) => Err(error.into()),
            };
            if opens.is_err() {
                let number: i64 = row.get(0)?;
                looked.wrong(format!(
                    "entry {number} of the outbox does not open with the master key"
                ));
            }
        }
        Ok(())
    }

    fn opened(&self, kept: &FileRecord) -> Result<Option<Vec<u8>>> {
        let bound = bound(&kept.tenant, &kept.kind, &kept.id, kept.version);
        match self.keys(&kept.tenant)? {
            Some(keys) => keys.open(&bound, &kept.value).map(Some),
            None => Ok(None),
        }
    }

    /// `None` for a tenant that is being destroyed: the sum shows a key that was removed from outside.
    fn keys(&self, tenant: &TenantId) -> Result<Option<Arc<TenantKeys>>> {
        if let Some(keys) = self.vault.cached(tenant) {
            return Ok(Some(keys));
        }
        let kept = self.kept(tenant, KEY_KIND, "")?;
        kept.map(|kept| self.unwrapped(&kept)).transpose()
    }

    fn unwrapped(&self, kept: &FileRecord) -> Result<Arc<TenantKeys>> {
        self.vault.unwrap(&kept.tenant, kept.version, &kept.value)
    }

    fn kept(&self, tenant: &TenantId, kind: &str, id: &str) -> Result<Option<FileRecord>> {
        let mut find = self.connection.prepare_cached(RECORD)?;
        let found = find.query_row(params![tenant.as_str(), kind, id], kept);
        Ok(found.optional()?)
    }
}

fn kept(row: &Row<'_>) -> rusqlite::Result<FileRecord> {
    Ok(FileRecord {
        tenant: tenant(row, 1)?,
        kind: row.get(2)?,
        id: row.get(3)?,
        version: row.get::<_, i64>(4)?.cast_unsigned(),
        value: row.get(5)?,
    })
}
