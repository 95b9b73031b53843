//! A keyed sum over all rows. Each row has an element that only the holder of the key can compute. Their sum is stored
//! in a separate row and written in the commit that changes the rows. If a row is removed, moved or replaced by an
//! older version, the sum does not match.
//!
//! Triggers add each change of a row to a tally in memory, so that no writing statement can omit it. The writer puts the
//! tally into the sum's row before it commits, and takes it back when it rolls back.

use std::cmp::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Null, ValueRef};
use rusqlite::{Connection, OptionalExtension, params};
use selfsame_crypto::frame;
use selfsame_crypto::hash::sum::{Sum, Tally};
use selfsame_crypto::seal::{MacKey, SealingKey};

use super::{file, schema};
use crate::error::{Result, StoreError};
use crate::looked::Looked;

/// The summed tables and their columns.
const SUMMED: [(&str, &[&str]); 4] = [
    (
        "records",
        &[
            "seq", "tenant", "kind", "id", "version", "expires", "tags", "value",
        ],
    ),
    ("counters", &["tenant", "counter", "next"]),
    (
        "outbox",
        &[
            "id",
            "seq",
            "tenant",
            "lane",
            "head",
            "not_before",
            "attempts",
            "created",
            "buried",
            "reason",
            "sealed",
        ],
    ),
    (EVENTS, &["seq", "stamp", "at", "tenant", "kind", "id"]),
];
/// The table that files of former layouts lack.
const EVENTS: &str = "events";

/// Writes the tally and counts a commit. The MAC binds sum, number of rows and count together.
const SEAL: &str = "UPDATE totals SET sum = ?1, rows = ?2, generation = generation + 1,
    mac = total(?1, ?2, generation + 1) RETURNING generation";
const TOTALS: &str = "SELECT sum, rows, generation, mac FROM totals";

/// The length, in bytes, that most rows have when framed.
const FRAMED: usize = 2048;

/// Computes sums with a key.
#[derive(Clone)]
pub(super) struct Sums(Arc<MacKey>);

/// The row of the sum.
struct Totals {
    sum: Vec<u8>,
    rows: i64,
    generation: i64,
    mac: Vec<u8>,
}

/// The sum of a connection that writes. Triggers change the tally with each row.
pub(super) struct KeptSum {
    sums: Sums,
    tally: Arc<Mutex<Tally>>,
    committed: Tally,
}

impl KeptSum {
    /// The tally with the changes of the open transaction.
    pub(super) fn tally(&self) -> Tally {
        *changed(&self.tally)
    }

    /// Takes back what changed since `tally` was the tally, as a savepoint is rolled back.
    pub(super) fn back_to(&self, tally: Tally) {
        *changed(&self.tally) = tally;
    }

    /// Takes back what changed since the last commit.
    pub(super) fn roll_back(&self) {
        self.back_to(self.committed);
    }

    /// Puts the tally into the sum's row, and counts the commit that follows. Returns the count.
    pub(super) fn seal(&self, connection: &Connection) -> Result<u64> {
        let Tally { sum, rows } = self.tally();
        let mut seal = connection.prepare_cached(SEAL)?;
        let counted = seal.query_row(params![sum.to_bytes(), rows], |row| row.get(0));
        let generation: Option<i64> = counted.optional()?;
        let generation = generation.ok_or(StoreError::Tampered("sum of all records"))?;
        Ok(generation.cast_unsigned())
    }

    /// Remembers the tally as that of the last commit.
    pub(super) fn committed(&mut self) {
        self.committed = self.tally();
    }

    pub(super) fn sums(&self) -> Sums {
        self.sums.clone()
    }
}

