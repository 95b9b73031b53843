//! What becomes of a store whose file somebody edited, or whose rows are others than were written, while it was closed.

use std::sync::Arc;

use rusqlite::Connection;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_store::{
    Batch, NewOutbox, Page, Put, Record, Result, Sqlite, Store, StoreError, Tag, TenantId, Vault,
};
use tempfile::TempDir;

fn tenant() -> TenantId {
    TenantId::parse("anna").unwrap()
}

/// A store in a file, opened and closed again and again.
struct Closed(TempDir);

impl Closed {
    /// Two records with a tag each, one of them changed since, a counter and an entry of the outbox.
    async fn with_rows() -> Self {
        let closed = Self(TempDir::new().unwrap());
        let store = closed.open().await.unwrap();
        for id in ["one", "two"] {
            let put = Put::new("card", id, vec![7; 300]).tag(Tag::hashed("state", "revoked"));
            store.commit(Batch::new(tenant()).put(put)).await.unwrap();
        }
        store.allocate(&tenant(), "places", 1).await.unwrap();
        let entry = NewOutbox {
            destination: "https://verifier.example".to_owned(),
            subject: "one".to_owned(),
            key: "once".to_owned(),
            payload: vec![1],
            not_before: UnixTime(0),
        };
        store
            .commit(Batch::new(tenant()).enqueue(entry))
            .await
            .unwrap();
        closed
    }

    fn file(&self) -> std::path::PathBuf {
        self.0.path().join("store.db")
    }

    async fn open(&self) -> Result<Store> {
        let backend = Arc::new(Sqlite::open(self.file())?);
        Store::open(backend, Vault::from_master(SealingKey::from_bytes([1; 32]))).await
    }

    fn edit(&self, statement: &str) {
        let connection = Connection::open(self.file()).unwrap();
        let changed = connection.execute(statement, []).unwrap();
        assert!(changed > 0, "{statement}");
    }

    async fn is_refused(&self) {
        let refused = self.open().await.err();
        assert!(
            matches!(refused, Some(StoreError::Tampered(_))),
            "{refused:?}"
        );
    }

    async fn revoked(&self) -> Vec<Record> {
        let store = self.open().await.unwrap();
        let (tag, page) = (Tag::hashed("state", "revoked"), Page::first(9));
        store.find(&tenant(), "card", &tag, &page).await.unwrap()
    }
}

