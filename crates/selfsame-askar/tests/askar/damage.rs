//! What is no wallet, what is damaged, what changes meanwhile, and that nothing is written.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use selfsame_askar::{ItemPart, RecordKind, StoreKey, Unread, Wallet, WalletError, WalletRecord};
use selfsame_crypto::Secret;
use selfsame_crypto::encoding::base58_encode;
use tempfile::TempDir;

use crate::read::{file, open, whole};
use crate::writer::Writer;

const KEY: [u8; 32] = [9; 32];

fn key() -> String {
    base58_encode(&KEY)
}

fn record(name: &str, value: Vec<u8>) -> WalletRecord {
    WalletRecord {
        kind: RecordKind::Item,
        category: "note".to_owned(),
        name: name.to_owned(),
        value: Secret::new(value),
        tags: Vec::new(),
        expiry: None,
    }
}

/// A wallet of three records, and what was run on it before it was closed.
fn wallet_after(sql: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::create(&folder.path().join("wallet.db"), KEY);
    let profile = writer.profile("first");
    for name in ["a", "b", "c"] {
        writer.write(&profile, &record(name, name.as_bytes().to_vec()));
    }
    writer.connection.execute_batch(sql).unwrap();
    folder
}

async fn refused(folder: &TempDir) -> WalletError {
    let opened = open(&file(&folder.path().join("wallet.db")), &key()).await;
    opened.err().expect("it is no wallet")
}

/// The names and contents of all files in a folder.
pub fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let file = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, fs::read(entry.path()).unwrap())
    };
    entries.map(file).collect()
}

#[tokio::test]
async fn what_is_there_instead_of_a_wallet_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| file(&folder.path().join(name));
    fs::write(folder.path().join("text"), "no database ".repeat(1000)).unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    for name in ["nothing", "."] {
        let error = open(&at(name), &key()).await.err();
        assert!(
            matches!(error, Some(WalletError::Unreachable(_))),
            "{error:?}"
        );
    }
    for name in ["text", "empty"] {
        let error = open(&at(name), &key()).await.err();
        assert!(matches!(error, Some(WalletError::Foreign(_))), "{error:?}");
    }
    assert_eq!(
        refused(&wallet_after("DROP TABLE items_tags")).await,
        WalletError::Foreign("it has other tables")
    );
    let indy = "DROP TABLE profiles; CREATE TABLE tags_encrypted (name, value, item_id)";
    let told = refused(&wallet_after(indy)).await.to_string();
    assert!(told.contains("Indy SDK"), "{told}");
    let endless = "DROP TABLE config; CREATE VIEW config AS WITH RECURSIVE r(name, value) AS
        (SELECT 'version', '1' UNION ALL SELECT name, value FROM r) SELECT * FROM r";
    let told = refused(&wallet_after(endless)).await;
    assert_eq!(told, WalletError::Foreign("it has other tables"));
}

#[tokio::test]
async fn a_newer_version_and_an_unknown_protection_are_not_supported() {
    for sql in [
        "UPDATE config SET value = '2' WHERE name = 'version'",
        "UPDATE config SET value = 'kms:aws' WHERE name = 'key'",
    ] {
        let error = refused(&wallet_after(sql)).await;
        assert!(matches!(error, WalletError::Unsupported(_)), "{error:?}");
    }
    let none = refused(&wallet_after("DELETE FROM config WHERE name = 'version'")).await;
    assert!(matches!(none, WalletError::Foreign(_)), "{none:?}");
    let none = refused(&wallet_after("DELETE FROM config WHERE name = 'key'")).await;
    assert!(matches!(none, WalletError::Damaged(_)), "{none:?}");
}