fn changed(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sums {
    pub(super) fn new(key: &SealingKey) -> Self {
        Self(Arc::new(key.mac_key()))
    }

    /// Maintains the sum on this connection from now on. The file must have this release's layout.
    pub(super) fn keep(&self, connection: &Connection) -> Result<KeptSum> {
        let found = totals(connection)?.ok_or(StoreError::Tampered("sum of all records"))?;
        let committed = Tally {
            sum: Sum::of(&found.sum).ok_or(StoreError::Tampered("sum of all records"))?,
            rows: found.rows,
        };
        let tally = Arc::new(Mutex::new(committed));
        self.teach(connection)?;
        self.teach_changes(connection, &tally)?;
        for (table, columns) in SUMMED {
            connection.execute_batch(&triggers(table, columns))?;
        }
        let sums = self.clone();
        Ok(KeptSum {
            sums,
            tally,
            committed,
        })
    }

    /// Registers the SQL functions that compute sums on a connection.
    fn teach(&self, connection: &Connection) -> Result<()> {
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
        let sums = self.clone();
        connection.create_scalar_function("element", -1, flags, move |row| {
            Ok(sums.element(&framed(arguments(row))).to_bytes())
        })?;
        let sums = self.clone();
        connection.create_scalar_function("total", 3, flags, move |row| {
            Ok(sums.0.mac(&framed(arguments(row))))
        })?;
        Ok(())
    }

    /// Registers the SQL functions by which triggers change the tally.
    fn teach_changes(&self, connection: &Connection, tally: &Arc<Mutex<Tally>>) -> Result<()> {
        for (name, is_added) in [("row_added", true), ("row_removed", false)] {
            let (sums, tally) = (self.clone(), tally.clone());
            let flags = FunctionFlags::SQLITE_UTF8;
            connection.create_scalar_function(name, -1, flags, move |row| {
                let element = sums.element(&framed(arguments(row)));
                match is_added {
                    true => changed(&tally).add(element),
                    false => changed(&tally).take(element),
                }
                Ok(Null)
            })?;
        }
        Ok(())
    }

    /// Recomputes the sum over all rows and compares it, then compares the tag index with the records. A file without a
    /// sum gets one, unless it had one before, which `kept` says, as recorded under the key.
    ///
    /// # Errors
    /// `Tampered` if a row was removed, restored, moved or changed.
    pub(super) fn begin(&self, connection: &mut Connection, kept: bool) -> Result<()> {
        self.teach(connection)?;
        let sound = is_sound(connection)?;
        let former = schema::lacks_sum(connection)?;
        let (sum, rows) = self.all(connection)?;
        if former && kept && rows > 0 {
            tracing::error!(rows, "the sum of the store's rows was removed from outside");
            return Err(StoreError::Tampered("sum of all records"));
        }
        let found = match former {
            true => None,
            false => totals(connection)?,
        };
        match found {
            Some(found) => {
                self.compare(&found, sum, rows)?;
                taken_over(connection)?;
            }
            None if former || rows == 0 => self.first(connection, sum, rows)?,
            None => return Err(StoreError::Tampered("sum of all records")),
        }
        if !sound {
            // The rows are verified, and indices are derived from them alone.
            made_again(connection)?;
        }
        tags_are_whole(connection)
    }

    fn element(&self, row: &[u8]) -> Sum {
        Sum::of(&self.0.mac(row)).unwrap_or_default()
    }

    fn all(&self, connection: &Connection) -> Result<(Sum, i64)> {
        let (mut sum, mut rows) = (Sum::default(), 0_i64);
        let lacks_events = schema::lacks_events(connection)?;
        let there = |(table, _): &(&str, _)| *table != EVENTS || !lacks_events;
        for (table, columns) in SUMMED.into_iter().filter(there) {
            let query = format!(
                "SELECT element('{table}', {}) FROM {table}",
                columns.join(", ")
            );
            let mut statement = connection.prepare(&query)?;
            let mut found = statement.query([])?;
            while let Some(row) = found.next()? {
                let element: Vec<u8> = row.get(0)?;
                sum = sum.plus(Sum::of(&element).unwrap_or_default());
                rows = rows.saturating_add(1);
            }
        }
        Ok((sum, rows))
    }

    fn compare(&self, found: &Totals, sum: Sum, rows: i64) -> Result<()> {
        let (missing, changed) = (found.rows != rows, found.sum != sum.to_bytes());
        if missing || changed {
            tracing::error!(
                rows,
                summed = found.rows,
                "rows of the store were removed, put back, moved or changed from outside"
            );
            return Err(StoreError::Tampered("set of records"));
        }
        match self.has_sealed(found) {
            true => Ok(()),
            false => Err(StoreError::Tampered("sum of all records")),
        }
    }

    /// Whether the row of the sum was written under this key.
    fn has_sealed(&self, found: &Totals) -> bool {
        let said = [
            ValueRef::Blob(&found.sum),
            ValueRef::Integer(found.rows),
            ValueRef::Integer(found.generation),
        ];
        self.0.mac(&framed(said.into_iter()))[..] == found.mac[..]
    }

    /// Whether a file has a sum that was written under this key; `None` if it has no sum.
    pub(super) fn is_of_this_key(&self, connection: &Connection) -> Result<Option<bool>> {
        if schema::lacks_sum(connection)? {
            return Ok(None);
        }
        Ok(totals(connection)?.map(|found| self.has_sealed(&found)))
    }

    /// Reports how the rows of a file differ from its sum. A missing sum is damage too if the file had one before,
    /// which `kept` says, as recorded under the key.
    pub(super) fn look(
        &self,
        connection: &Connection,
        kept: bool,
        looked: &mut Looked,
    ) -> Result<()> {
        if schema::lacks_sum(connection)? {
            if kept {
                looked.wrong("the sum of all rows was removed, and the file is presented as one of a former layout");
                return Ok(());
            }
            looked.note = Some("the file is of a former layout, which has no sum");
            return Ok(());
        }
        self.teach(connection)?;
        let (sum, rows) = self.all(connection)?;
        looked.seen = rows.cast_unsigned();
        let Some(found) = totals(connection)? else {
            if rows > 0 {
                looked.wrong("the sum of all rows is missing");
            }
            return Ok(());
        };
        if !self.has_sealed(&found) {
            looked.wrong("the sum itself was changed");
        }
        match rows.cmp(&found.rows) {
            Ordering::Less => looked.wrong(format!(
                "rows were removed: there are {rows}, and {} were written",
                found.rows
            )),
            Ordering::Greater => looked.wrong(format!(
                "rows were put in: there are {rows}, and {} were written",
                found.rows
            )),
            Ordering::Equal if found.sum != sum.to_bytes() => {
                looked.wrong("a row was changed, moved, or put back as it was before");
            }
            Ordering::Equal => {}
        }
        Ok(())
    }

    fn first(&self, connection: &mut Connection, sum: Sum, rows: i64) -> Result<()> {
        let transaction = connection.transaction()?;
        schema::take_over(&transaction)?;
        // Not a commit of its own: the one that follows is counted.
        let insert = "INSERT INTO totals (one, sum, rows, generation, mac) VALUES (1, ?1, ?2, 1, total(?1, ?2, 1))";
        transaction.execute(insert, params![sum.to_bytes(), rows])?;
        transaction.commit()?;
        if rows > 0 {
            tracing::info!(rows, "the store's rows are summed from now on");
        }
        Ok(())
    }
}

/// The number of commits counted.
pub(super) fn generation(connection: &Connection) -> Result<u64> {
    let mut statement = connection.prepare_cached("SELECT generation FROM totals")?;
    let generation: i64 = statement.query_row([], |row| row.get(0))?;
    Ok(generation.cast_unsigned())
}

/// Converts a file to this release's layout, after its rows have matched the sum.
fn taken_over(connection: &mut Connection) -> Result<()> {
    let transaction = connection.transaction()?;
    schema::take_over(&transaction)?;
    Ok(transaction.commit()?)
}

fn totals(connection: &Connection) -> Result<Option<Totals>> {
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Totals {
            sum: row.get(0)?,
            rows: row.get(1)?,
            generation: row.get(2)?,
            mac: row.get(3)?,
        })
    };
    Ok(connection.query_row(TOTALS, [], read).optional()?)
}

