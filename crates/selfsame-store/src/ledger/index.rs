//! The search index of transactions for the web pages: labels and words. It can always be rebuilt from the log.

use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use crate::error::{Result, StoreError};
use crate::sqlite::file::{self, Format};
use crate::sqlite::sql;

const FORMAT: Format = Format {
    application: 0x5353_6c69,
    version: 1,
    former: &[],
    schema: &[SCHEMA],
    shrinks: false,
};

/// `nth` numbers the hits of a label from 1 without gaps, so a page needs no counting; `found` numbers all operations.
const SCHEMA: &str = "
CREATE TABLE progress (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    upto INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE TABLE found (
    id INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    place INTEGER NOT NULL
) STRICT;
CREATE TABLE labels (
    id INTEGER PRIMARY KEY,
    label TEXT NOT NULL UNIQUE,
    count INTEGER NOT NULL
) STRICT;
CREATE TABLE labelled (
    label INTEGER NOT NULL,
    nth INTEGER NOT NULL,
    found INTEGER NOT NULL,
    PRIMARY KEY (label, nth)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE words USING fts5(labels, said, content = '', detail = full);
";

/// Hits of a word search are counted up to this number.
pub const COUNTED_MAX: u64 = 10_000;
/// The maximum number of words in a search; further words are ignored.
const WORDS_MAX: usize = 16;

/// An operation to index.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Marked {
    /// The sequence number of its transaction.
    pub seq: u64,
    /// Its position among the transaction's operations, from 0.
    pub place: u64,
    /// Labels for exact lookup.
    pub labels: Vec<String>,
    /// Text for word search.
    pub words: String,
}

/// A query.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Labels that a hit must all have.
    pub labels: Vec<String>,
    /// Words that a hit must all have. The last word may be incomplete.
    pub words: Option<String>,
    /// Where the answer begins.
    pub from: From,
    /// The maximum number of hits.
    pub count: u64,
}

/// The order and start of an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum From {
    /// Oldest first.
    Oldest {
        /// The number of hits to skip.
        skip: u64,
    },
    /// Newest first.
    Newest {
        /// Only hits older than the one with this cursor.
        before: Option<u64>,
    },
}

/// The result of a query.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Hits {
    /// The total number of hits; for word searches at most [`COUNTED_MAX`].
    pub total: u64,
    /// The requested hits.
    pub hits: Vec<Hit>,
}

/// An operation found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Hit {
    /// The cursor to continue after this hit.
    pub cursor: u64,
    /// The sequence number of its transaction.
    pub seq: u64,
    /// Its position among the transaction's operations, from 0.
    pub place: u64,
}

/// The index of one ledger.
pub struct Index {
    connection: Mutex<Connection>,
    // Last field, so that the lock is released after the connection is closed.
    _lock: Option<File>,
}

