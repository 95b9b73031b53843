use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use tempfile::TempDir;

use super::*;
use crate::backend::{OutboxId, Place, SealedEntry};
use crate::sqlite::{file, schema};
use crate::tenant::TenantId;

const KEY: [u8; 32] = [1; 32];

fn book(at: &TempDir) -> Writer {
    let path = at.path().join("store.db");
    let (lock, connection) = file::open_writer(&path, &schema::FORMAT).unwrap();
    // The process is the only user of its temporary directory.
    drop(lock);
    let writer = Writer::start(&path, connection, Arc::default()).unwrap();
    let sums = Sums::new(&SealingKey::from_bytes(KEY));
    writer.desk.book().guard(sums, false).unwrap();
    writer
}

fn record(id: &str) -> Write {
    Write::Put {
        place: Place {
            tenant: TenantId::instance(),
            kind: "card".to_owned(),
            id: id.to_owned(),
        },
        version: 1,
        value: vec![7; 40],
        tags: vec![vec![1; 16]],
        expires: None,
    }
}

/// Two entries with one identifier, of which the second can't be written.
fn entries() -> [Write; 2] {
    let entry = SealedEntry {
        id: OutboxId(7),
        tenant: TenantId::instance(),
        lane: [1; 16],
        not_before: UnixTime(0),
        attempts: 0,
        created: UnixTime(0),
        sealed: vec![1],
    };
    [Write::Enqueue(entry.clone()), Write::Enqueue(entry)]
}

fn batch(writes: impl IntoIterator<Item = Write>, durable: bool) -> SealedBatch {
    SealedBatch {
        now: UnixTime(1_000),
        durable,
        writes: writes.into_iter().collect(),
    }
}

/// Compares all rows with the sum in the file.
fn is_whole(at: &TempDir, rows: i64) {
    let connection = file::open_reader(&at.path().join("store.db")).unwrap();
    let mut looked = crate::looked::Looked::default();
    let sums = Sums::new(&SealingKey::from_bytes(KEY));
    sums.look(&connection, true, &mut looked).unwrap();
    assert_eq!(looked.damage, Vec::<String>::new());
    assert_eq!(looked.seen.cast_signed(), rows);
}

#[test]
fn a_batch_that_fails_among_others_leaves_the_sum_that_of_the_rows() {
    let at = TempDir::new().unwrap();
    let writer = book(&at);
    let failing = [record("two")].into_iter().chain(entries());
    let batches = vec![
        batch([record("one")], true),
        batch(failing, true),
        batch([record("three")], true),
    ];
    let outcomes = writer.desk.book().group(batches, false);
    let done: Vec<_> = outcomes.iter().map(Result::is_ok).collect();
    assert_eq!(done, [true, false, true]);
    is_whole(&at, 2);
}

#[test]
fn a_batch_that_fails_beside_one_held_back_leaves_the_sum_that_of_the_rows() {
    let at = TempDir::new().unwrap();
    let writer = book(&at);
    let mut book = writer.desk.book();
    let held = book.group(vec![batch([record("one")], false)], true);
    assert!(held.iter().all(Result::is_ok));
    let failing = [record("two")].into_iter().chain(entries());
    let outcomes = book.group(vec![batch(failing, true)], false);
    assert!(outcomes.iter().all(Result::is_err));
    book.publish().unwrap();
    is_whole(&at, 1);
}