/// Whether SQLite finds no damage. Indices that differ from their tables can be rebuilt.
///
/// # Errors
/// `Tampered` for cells and pages that SQLite cannot have written.
fn is_sound(connection: &Connection) -> Result<bool> {
    let said = file::unsound(connection)?;
    if let Some(said) = said.iter().find(|line| !is_of_an_index(line)) {
        tracing::error!(said, "the store's file is damaged");
        return Err(StoreError::Tampered("file"));
    }
    Ok(said.is_empty())
}

/// Whether this line of `PRAGMA integrity_check` reports an index that differs from its table.
fn is_of_an_index(line: &str) -> bool {
    [
        " missing from index ",
        " values differ from index ",
        "wrong # of entries in index ",
        "non-unique entry in index ",
    ]
    .iter()
    .any(|what| line.contains(what))
}

/// Rebuilds all indices of the file.
fn made_again(connection: &Connection) -> Result<()> {
    connection.execute_batch("REINDEX")?;
    match is_sound(connection)? {
        true => {
            tracing::warn!(
                "an index of the store's file was not that of its rows: all were made again"
            );
            Ok(())
        }
        false => Err(StoreError::Tampered("file")),
    }
}

/// The number of tags of the records, the number of those missing in the index, and the number in the index.
fn compared(connection: &Connection) -> Result<(i64, i64, i64)> {
    let (mut tags, mut missing) = (0_i64, 0_i64);
    let mut find = connection.prepare("SELECT 1 FROM tags WHERE tag = ?1 AND seq = ?2")?;
    for_each_tag(connection, |tag, seq| {
        tags = tags.saturating_add(1);
        missing = missing.saturating_add(i64::from(!find.exists(params![tag, seq])?));
        Ok(())
    })?;
    let found = connection.query_row("SELECT count(*) FROM tags", [], |row| row.get(0))?;
    Ok((tags, missing, found))
}