#[tokio::test]
async fn what_nobody_edited_opens_again_and_again() {
    let closed = Closed::with_rows().await;
    for _ in 0..3 {
        assert_eq!(closed.revoked().await.len(), 2);
        let store = closed.open().await.unwrap();
        store
            .commit(Batch::new(tenant()).delete("card", "none").deferred())
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_removed_older_moved_or_changed_row_is_refused() {
    for statement in [
        "DELETE FROM records WHERE kind = 'card' AND id = 'one'",
        "DELETE FROM outbox",
        "DELETE FROM counters",
        "UPDATE records SET id = 'three' WHERE kind = 'card' AND id = 'one'",
        "UPDATE records SET tenant = 'berta' WHERE kind = 'card'",
        "UPDATE records SET version = version - 1 WHERE id = 'one'",
        "UPDATE records SET value = (SELECT value FROM records WHERE id = 'two') WHERE id = 'one'",
        "UPDATE records SET tags = x'' WHERE id = 'one'",
        "UPDATE records SET expires = 4000000000 WHERE id = 'one'",
        "UPDATE counters SET next = next - 1",
        "UPDATE outbox SET attempts = attempts + 1",
        "INSERT INTO counters VALUES ('anna', 'others', 1)",
        "UPDATE totals SET generation = generation - 1",
        "DELETE FROM totals",
    ] {
        let closed = Closed::with_rows().await;
        closed.edit(statement);
        closed.is_refused().await;
    }
}

#[tokio::test]
async fn one_flipped_bit_of_a_value_is_refused() {
    let closed = Closed::with_rows().await;
    let connection = Connection::open(closed.file()).unwrap();
    let read = "SELECT value FROM records WHERE id = 'one'";
    let mut value: Vec<u8> = connection.query_row(read, [], |row| row.get(0)).unwrap();
    value[100] ^= 1;
    let write = "UPDATE records SET value = ?1 WHERE id = 'one'";
    connection.execute(write, [value]).unwrap();
    drop(connection);
    closed.is_refused().await;
}

#[tokio::test]
async fn an_older_version_of_a_record_put_back_is_refused() {
    let closed = Closed::with_rows().await;
    let connection = Connection::open(closed.file()).unwrap();
    let keep = "CREATE TABLE kept AS SELECT version, value FROM records WHERE id = 'one'";
    connection.execute_batch(keep).unwrap();
    drop(connection);
    let store = closed.open().await.unwrap();
    let read = store.read(&tenant(), "card", "one").await.unwrap().unwrap();
    let changed = Batch::new(tenant()).update("card", &read, vec![8; 300]);
    store.commit(changed).await.unwrap();
    drop(store);
    assert_eq!(closed.revoked().await[0].value, vec![8; 300]);
    closed.edit(
        "UPDATE records SET (version, value) = (SELECT version, value FROM kept) WHERE id = 'one'",
    );
    closed.is_refused().await;
}

#[tokio::test]
async fn an_index_of_tags_that_lost_or_won_a_row_is_made_again_of_the_records() {
    for statement in [
        "DELETE FROM tags WHERE seq = (SELECT seq FROM records WHERE id = 'one')",
        "DELETE FROM tags",
        "UPDATE tags SET tag = x'00' WHERE seq = (SELECT seq FROM records WHERE id = 'two')",
        "INSERT INTO tags SELECT tag, 99 FROM tags LIMIT 1",
    ] {
        let closed = Closed::with_rows().await;
        closed.edit(statement);
        let found = closed.revoked().await;
        assert_eq!(found.len(), 2, "{statement}");
        let connection = Connection::open(closed.file()).unwrap();
        let count = |query| connection.query_row(query, [], |row| row.get::<_, i64>(0));
        assert_eq!(
            count("SELECT count(*) FROM tags").unwrap(),
            2,
            "{statement}"
        );
    }
}

#[tokio::test]
async fn a_store_of_the_layout_before_is_taken_over_once_and_guarded_from_then_on() {
    let closed = Closed::with_rows().await;
    let connection = Connection::open(closed.file()).unwrap();
    connection
        .execute_batch("DROP TABLE totals; PRAGMA user_version = 2")
        .unwrap();
    drop(connection);
    assert_eq!(closed.revoked().await.len(), 2);
    assert_eq!(closed.revoked().await.len(), 2);
    closed.edit("DELETE FROM records WHERE id = 'two'");
    closed.is_refused().await;
}

#[tokio::test]
async fn a_copy_is_summed_with_its_mark() {
    let closed = Closed::with_rows().await;
    let copy = Closed(TempDir::new().unwrap());
    closed
        .open()
        .await
        .unwrap()
        .copy(&copy.file())
        .await
        .unwrap();
    assert!(
        copy.open()
            .await
            .unwrap()
            .copied_at()
            .await
            .unwrap()
            .is_some()
    );
    copy.edit("DELETE FROM records WHERE kind = 'selfsame.copied'");
    copy.is_refused().await;
}

#[tokio::test]
async fn another_master_key_is_named_before_a_sum_that_differs() {
    let closed = Closed::with_rows().await;
    let backend = Arc::new(Sqlite::open(closed.file()).unwrap());
    let vault = Vault::from_master(SealingKey::from_bytes([2; 32]));
    let refused = Store::open(backend, vault).await.err();
    assert!(matches!(refused, Some(StoreError::WrongKey)), "{refused:?}");
}