impl Index {
    /// Opens the index in this file. An index of another release is replaced by an empty one.
    ///
    /// # Errors
    /// If the file is not an index, is in use, or the disk fails.
    pub fn open(path: &Path) -> Result<Self> {
        let (lock, connection) = match file::open_writer(path, &FORMAT) {
            Err(StoreError::OtherLayout { .. }) => {
                for end in ["", "-wal", "-shm"] {
                    let mut name = path.as_os_str().to_owned();
                    name.push(end);
                    let _may_be_missing = std::fs::remove_file(name);
                }
                file::open_writer(path, &FORMAT)?
            }
            opened => opened?,
        };
        // Durability is not needed: the log must not be lost, but the index can be rebuilt.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        Ok(Self {
            connection: Mutex::new(connection),
            _lock: Some(lock),
        })
    }

    /// Creates an index in memory.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn in_memory() -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(SCHEMA)?;
        file::set_up(&connection)?;
        Ok(Self {
            connection: Mutex::new(connection),
            _lock: None,
        })
    }

    /// The last transaction in the index, with its hash; `None` if the index is empty.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn upto(&self) -> Result<Option<(u64, Vec<u8>)>> {
        let progress = |row: &Row<'_>| Ok((number(row, 0)?, row.get(1)?));
        let query = "SELECT upto, hash FROM progress";
        Ok(self
            .connection()
            .query_row(query, [], progress)
            .optional()?)
    }

    /// Adds operations. The index then reaches up to the transaction with this number and hash.
    ///
    /// # Errors
    /// If the disk fails; then nothing is added.
    pub fn extend(&self, upto: u64, hash: &[u8], marked: &[Marked]) -> Result<()> {
        let mut connection = self.connection();
        let transaction = connection.transaction()?;
        for one in marked {
            add(&transaction, one)?;
        }
        let progress = "INSERT INTO progress (one, upto, hash) VALUES (1, ?1, ?2)
            ON CONFLICT DO UPDATE SET upto = ?1, hash = ?2";
        transaction
            .prepare_cached(progress)?
            .execute(params![sql(upto), hash])?;
        Ok(transaction.commit()?)
    }

    /// Empties the index, for a ledger other than the one it was built from.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn clear(&self) -> Result<()> {
        let clear = "BEGIN; DELETE FROM progress; DELETE FROM found; DELETE FROM labels; DELETE FROM labelled;
            INSERT INTO words (words) VALUES ('delete-all'); COMMIT;";
        Ok(self.connection().execute_batch(clear)?)
    }

    /// The number of operations with this label.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn count(&self, label: &str) -> Result<u64> {
        Ok(self::label(&self.connection(), label)?.map_or(0, |label| label.count))
    }

    /// Runs a query. For a single label, the cost depends on the size of the answer; for words, on the number of
    /// matches.
    ///
    /// # Errors
    /// If the disk fails.
    pub fn find(&self, wanted: &Wanted) -> Result<Hits> {
        let connection = self.connection();
        let mut labels = Vec::with_capacity(wanted.labels.len());
        for name in &wanted.labels {
            match label(&connection, name)? {
                Some(found) => labels.push(found),
                None => return Ok(Hits::default()),
            }
        }
        match (labels.as_slice(), &wanted.words) {
            ([label], None) => listed(&connection, label, wanted),
            _ => searched(&connection, &labels, wanted),
        }
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(transaction: &Transaction<'_>, one: &Marked) -> Result<()> {
    let found = "INSERT INTO found (seq, place) VALUES (?1, ?2)";
    transaction
        .prepare_cached(found)?
        .execute([sql(one.seq), sql(one.place)])?;
    let found = transaction.last_insert_rowid();
    let counted = "INSERT INTO labels (label, count) VALUES (?1, 1)
        ON CONFLICT DO UPDATE SET count = count + 1 RETURNING id, count";
    let labelled = "INSERT INTO labelled (label, nth, found) VALUES (?1, ?2, ?3)";
    let mut tokens = String::new();
    for label in &one.labels {
        let (id, nth): (i64, i64) = transaction
            .prepare_cached(counted)?
            .query_row([label], |row| Ok((row.get(0)?, row.get(1)?)))?;
        transaction
            .prepare_cached(labelled)?
            .execute([id, nth, found])?;
        tokens.push_str(&token(id));
        tokens.push(' ');
    }
    let words = "INSERT INTO words (rowid, labels, said) VALUES (?1, ?2, ?3)";
    transaction
        .prepare_cached(words)?
        .execute(params![found, tokens, one.words])?;
    Ok(())
}

/// The search token of a label: derived from its number, so that the spelling of a label cannot be confused with words.
fn token(label: i64) -> String {
    format!("l{label}")
}

/// A label's number, and the number of operations with it.
struct Label {
    id: i64,
    count: u64,
}

fn label(connection: &Connection, label: &str) -> Result<Option<Label>> {
    let mut query = connection.prepare_cached("SELECT id, count FROM labels WHERE label = ?1")?;
    let read = |row: &Row<'_>| {
        Ok(Label {
            id: row.get(0)?,
            count: number(row, 1)?,
        })
    };
    Ok(query.query_row([label], read).optional()?)
}