/// Reports how the tag index differs from the records.
pub(super) fn look_at_tags(connection: &Connection, looked: &mut Looked) -> Result<()> {
    let (tags, missing, found) = compared(connection)?;
    looked.seen = tags.cast_unsigned();
    if missing > 0 {
        looked.wrong(format!(
            "{missing} tags of records are not in the index; the next start makes it again"
        ));
    }
    let strange = found.saturating_add(missing).saturating_sub(tags);
    if strange > 0 {
        looked.wrong(format!(
            "{strange} tags in the index are of no record; the next start makes it again"
        ));
    }
    Ok(())
}

/// Checks the tag index, which is derived from the records' own lists of tags, and rebuilds it if it differs.
fn tags_are_whole(connection: &mut Connection) -> Result<()> {
    let transaction = connection.transaction()?;
    let (tags, missing, found) = compared(&transaction)?;
    if missing == 0 && found == tags {
        return Ok(());
    }
    transaction.execute("DELETE FROM tags", [])?;
    {
        let mut add = transaction.prepare("INSERT INTO tags (tag, seq) VALUES (?1, ?2)")?;
        for_each_tag(&transaction, |tag, seq| {
            add.execute(params![tag, seq])?;
            Ok(())
        })?;
    }
    transaction.commit()?;
    tracing::warn!(
        found,
        tags,
        "the index of tags was rebuilt: it was not that of the records"
    );
    Ok(())
}

fn for_each_tag(
    connection: &Connection,
    mut each: impl FnMut(&[u8], i64) -> Result<()>,
) -> Result<()> {
    let mut statement = connection.prepare("SELECT seq, tags FROM records")?;
    let mut records = statement.query([])?;
    while let Some(record) = records.next()? {
        let (seq, packed): (i64, Vec<u8>) = (record.get(0)?, record.get(1)?);
        for tag in frame::split(&packed).ok_or(StoreError::Tampered("list of tags"))? {
            each(tag, seq)?;
        }
    }
    Ok(())
}

fn triggers(table: &str, columns: &[&str]) -> String {
    let of = |row: &str| {
        let columns: Vec<_> = columns
            .iter()
            .map(|column| format!("{row}.{column}"))
            .collect();
        columns.join(", ")
    };
    let (new, old) = (of("NEW"), of("OLD"));
    let (added, removed) = (
        format!("SELECT row_added('{table}', {new});"),
        format!("SELECT row_removed('{table}', {old});"),
    );
    format!(
        "CREATE TEMP TRIGGER IF NOT EXISTS {table}_added AFTER INSERT ON main.{table} BEGIN {added} END;
        CREATE TEMP TRIGGER IF NOT EXISTS {table}_removed AFTER DELETE ON main.{table} BEGIN {removed} END;
        CREATE TEMP TRIGGER IF NOT EXISTS {table}_changed AFTER UPDATE ON main.{table} BEGIN {removed} {added} END;"
    )
}

/// All values, each preceded by its type and length, so that different rows never give the same bytes.
fn framed<'a>(row: impl Iterator<Item = ValueRef<'a>>) -> Vec<u8> {
    let mut framed = Vec::with_capacity(FRAMED);
    for value in row {
        let number;
        let (kind, bytes) = match value {
            ValueRef::Null => {
                frame::add(&mut framed, b"n");
                continue;
            }
            ValueRef::Integer(integer) => {
                number = integer.to_be_bytes();
                (b"i", &number[..])
            }
            ValueRef::Real(real) => {
                number = real.to_be_bytes();
                (b"r", &number[..])
            }
            ValueRef::Text(text) => (b"t", text),
            ValueRef::Blob(blob) => (b"b", blob),
        };
        frame::add(&mut framed, kind);
        frame::add(&mut framed, bytes);
    }
    framed
}

/// The arguments of an SQL function.
fn arguments<'a>(row: &'a Context<'_>) -> impl Iterator<Item = ValueRef<'a>> {
    (0..row.len()).map(|at| row.get_raw(at))
}
