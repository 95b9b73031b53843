//! Access to a store's file while no process has it open: a check for damage, and reads of single records.

use std::fs::File;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};
use selfsame_crypto::seal::SealingKey;

use super::sums::{self, Sums};
use super::{Map, entry, event, file, letter, place, record, schema, tenant};
use crate::backend::{
    KEY_KIND, LIST_KIND, Place, SealedEntry, SealedLetter, SealedRecord, StoredEvent,
};
use crate::error::{Result, StoreError};
use crate::looked::{Looked, Tell};
use crate::outbox;
use crate::rotation::KeyTrouble;
use crate::tenant::TenantId;
use crate::vault::Vault;

const RECORDS: &str =
    "SELECT id, seq, version, expires, value, tenant, kind, id FROM records ORDER BY seq";
const RECORD: &str = "SELECT id, seq, version, expires, value FROM records
    WHERE tenant = ?1 AND kind = ?2 AND id = ?3";
const OUTBOX: &str =
    "SELECT id, tenant, lane, not_before, attempts, created, sealed FROM outbox ORDER BY seq";

/// The rows of all tables that do not follow from others, in order of insertion.
const ROWS: [(&str, Map<FileRow>); 5] = [
    (
        "SELECT id, seq, version, expires, value, tenant, kind, id, tags FROM records ORDER BY seq",
        |row| Ok(FileRow::Record(place(row, 5)?, record(row)?, row.get(8)?)),
    ),
    ("SELECT tenant, counter, next FROM counters", |row| {
        let next = row.get::<_, i64>(2)?.cast_unsigned();
        Ok(FileRow::Counter(tenant(row, 0)?, row.get(1)?, next))
    }),
    (
        "SELECT id, tenant, lane, not_before, attempts, created, sealed, seq, head FROM outbox
        WHERE buried IS NULL ORDER BY seq",
        |row| {
            let seq = row.get::<_, i64>(7)?.cast_unsigned();
            Ok(FileRow::Entry(entry(row)?, seq, row.get(8)?))
        },
    ),
    (
        "SELECT id, tenant, lane, not_before, attempts, created, sealed, seq, reason, buried FROM outbox
        WHERE buried IS NOT NULL ORDER BY seq",
        |row| letter(row).map(FileRow::Letter),
    ),
    (
        "SELECT seq, stamp, at, tenant, kind, id FROM events ORDER BY seq",
        |row| event(row).map(FileRow::Event),
    ),
];

/// A row of a file, for another back end.
pub enum FileRow {
    /// A record, and its tag keys, framed.
    Record(Place, SealedRecord, Vec<u8>),
    /// A counter of a tenant, and its next number.
    Counter(TenantId, String, u64),
    /// A pending entry of the outbox, its sequence number, and whether it is the first of its lane.
    Entry(SealedEntry, u64, bool),
    /// A dead letter.
    Letter(SealedLetter),
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
        match opened.check_key() {
            Err(StoreError::WrongKey(trouble)) => Err(StoreError::WrongKey(trouble)),
            // Errors are reported by the checks.
            Ok(()) | Err(_) => Ok(opened),
        }
    }

    /// Checks the whole file.
    pub fn look(&self, tell: Tell<'_>) -> Vec<Looked> {
        let sums = Sums::new(&self.vault.sum_key());
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
                sums.look(&self.connection, self.was_summed(), looked)
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
        // The layout before has the same tables.
        if found != known && found != schema::UNLISTED {
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
        let place = crate::store::place(tenant, kind, id);
        match self.kept(tenant, kind, id)? {
            Some(kept) => (self.vault).open_record(&place, &kept, || self.key(tenant)),
            None => Ok(None),
        }
    }

    /// The number of commits counted; `None` if they are not counted yet.
    ///
    /// # Errors
    /// If it can't be read.
    pub fn generation(&self) -> Result<Option<u64>> {
        match schema::lacks_sum(&self.connection)? {
            true => Ok(None),
            false => sums::generation(&self.connection).map(Some),
        }
    }

    /// The key is right if the list of master keys or the instance's own key opens with it, or it sealed the sum. All
    /// may be damaged, but hardly at once.
    fn check_key(&self) -> Result<()> {
        let instance = TenantId::instance();
        let (list, own) = (self.kept(&instance, LIST_KIND, "")?, self.key(&instance)?);
        match self.vault.begin(list.as_ref(), own.as_ref()) {
            Err(StoreError::WrongKey(trouble @ KeyTrouble::Other)) => {
                let sums = Sums::new(&self.vault.sum_key());
                match sums.is_of_this_key(&self.connection).ok().flatten() {
                    Some(true) => Ok(()),
                    _ => Err(StoreError::WrongKey(trouble)),
                }
            }
            // If there is no such record, the file is empty and fits every key.
            Ok(_) if own.is_none() => {
                let records = "SELECT EXISTS (SELECT 1 FROM records)";
                let some: bool = self.connection.query_row(records, [], |row| row.get(0))?;
                let sums = Sums::new(&self.vault.sum_key());
                match some && sums.is_of_this_key(&self.connection).ok().flatten() != Some(true) {
                    true => Err(StoreError::WrongKey(KeyTrouble::Other)),
                    false => Ok(()),
                }
            }
            begun => begun.map(drop),
        }
    }

    /// Whether the rows were summed, according to the instance's own key. Without that key, the instance has written
    /// nothing.
    fn was_summed(&self) -> bool {
        let instance = TenantId::instance();
        let own = self.vault.keys_of(&instance, || self.key(&instance));
        // A key that does not open is reported with the records.
        own.is_ok_and(|own| own.is_none_or(|own| own.is_summed()))
    }

    fn records(&self, looked: &mut Looked, tell: Tell<'_>) -> Result<()> {
        if let Some(damage) = self.vault.list_damage() {
            looked.wrong(damage);
        }
        let mut statement = self.connection.prepare(RECORDS)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            looked.one(tell);
            let number: i64 = row.get(1)?;
            let (Ok(place), Ok(sealed)) = (place(row, 5), record(row)) else {
                looked.wrong(format!("record {number} has columns that can't be read"));
                continue;
            };
            let key = || self.key(&place.tenant);
            if self.vault.open_record(&place, &sealed, key).is_err() {
                let kind = &place.kind;
                looked.unopened(&format!("record {number} (kind {kind:?})"));
            }
        }
        Ok(())
    }

    fn outbox(&self, looked: &mut Looked, tell: Tell<'_>) -> Result<()> {
        let mut statement = self.connection.prepare(OUTBOX)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            looked.one(tell);
            let opens = entry(row).map_err(StoreError::from).and_then(|sealed| {
                let key = || self.key(&sealed.tenant);
                outbox::opens(&self.vault, &sealed, key)
            });
            if opens.is_err() {
                let id: i64 = row.get(0)?;
                looked.unopened(&format!("entry {id} of the outbox"));
            }
        }
        Ok(())
    }

    fn key(&self, tenant: &TenantId) -> Result<Option<SealedRecord>> {
        self.kept(tenant, KEY_KIND, "")
    }

    fn kept(&self, tenant: &TenantId, kind: &str, id: &str) -> Result<Option<SealedRecord>> {
        let mut find = self.connection.prepare_cached(RECORD)?;
        let found = find.query_row(params![tenant.as_str(), kind, id], record);
        Ok(found.optional()?)
    }
}