fn listed(connection: &Connection, label: &Label, wanted: &Wanted) -> Result<Hits> {
    let count = wanted.count;
    let (least, after, order) = match wanted.from {
        From::Oldest { skip } => (
            skip.saturating_add(1),
            skip.saturating_add(1).saturating_add(count),
            "ASC",
        ),
        From::Newest { before } => {
            let after = before
                .unwrap_or(u64::MAX)
                .min(label.count.saturating_add(1));
            (after.saturating_sub(count).max(1), after, "DESC")
        }
    };
    let query = format!(
        "SELECT nth, seq, place FROM labelled JOIN found ON found.id = labelled.found
         WHERE label = ?1 AND nth >= ?2 AND nth < ?3 ORDER BY nth {order}"
    );
    let mut query = connection.prepare_cached(&query)?;
    let hits = query.query_map([label.id, sql(least), sql(after)], hit)?;
    Ok(Hits {
        total: label.count,
        hits: hits.collect::<rusqlite::Result<_>>()?,
    })
}

fn searched(connection: &Connection, labels: &[Label], wanted: &Wanted) -> Result<Hits> {
    let Some(matched) = expression(labels, wanted.words.as_deref()) else {
        return Ok(Hits::default());
    };
    let (bound, skip, order) = match wanted.from {
        From::Oldest { skip } => (u64::MAX, skip, "ASC"),
        From::Newest { before } => (before.unwrap_or(u64::MAX), 0, "DESC"),
    };
    let query = format!(
        "SELECT found.id, seq, place FROM words JOIN found ON found.id = words.rowid
         WHERE words MATCH ?1 AND words.rowid < ?2 ORDER BY words.rowid {order} LIMIT ?3 OFFSET ?4"
    );
    let limits = params![matched, sql(bound), sql(wanted.count), sql(skip)];
    let mut query = connection.prepare_cached(&query)?;
    let hits = query.query_map(limits, hit)?;
    let hits = hits.collect::<rusqlite::Result<_>>()?;
    let count = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT ?2)";
    let mut count = connection.prepare_cached(count)?;
    let total = count.query_row(params![matched, sql(COUNTED_MAX)], |row| number(row, 0))?;
    Ok(Hits { total, hits })
}

/// Labels and words in FTS5's query language. Every word is quoted and so never read as an operator. `None` if the
/// query is empty.
fn expression(labels: &[Label], words: Option<&str>) -> Option<String> {
    let labels = labels
        .iter()
        .map(|label| format!("labels : \"{}\"", token(label.id)));
    let words: Vec<&str> = words
        .unwrap_or_default()
        .split(|letter: char| letter.is_whitespace() || letter.is_control())
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .take(WORDS_MAX)
        .collect();
    let last = words.len().saturating_sub(1);
    let words = words.iter().enumerate().map(|(at, word)| {
        let quoted = word.replace('"', "\"\"");
        let begun = if at == last { " *" } else { "" };
        format!("said : \"{quoted}\"{begun}")
    });
    let terms: Vec<String> = labels.chain(words).collect();
    (!terms.is_empty()).then(|| terms.join(" AND "))
}

