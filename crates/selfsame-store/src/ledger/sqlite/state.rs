//! Storage of the state: values are written one after the other, and looked up by the first bytes of their key's
//! digest.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use selfsame_crypto::hash::sha256;

use super::packed::{pack, unpack};
use crate::error::{Result, StoreError};
use crate::ledger::Entry;
use crate::sqlite::sql;

/// Values written by a transaction often contain its hash, which the log has already. `at` is the offset where it was
/// left out, `seq` its transaction.
pub(super) const SCHEMA: &str = "
CREATE TABLE state (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    value BLOB NOT NULL,
    seq INTEGER,
    at INTEGER
) STRICT;
";

/// The numbers of the values whose keys' digests begin like this, from both indices (`places`).
macro_rules! found {
    () => {
        "(SELECT id FROM recent WHERE start = ?1 UNION ALL SELECT id FROM places WHERE start = ?1) AS found
        CROSS JOIN state ON state.id = found.id"
    };
}
const VALUE: &str = concat!(
    "SELECT state.value, state.at, entries.hash FROM ",
    found!(),
    " LEFT JOIN entries ON entries.seq = state.seq WHERE state.key = ?2"
);
const KEYS: &str = concat!("SELECT state.key FROM ", found!());
const NUMBER: &str = concat!("SELECT state.id FROM ", found!(), " WHERE state.key = ?2");

/// The bytes before a hash in values that are searched for one: the CBOR head of a 32-byte string (RFC 8949 §3).
const BEFORE_A_HASH: [u8; 2] = [0x58, 0x20];

/// The sequence numbers of a block's transactions, by hash.
pub(super) type Numbers = HashMap<[u8; 32], u64>;

/// The sequence numbers of entries that follow the first `size`.
pub(super) fn numbers(size: u64, entries: &[Entry]) -> Numbers {
    let numbered = entries.iter().zip(size.saturating_add(1)..);
    numbered.map(|(entry, seq)| (entry.hash, seq)).collect()
}

/// The first eight bytes of a digest, used for lookup. Among several matches, the caller compares the rest.
pub(super) fn start(digest: &[u8; 32]) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = *digest;
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// The value under a key.
pub(super) fn value(connection: &Connection, key: &[u8]) -> Result<Option<Vec<u8>>> {
    let kept = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let found = connection
        .prepare_cached(VALUE)?
        .query_row(params![start(&sha256(key)), pack(key)], kept)
        .optional()?;
    found
        .map(|(value, at, hash)| whole(value, at, hash))
        .transpose()
}

/// The key with this digest.
pub(super) fn key(connection: &Connection, place: &[u8; 32]) -> Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached(KEYS)?;
    let mut rows = statement.query([start(place)])?;
    while let Some(row) = rows.next()? {
        let packed: Vec<u8> = row.get(0)?;
        let key = unpack(&packed).ok_or(StoreError::Malformed("key"))?;
        if sha256(&key) == *place {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

/// Writes a block's values. Returns the new ones: the beginnings of the keys' digests, and the values' numbers.
pub(super) fn put(
    transaction: &Transaction<'_>,
    writes: &BTreeMap<Vec<u8>, Vec<u8>>,
    numbers: &Numbers,
) -> Result<Vec<(i64, i64)>> {
    let mut find = transaction.prepare_cached(NUMBER)?;
    let change = "UPDATE state SET value = ?2, seq = ?3, at = ?4 WHERE id = ?1";
    let mut change = transaction.prepare_cached(change)?;
    let add = "INSERT INTO state (key, value, seq, at) VALUES (?1, ?2, ?3, ?4)";
    let mut add = transaction.prepare_cached(add)?;
    let mut new = Vec::new();
    for (key, value) in writes {
        let (start, key) = (start(&sha256(key)), pack(key));
        let (value, seq, at) = without_hash(value, numbers);
        let before: Option<i64> = find
            .query_row(params![start, key], |row| row.get(0))
            .optional()?;
        match before {
            Some(id) => {
                change.execute(params![id, value, seq, at])?;
            }
            None => {
                add.execute(params![key, value, seq, at])?;
                new.push((start, transaction.last_insert_rowid()));
            }
        }
    }
    Ok(new)
}

/// A value without the hash of a transaction of its block, the number of that transaction, and the offset of the hash.
fn without_hash(value: &[u8], numbers: &Numbers) -> (Vec<u8>, Option<i64>, Option<i64>) {
    let found = (0..value.len()).find_map(|at| {
        let hash = value.get(at..)?.strip_prefix(&BEFORE_A_HASH)?;
        let seq = numbers.get(hash.first_chunk::<32>()?)?;
        Some((at.saturating_add(BEFORE_A_HASH.len()), *seq))
    });
    let split = found.and_then(|(at, seq)| {
        let (before, rest) = value.split_at_checked(at)?;
        let (_, after) = rest.split_first_chunk::<32>()?;
        Some(([before, after].concat(), sql(seq), i64::try_from(at).ok()?))
    });
    match split {
        Some((value, seq, at)) => (value, Some(seq), Some(at)),
        None => (value.to_vec(), None, None),
    }
}

/// Restores the hash that was left out of a value.
pub(super) fn whole(value: Vec<u8>, at: Option<i64>, hash: Option<Vec<u8>>) -> Result<Vec<u8>> {
    let Some(at) = at else {
        return Ok(value);
    };
    let at = usize::try_from(at).ok();
    let parts = at.and_then(|at| value.split_at_checked(at)).zip(hash);
    let ((before, after), hash) = parts.ok_or(StoreError::Malformed("value"))?;
    Ok([before, &hash, after].concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_value_comes_back_whole(
            (before, after) in (prop::collection::vec(any::<u8>(), 0..60), prop::collection::vec(any::<u8>(), 0..60)),
            known in any::<bool>(),
        ) {
            let (hash, other) = ([7; 32], [8; 32]);
            let written = if known { hash } else { other };
            let value = [&before[..], &BEFORE_A_HASH, &written, &after].concat();
            let (kept, seq, at) = without_hash(&value, &Numbers::from([(hash, 3)]));
            prop_assert_eq!((seq, kept.len()), if known { (Some(3), value.len() - 32) } else { (None, value.len()) });
            let back = whole(kept, at, seq.map(|_| hash.to_vec()));
            prop_assert_eq!(back.unwrap(), value);
        }
    }

    #[test]
    fn a_value_whose_transaction_is_gone_is_malformed() {
        assert!(whole(vec![1], Some(1), None).is_err());
        assert!(whole(vec![1], Some(2), Some(vec![0; 32])).is_err());
        assert!(whole(vec![1], Some(-1), Some(vec![0; 32])).is_err());
    }
}