#[tokio::test]
async fn a_wrong_key_a_missing_key_and_a_malformed_key_are_told_apart() {
    let folder = wallet_after("");
    let at = file(&folder.path().join("wallet.db"));
    let wrong = open(&at, &base58_encode(&[8; 32])).await.err();
    assert_eq!(wrong, Some(WalletError::KeyWrong));
    let none = open(&at, "a passphrase").await.err();
    assert_eq!(none, Some(WalletError::KeyMalformed));
    let missing = Wallet::open(&at, StoreKey::none()).await.err();
    assert_eq!(missing, Some(WalletError::KeyNeeded("a raw key")));
}

#[tokio::test]
async fn a_profile_with_a_damaged_key_does_not_hide_the_others() {
    let folder = wallet_after("INSERT INTO profiles (name, profile_key) VALUES ('second', x'00')");
    let at = file(&folder.path().join("wallet.db"));
    let wallet = open(&at, &key()).await.unwrap();
    let first = wallet.profile("first").await.unwrap();
    assert_eq!(wallet.batch(&first, None).await.unwrap().records.len(), 3);
    let second = wallet.profile("second").await.unwrap();
    let error = wallet.batch(&second, None).await.unwrap_err();
    assert!(matches!(error, WalletError::Damaged(_)));
    let third = wallet.profile("third").await.err();
    assert_eq!(third, Some(WalletError::NoProfile));
}

#[tokio::test]
async fn an_item_that_does_not_open_is_told_and_those_beside_it_are_read() {
    let tag =
        "INSERT INTO items_tags (item_id, name, value, plaintext) VALUES (2, x'00', x'00', 0)";
    for (sql, part) in [
        ("UPDATE items SET kind = 3 WHERE id = 2", ItemPart::Kind),
        (
            "UPDATE items SET category = x'00' WHERE id = 2",
            ItemPart::Category,
        ),
        (
            "UPDATE items SET name = zeroblob(40) WHERE id = 2",
            ItemPart::Name,
        ),
        // A value does not open under the name of another item.
        (
            "UPDATE items SET value = (SELECT value FROM items WHERE id = 1) WHERE id = 2",
            ItemPart::Value,
        ),
        (
            "UPDATE items SET value = zeroblob(67108865) WHERE id = 2",
            ItemPart::Size,
        ),
        (
            "UPDATE items SET expiry = 'tomorrow' WHERE id = 2",
            ItemPart::Expiry,
        ),
        (
            "UPDATE items SET expiry = x'ff' WHERE id = 2",
            ItemPart::Expiry,
        ),
        (tag, ItemPart::Tag),
    ] {
        let folder = wallet_after(sql);
        let wallet = open(&file(&folder.path().join("wallet.db")), &key()).await;
        let read = whole(&wallet.unwrap()).await.unwrap();
        assert_eq!(read.unread, [Unread { item: 2, part }], "{sql}");
        let names: Vec<&str> = (read.records.iter())
            .map(|one| one.record.name.as_str())
            .collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(names.contains(&"a") && names.contains(&"c"));
    }
}

#[tokio::test]
async fn a_column_of_another_type_and_a_name_of_a_hundred_kilobytes_are_damage() {
    for sql in [
        "UPDATE items SET category = 'text' WHERE id = 2",
        "UPDATE items SET kind = 'text' WHERE id = 2",
        "UPDATE items SET kind = 70000 WHERE id = 2",
        "UPDATE items SET value = 5 WHERE id = 2",
        "UPDATE items SET name = zeroblob(100000) WHERE id = 2",
        "INSERT INTO items_tags (item_id, name, value, plaintext) VALUES (2, 'text', x'00', 0)",
        "UPDATE profiles SET name = x'ff'",
    ] {
        let folder = wallet_after(sql);
        let wallet = open(&file(&folder.path().join("wallet.db")), &key()).await;
        let read = match wallet {
            Ok(wallet) => whole(&wallet).await.err(),
            Err(error) => Some(error),
        };
        assert!(
            matches!(read, Some(WalletError::Damaged(_))),
            "{sql}: {read:?}"
        );
    }
}

