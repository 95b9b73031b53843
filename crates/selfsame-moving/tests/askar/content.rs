//! Wallets with records that Askar's own tests do not have: large ones, changed ones, damaged ones.

use std::path::Path;

use selfsame_askar::{RecordKind, RecordTag, WalletRecord};
use selfsame_crypto::encoding::base58_encode;
use selfsame_crypto::{Secret, SecretString};
use selfsame_moving::wallet::KEPT;
use selfsame_store::{Batch, Page, Put, Record, Store};

use crate::home::Home;
use crate::vectors::{imported, issuer, opened, shown};
use crate::writer::Writer;

fn record(name: &str, value: Vec<u8>) -> WalletRecord {
    WalletRecord {
        kind: RecordKind::Item,
        category: "note".to_owned(),
        name: name.to_owned(),
        value: Secret::new(value),
        tags: vec![RecordTag {
            name: "state".to_owned(),
            value: SecretString::from("new"),
            plaintext: true,
        }],
        expiry: None,
    }
}

fn written(path: &Path, records: &[WalletRecord]) -> Writer {
    let writer = Writer::create(path, [5; 32]);
    let profile = writer.profile("first");
    records
        .iter()
        .for_each(|record| writer.write(&profile, record));
    writer
}

fn key() -> String {
    base58_encode(&[5; 32])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_is_larger_than_one_of_ours_is_kept_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wallet.db");
    let large = (0..40_u32 << 20)
        .map(|byte| byte.to_be_bytes()[1])
        .collect();
    drop(written(
        &path,
        &[record("large", large), record("small", vec![1])],
    ));
    let wallet = opened(path.to_str().unwrap(), &key()).await;
    for home in [Home::in_a_file(), Home::in_postgres()] {
        let store = home.open().await;
        let report = imported(&store, &wallet, "first").await;
        assert_eq!(report.hash, shown(&wallet, "first").await);
        let parts = store.weight(&issuer(), "askar_record_part", 99).await;
        assert_eq!(parts.unwrap().records, 10);
        assert_eq!(
            imported(&store, &wallet, "first").await.categories[0].already,
            2
        );
    }
}

/// The parts of records beyond the first of each.
async fn parts(store: &Store) -> Vec<Record> {
    let page = Page::first(99);
    store
        .list(&issuer(), "askar_record_part", &page)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_record_that_became_shorter_leaves_no_part_and_a_cut_off_replacement_is_completed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let lengths = [("long.db", 20_usize), ("short.db", 9), ("tiny.db", 1)];
    for (name, mebibytes) in lengths {
        let value = vec![mebibytes as u8; mebibytes << 20];
        drop(written(&path(name), &[record("one", value)]));
    }
    for home in [Home::in_a_file(), Home::in_postgres()] {
        let store = home.open().await;
        let takes = async |name: &str| {
            let wallet = opened(path(name).to_str().unwrap(), &key()).await;
            let report = imported(&store, &wallet, "first").await;
            assert_eq!(report.hash, shown(&wallet, "first").await);
            report.categories[0].changed
        };
        assert_eq!(takes("long.db").await, 0);
        assert_eq!(parts(&store).await.len(), 5);
        assert_eq!(takes("short.db").await, 1);
        assert_eq!(parts(&store).await.len(), 2);
        // A replacement by something longer that was cut off: its parts are there, and its first part is not.
        let part = parts(&store).await.remove(0);
        let longer = Batch::new(issuer())
            .update("askar_record_part", &part, vec![7; 5])
            .put(Put::new(
                "askar_record_part",
                part.id.replace(".1", ".3"),
                vec![7],
            ));
        store.commit(longer).await.unwrap();
        assert_eq!(takes("short.db").await, 1);
        assert_eq!(parts(&store).await.len(), 2);
        assert_eq!(takes("tiny.db").await, 1);
        assert_eq!(parts(&store).await.len(), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_that_the_agent_changed_is_replaced_and_counted_and_a_damaged_one_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let (before, after) = (
        folder.path().join("before.db"),
        folder.path().join("after.db"),
    );
    let records = [record("one", vec![1]), record("two", vec![2])];
    drop(written(&before, &records));
    let changed = [
        record("one", vec![9]),
        record("two", vec![2]),
        record("three", vec![3]),
        record("four", vec![4]),
    ];
    let writer = written(&after, &changed);
    let damage = "UPDATE items SET value = zeroblob(40) WHERE id = 4";
    writer.connection.execute(damage, []).unwrap();
    drop(writer);
    let store = Home::in_a_file().open().await;
    let wallet = opened(before.to_str().unwrap(), &key()).await;
    assert_eq!(imported(&store, &wallet, "first").await.records, 2);
    let wallet = opened(after.to_str().unwrap(), &key()).await;
    let report = imported(&store, &wallet, "first").await;
    let note = &report.categories[0];
    assert_eq!((note.new, note.already, note.changed), (1, 1, 1));
    assert_eq!((report.records, report.unread), (3, 1));
    assert_eq!(report.why_unread, ["item 4: its value does not open"]);
    let kept = store.weight(&issuer(), KEPT, 99).await.unwrap();
    assert_eq!(kept.records, 3);
}