fn hit(row: &Row<'_>) -> rusqlite::Result<Hit> {
    Ok(Hit {
        cursor: number(row, 0)?,
        seq: number(row, 1)?,
        place: number(row, 2)?,
    })
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(seq: u64, labels: &[&str], words: &str) -> Marked {
        Marked {
            seq,
            place: seq % 3,
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            words: words.to_owned(),
        }
    }

    /// A hundred operations with one label, every tenth of them with a second label.
    fn filled(index: &Index) {
        let all: Vec<Marked> = (1..=100)
            .map(|seq| match seq % 10 {
                0 => marked(seq, &["kind=a", "kind=b"], &format!("tenth number {seq}")),
                _ => marked(seq, &["kind=a"], &format!("Number {seq} of \"many\"")),
            })
            .collect();
        index.extend(100, b"hash", &all).unwrap();
    }

    fn seqs(hits: &Hits) -> Vec<u64> {
        hits.hits.iter().map(|hit| hit.seq).collect()
    }

    fn find(index: &Index, labels: &[&str], words: Option<&str>, from: From) -> Hits {
        let wanted = Wanted {
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            words: words.map(str::to_owned),
            from,
            count: 3,
        };
        index.find(&wanted).unwrap()
    }

    const NEWEST: From = From::Newest { before: None };

    #[test]
    fn a_label_is_listed_in_both_directions_page_by_page() {
        let index = Index::in_memory().unwrap();
        filled(&index);
        let first = find(&index, &["kind=b"], None, NEWEST);
        assert_eq!((first.total, seqs(&first)), (10, vec![100, 90, 80]));
        let before = first.hits.last().map(|hit| hit.cursor);
        let second = find(&index, &["kind=b"], None, From::Newest { before });
        assert_eq!(seqs(&second), [70, 60, 50]);
        let oldest = find(&index, &["kind=b"], None, From::Oldest { skip: 8 });
        assert_eq!(seqs(&oldest), [90, 100]);
        let past = find(&index, &["kind=b"], None, From::Oldest { skip: 10 });
        assert!(past.hits.is_empty());
        assert_eq!(index.count("kind=a").unwrap(), 100);
        assert_eq!(find(&index, &["kind=c"], None, NEWEST), Hits::default());
    }

    #[test]
    fn words_are_found_in_any_case_the_last_one_begun_only_and_with_labels() {
        let index = Index::in_memory().unwrap();
        filled(&index);
        assert_eq!(find(&index, &[], Some("tent NUMBER"), NEWEST).total, 0);
        let begun = find(&index, &[], Some("number ten"), NEWEST);
        assert_eq!((begun.total, seqs(&begun)), (10, vec![100, 90, 80]));
        let before = begun.hits.last().map(|hit| hit.cursor);
        let next = find(&index, &[], Some("number ten"), From::Newest { before });
        assert_eq!(seqs(&next), [70, 60, 50]);
        let both = find(&index, &["kind=a", "kind=b"], Some("20"), NEWEST);
        assert_eq!(seqs(&both), [20]);
        assert_eq!(
            seqs(&find(&index, &["kind=a", "kind=b"], None, NEWEST)),
            [100, 90, 80]
        );
        let skipped = find(&index, &[], Some("many"), From::Oldest { skip: 88 });
        assert_eq!(seqs(&skipped), [98, 99]);
    }

    #[test]
    fn nothing_in_a_search_is_taken_for_a_command() {
        let index = Index::in_memory().unwrap();
        filled(&index);
        for words in [
            "\"",
            "said : x",
            "a OR b",
            "NEAR(a b)",
            "* ^ -",
            "labels : l1",
            "l1",
            "(",
            "\u{0}x",
        ] {
            assert_eq!(find(&index, &[], Some(words), NEWEST).total, 0, "{words}");
        }
        assert_eq!(find(&index, &[], Some("\"many\""), NEWEST).total, 90);
        assert_eq!(find(&index, &[], Some("  "), NEWEST), Hits::default());
    }

    #[test]
    fn it_is_kept_in_its_file_and_begun_anew_for_another_layout() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index");
        filled(&Index::open(&path).unwrap());
        let index = Index::open(&path).unwrap();
        assert_eq!(index.upto().unwrap(), Some((100, b"hash".to_vec())));
        assert_eq!(find(&index, &[], Some("tenth"), NEWEST).total, 10);
        index.clear().unwrap();
        assert_eq!(index.upto().unwrap(), None);
        assert_eq!(find(&index, &[], Some("tenth"), NEWEST).total, 0);
        filled(&index);
        assert_eq!(find(&index, &["kind=b"], None, NEWEST).total, 10);
        drop(index);
        let other = Connection::open(&path).unwrap();
        other.pragma_update(None, "user_version", 99).unwrap();
        drop(other);
        assert_eq!(Index::open(&path).unwrap().upto().unwrap(), None);
    }
}