#[tokio::test]
async fn rows_that_no_profile_has_are_damage_to_a_summary() {
    for sql in [
        "UPDATE items SET profile_id = 7 WHERE id = 2",
        "INSERT INTO items_tags (item_id, name, value, plaintext) VALUES (7, x'00', x'00', 0)",
    ] {
        let folder = wallet_after(sql);
        let wallet = open(&file(&folder.path().join("wallet.db")), &key()).await;
        let summary = wallet.unwrap().summary().await;
        assert!(matches!(summary, Err(WalletError::Damaged(_))), "{sql}");
    }
}

#[tokio::test]
async fn an_index_that_lost_an_item_or_a_tag_is_damage_to_a_summary() {
    let lost = "PRAGMA writable_schema = ON;
        CREATE UNIQUE INDEX other ON items (profile_id, kind, category, name) WHERE id <> 2;
        DELETE FROM sqlite_schema WHERE name = 'ix_items_uniq';
        UPDATE sqlite_schema SET name = 'ix_items_uniq',
            sql = 'CREATE UNIQUE INDEX ix_items_uniq ON items (profile_id, kind, category, name)'
        WHERE name = 'other'";
    let lost_tags =
        "INSERT INTO items_tags (item_id, name, value, plaintext) VALUES (2, x'00', x'00', 0);
        PRAGMA writable_schema = ON;
        CREATE INDEX other ON items_tags (item_id) WHERE item_id <> 2;
        DELETE FROM sqlite_schema WHERE name = 'ix_items_tags_item_id';
        UPDATE sqlite_schema SET name = 'ix_items_tags_item_id',
            sql = 'CREATE INDEX ix_items_tags_item_id ON items_tags (item_id)'
        WHERE name = 'other'";
    for sql in [lost, lost_tags] {
        let folder = wallet_after(sql);
        let wallet = open(&file(&folder.path().join("wallet.db")), &key()).await;
        let summary = wallet.unwrap().summary().await;
        assert!(
            matches!(summary, Err(WalletError::Damaged(_))),
            "{summary:?}"
        );
    }
}

#[tokio::test]
async fn an_index_that_is_out_of_order_is_damage_and_reading_ends() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wallet.db");
    let writer = Writer::create(&path, KEY);
    let profile = writer.profile("first");
    for number in 0..12 {
        let category = format!("category {number}");
        let one = record(&format!("{number}"), Vec::new());
        writer.write(&profile, &WalletRecord { category, ..one });
    }
    let misnamed = "DROP INDEX ix_items_uniq;
        CREATE UNIQUE INDEX ix_items_uniq ON items (profile_id, kind, name, category);
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET name = 'ix_items_uniq',
            sql = 'CREATE UNIQUE INDEX ix_items_uniq ON items (profile_id, kind, category, name)'
        WHERE name = 'ix_items_uniq'";
    writer.connection.execute_batch(misnamed).unwrap();
    drop(writer);
    let wallet = open(&file(&path), &key()).await.unwrap();
    let profile = wallet.profile("first").await.unwrap();
    let batch = wallet.batch(&profile, None).await;
    assert!(matches!(batch, Err(WalletError::Damaged(_))), "{batch:?}");
}

#[tokio::test]
async fn an_agent_that_was_killed_while_it_wrote_has_to_mend_its_file_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wallet.db");
    let writer = Writer::create(&path, KEY);
    let mode =
        "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; PRAGMA cache_size = 1; BEGIN";
    writer.connection.execute_batch(mode).unwrap();
    let profile = writer.profile("first");
    for number in 0..100 {
        writer.write(&profile, &record(&format!("{number}"), vec![1; 4000]));
    }
    let copy = tempfile::tempdir().unwrap();
    for (name, content) in files(folder.path()) {
        fs::write(copy.path().join(name), content).unwrap();
    }
    let before = files(copy.path());
    assert!(before.contains_key("wallet.db-journal"));
    let error = open(&file(&copy.path().join("wallet.db")), &key())
        .await
        .err();
    assert!(
        matches!(error, Some(WalletError::Unreachable(_))),
        "{error:?}"
    );
    assert_eq!(files(copy.path()), before);
}

/// Each byte of a file in turn, so all kinds of pages. What Askar does not authenticate is left out of the comparison.
#[tokio::test]
async fn a_changed_byte_is_told_or_changes_no_record_and_never_panics() {
    let folder = wallet_after("PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM");
    let path = folder.path().join("wallet.db");
    let sound = fs::read(&path).unwrap();
    let expected = whole(&open(&file(&path), &key()).await.unwrap())
        .await
        .unwrap();
    let mut told = 0;
    for at in (0..sound.len()).step_by(3) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0xff;
        fs::write(&path, &damaged).unwrap();
        let read = async {
            let wallet = open(&file(&path), &key()).await?;
            wallet.summary().await?;
            whole(&wallet).await
        };
        match read.await {
            Ok(read) if read.unread.is_empty() => {
                let records = |of: &crate::read::Whole| -> Vec<WalletRecord> {
                    of.records.iter().map(|one| one.record.clone()).collect()
                };
                assert_eq!(records(&read), records(&expected), "byte {at}");
            }
            _ => told += 1,
        }
    }
    assert!(told > sound.len() / 3 / 4, "{told}");
}

#[tokio::test]
async fn a_closed_wallet_is_read_without_a_trace() {
    let folder = wallet_after("");
    let before = files(folder.path());
    assert_eq!(before.len(), 1);
    let at = file(&folder.path().join("wallet.db"));
    let wallet = open(&at, &key()).await.unwrap();
    assert_eq!(wallet.summary().await.unwrap().records, 3);
    assert_eq!(files(folder.path()), before);
    drop(wallet);
    assert_eq!(files(folder.path()), before);
}

#[tokio::test]
async fn a_wallet_that_an_agent_has_open_is_read_with_what_is_beside_it_and_one_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wallet.db");
    let writer = Writer::create(&path, KEY);
    let profile = writer.profile("first");
    writer.write(&profile, &record("a", Vec::new()));
    let before = files(folder.path());
    assert!(!before["wallet.db-wal"].is_empty());
    let wallet = open(&file(&path), &key()).await.unwrap();
    assert_eq!(whole(&wallet).await.unwrap().records.len(), 1);
    writer.write(&profile, &record("b", Vec::new()));
    assert_eq!(whole(&wallet).await.unwrap().records.len(), 1);
    drop(wallet);
    let later = open(&file(&path), &key()).await.unwrap();
    assert_eq!(whole(&later).await.unwrap().records.len(), 2);
    drop(later);
    assert_eq!(files(folder.path())["wallet.db"], before["wallet.db"]);
}

#[tokio::test]
async fn an_agent_that_starts_while_a_closed_wallet_is_read_is_noticed() {
    let folder = wallet_after("");
    let path = folder.path().join("wallet.db");
    let wallet = open(&file(&path), &key()).await.unwrap();
    let profile = wallet.profile("first").await.unwrap();
    let agent = rusqlite::Connection::open(&path).unwrap();
    agent
        .execute_batch("DELETE FROM items WHERE id = 1")
        .unwrap();
    let batch = wallet.batch(&profile, None).await.err();
    assert_eq!(batch, Some(WalletError::Changed));
}

#[tokio::test]
async fn many_records_come_in_batches_of_a_few_megabytes_and_one_larger_one_comes_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wallet.db");
    let writer = Writer::create(&path, KEY);
    let profile = writer.profile("first");
    for number in 0..12 {
        writer.write(
            &profile,
            &record(&format!("{number}"), vec![1; 1024 * 1024]),
        );
    }
    writer.write(&profile, &record("large", vec![2; 9 * 1024 * 1024]));
    for number in 0..1200 {
        writer.write(&profile, &record(&format!("small {number}"), vec![3; 10]));
    }
    drop(writer);
    let wallet = open(&file(&path), &key()).await.unwrap();
    let read = whole(&wallet).await.unwrap();
    assert_eq!((read.records.len(), read.unread.len()), (1213, 0));
}
