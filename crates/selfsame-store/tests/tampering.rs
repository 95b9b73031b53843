//! Detection of changes that were made to a store's file while it was closed.

use std::sync::Arc;

use rusqlite::Connection;
use selfsame_crypto::frame;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::{Backend as _, Place, SealedBatch, Write};
use selfsame_store::offline::StoreFile;
use selfsame_store::{
    Batch, NewOutbox, Page, Put, Record, Result, Sqlite, Store, StoreError, Tag, TenantId, Vault,
};
use tempfile::TempDir;

fn tenant() -> TenantId {
    TenantId::parse("anna").unwrap()
}

/// A store in a file, opened and closed repeatedly.
struct Closed(TempDir);

impl Closed {
    /// Two records with a tag each, one of them updated, a counter, an outbox entry and no event.
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
async fn a_file_without_edits_opens_again_and_again() {
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

/// The file as a build before the sum left it: no sum, no list of master keys, no mark at the instance's own key, and a
/// table of routes.
fn as_before_the_sum(closed: &Closed) {
    let connection = Connection::open(closed.file()).unwrap();
    connection.execute_batch(NO_LIST).unwrap();
    let own = "FROM records WHERE tenant = 'instance' AND kind = 'selfsame.key'";
    let (version, wrapped): (u64, Vec<u8>) = connection
        .query_row(&format!("SELECT version, value {own}"), [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    let wrap = SealingKey::from_bytes([1; 32]).derive(b"selfsame/store/wrap");
    let parts = [
        &b"selfsame/store/key"[..],
        b"instance",
        &version.to_be_bytes(),
    ];
    let framed = parts.map(|part| [&(part.len() as u32).to_be_bytes()[..], part].concat());
    let bound = framed.concat();
    let plain = wrap.open(&bound, &wrapped).unwrap();
    let unmarked = wrap.seal([9; 12], &bound, &plain[..32]).unwrap();
    connection
        .execute(
            "UPDATE records SET value = ?1 WHERE kind = 'selfsame.key' AND tenant = 'instance'",
            [unmarked],
        )
        .unwrap();
    let former = "DROP TABLE totals; DROP TABLE events; CREATE TABLE routes (key BLOB PRIMARY KEY); PRAGMA user_version = 2";
    connection.execute_batch(former).unwrap();
}

const NO_LIST: &str =
    "DELETE FROM records WHERE kind = 'selfsame.master-keys'; DROP INDEX records_of_keys";

#[tokio::test]
async fn a_look_at_a_file_takes_a_tenant_that_is_being_destroyed_for_no_damage() {
    let closed = Closed::with_rows().await;
    let store = closed.open().await.unwrap();
    store.destroy(&tenant(), 1).await.unwrap();
    drop(store);
    let found = |closed: &Closed| {
        let file = StoreFile::open(&closed.file(), master()).unwrap();
        let parts = file.look(&|_, _| ());
        parts.iter().any(|part| !part.damage.is_empty())
    };
    assert!(!found(&closed));
    let closed = Closed::with_rows().await;
    closed.edit("DELETE FROM records WHERE tenant = 'anna' AND kind = 'selfsame.key'");
    assert!(found(&closed), "a key that was removed from outside");
}

#[tokio::test]
async fn a_store_of_a_build_before_the_sum_is_taken_over_once_and_guarded_from_then_on() {
    let closed = Closed::with_rows().await;
    as_before_the_sum(&closed);
    let file = StoreFile::open(&closed.file(), master()).unwrap();
    let noted = file.look(&|_, _| ()).into_iter().find_map(|part| part.note);
    assert_eq!(
        noted,
        Some("the file is of a former layout, which has no sum")
    );
    drop(file);
    assert_eq!(closed.revoked().await.len(), 2);
    assert_eq!(closed.revoked().await.len(), 2);
    closed.edit("DELETE FROM records WHERE id = 'two'");
    closed.is_refused().await;
}

#[tokio::test]
async fn a_store_whose_sum_was_removed_is_not_taken_for_one_of_a_build_before_it() {
    let own_key = "DELETE FROM records WHERE tenant = 'instance' AND kind = 'selfsame.key';";
    for (taken_over, further) in [(false, ""), (true, ""), (false, own_key)] {
        let closed = Closed::with_rows().await;
        if taken_over {
            as_before_the_sum(&closed);
            drop(closed.open().await.unwrap());
        }
        let connection = Connection::open(closed.file()).unwrap();
        let presented = format!("{further} DROP TABLE totals; PRAGMA user_version = 2");
        connection.execute_batch(&presented).unwrap();
        drop(connection);
        closed.is_refused().await;
        if further.is_empty() {
            let wrong = wrong(&closed);
            assert_eq!(names(&wrong), ["sum"]);
            assert!(wrong[0].1.contains("the sum of all rows was removed"));
        }
    }
}

#[tokio::test]
async fn a_store_with_a_table_of_routes_loses_it_and_nothing_else() {
    let closed = Closed::with_rows().await;
    let connection = Connection::open(closed.file()).unwrap();
    let former =
        "DROP TABLE events; CREATE TABLE routes (key BLOB PRIMARY KEY); PRAGMA user_version = 3";
    connection.execute_batch(former).unwrap();
    drop(connection);
    assert_eq!(closed.revoked().await.len(), 2);
    let connection = Connection::open(closed.file()).unwrap();
    let routes = "SELECT count(*) FROM sqlite_schema WHERE name = 'routes'";
    let count: u32 = connection.query_row(routes, [], |row| row.get(0)).unwrap();
    let version: u32 = connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    assert_eq!((count, version), (0, 6));
    drop(connection);
    assert_eq!(wrong(&closed), []);
}

/// A file as the release before the list of master keys left it, made of its formats: a tenant with one record.
async fn of_the_release_before() -> Closed {
    let closed = Closed(TempDir::new().unwrap());
    let wrap = SealingKey::from_bytes([1; 32]).derive(b"selfsame/store/wrap");
    let version: u64 = 5;
    let place = |tenant: &TenantId, kind: &str, id: &str| Place {
        tenant: tenant.clone(),
        kind: kind.to_owned(),
        id: id.to_owned(),
    };
    let put = |place: Place, value: Vec<u8>| Write::Put {
        place,
        version,
        value,
        tags: Vec::new(),
        expires: None,
    };
    let key = |tenant: &TenantId, plain: &[u8]| {
        let parts = [
            b"selfsame/store/key",
            tenant.as_str().as_bytes(),
            &version.to_be_bytes(),
        ];
        let wrapped = wrap.seal([4; 12], &frame::join(&parts), plain).unwrap();
        put(place(tenant, "selfsame.key", ""), wrapped)
    };
    let value = SealingKey::from_bytes([3; 32]).derive(b"selfsame/store/value");
    let parts = [
        &b"selfsame/store/record"[..],
        b"anna",
        b"card",
        b"one",
        &version.to_be_bytes(),
    ];
    let sealed = value.seal([5; 12], &frame::join(&parts), b"plain").unwrap();
    let marked = [&[2; 32][..], &[1]].concat();
    let writes = vec![
        key(&TenantId::instance(), &marked),
        key(&tenant(), &[3; 32]),
        put(place(&tenant(), "card", "one"), sealed),
    ];
    let backend = Sqlite::open(closed.file()).unwrap();
    backend
        .guard(wrap.derive(b"selfsame/store/sum"), false)
        .await
        .unwrap();
    let (now, durable) = (UnixTime(1), true);
    let batch = SealedBatch {
        now,
        durable,
        writes,
    };
    backend.commit(batch).await.unwrap();
    drop(backend);
    let connection = Connection::open(closed.file()).unwrap();
    let former = "DROP INDEX records_of_keys; PRAGMA user_version = 5";
    connection.execute_batch(former).unwrap();
    closed
}

#[tokio::test]
async fn a_store_of_the_release_before_gets_a_list_of_master_keys_and_its_sum_goes_on() {
    let closed = of_the_release_before().await;
    assert_eq!(wrong(&closed), []);
    for _ in 0..2 {
        let store = closed.open().await.unwrap();
        let read = store.read(&tenant(), "card", "one").await.unwrap();
        assert_eq!(read.unwrap().value, b"plain");
        assert!(store.rotation().present.is_some());
        drop(store);
        assert_eq!(wrong(&closed), []);
    }
    closed.edit("DELETE FROM records WHERE id = 'one'");
    closed.is_refused().await;
    let closed = of_the_release_before().await;
    closed.edit("UPDATE records SET version = 6 WHERE id = 'one'");
    closed.is_refused().await;
}

#[tokio::test]
async fn a_list_of_master_keys_that_was_removed_changed_or_put_back_is_told_as_what_it_is() {
    for statement in [
        "DELETE FROM records WHERE kind = 'selfsame.master-keys'",
        "UPDATE records SET value = x'00' WHERE kind = 'selfsame.master-keys'",
        "UPDATE records SET value = zeroblob(length(value)) WHERE kind = 'selfsame.master-keys'",
        "UPDATE records SET version = version + 1 WHERE kind = 'selfsame.master-keys'",
    ] {
        let closed = Closed::with_rows().await;
        closed.edit(statement);
        let refused = closed.open().await.err().unwrap();
        assert_eq!(
            refused.to_string(),
            "a stored list of the master keys was altered or damaged",
            "{statement}"
        );
        let wrong = wrong(&closed);
        let said = wrong.iter().any(|(what, said)| {
            *what == "records"
                && said.contains("the list of the master keys was removed or changed")
        });
        assert!(said, "{statement}: {wrong:?}");
        // A wrong key is still told from a damaged list.
        let backend = Arc::new(Sqlite::open(closed.file()).unwrap());
        let other = Vault::from_master(SealingKey::from_bytes([2; 32]));
        let refused = Store::open(backend, other).await.err();
        assert!(
            matches!(refused, Some(StoreError::WrongKey(_))),
            "{refused:?}"
        );
    }
}

async fn tell(closed: &Closed, id: &str) {
    let store = closed.open().await.unwrap();
    let batch = Batch::new(tenant()).event("issued", id);
    store.commit(batch).await.unwrap();
}

#[tokio::test]
async fn a_store_without_events_gets_them_and_they_are_guarded_from_then_on() {
    let closed = Closed::with_rows().await;
    let former = "DROP TABLE events; PRAGMA user_version = 4";
    let connection = Connection::open(closed.file()).unwrap();
    connection.execute_batch(former).unwrap();
    drop(connection);
    assert_eq!(wrong(&closed), []);
    assert_eq!(closed.revoked().await.len(), 2);
    tell(&closed, "one").await;
    tell(&closed, "two").await;
    assert_eq!(wrong(&closed), []);
    // Presented again as a file of a former layout, it lacks what was told.
    let connection = Connection::open(closed.file()).unwrap();
    connection.execute_batch(former).unwrap();
    drop(connection);
    assert_eq!(names(&wrong(&closed)), ["sum"]);
    closed.is_refused().await;
}

#[tokio::test]
async fn a_removed_changed_or_added_event_is_refused() {
    for statement in [
        "DELETE FROM events WHERE id = 'one'",
        "DELETE FROM events WHERE id = 'two'",
        "UPDATE events SET id = 'three' WHERE id = 'one'",
        "UPDATE events SET at = at - 1",
        "UPDATE events SET stamp = stamp + 1 WHERE id = 'two'",
        "INSERT INTO events SELECT 9, stamp, at, tenant, kind, id FROM events LIMIT 1",
    ] {
        let closed = Closed::with_rows().await;
        tell(&closed, "one").await;
        tell(&closed, "two").await;
        closed.edit(statement);
        assert_eq!(names(&wrong(&closed)), ["sum"], "{statement}");
        closed.is_refused().await;
    }
}

/// Changes one letter of the record `one` in the index of records, and nowhere else.
fn flip_in_index(closed: &Closed) {
    const LEAF_OF_INDEX: u8 = 10;
    let connection = Connection::open(closed.file()).unwrap();
    let whole = "PRAGMA journal_mode = DELETE";
    let _mode: String = connection.query_row(whole, [], |row| row.get(0)).unwrap();
    drop(connection);
    let mut bytes = std::fs::read(closed.file()).unwrap();
    let cell = b"annacardone";
    let mut flipped = 0;
    for page in bytes
        .chunks_mut(4_096)
        .filter(|page| page[0] == LEAF_OF_INDEX)
    {
        let found = page.windows(cell.len()).position(|part| part == cell);
        if let Some(at) = found {
            page[at + cell.len() - 1] ^= 2;
            flipped += 1;
        }
    }
    assert_eq!(flipped, 1);
    std::fs::write(closed.file(), bytes).unwrap();
}

/// Makes an index without the record `one`.
fn leave_out_of_index(closed: &Closed) {
    let set = |sql: &str| {
        let connection = Connection::open(closed.file()).unwrap();
        let write = "UPDATE sqlite_schema SET sql = ?1 WHERE name = 'records_by_kind'";
        connection
            .execute_batch("PRAGMA writable_schema = ON")
            .unwrap();
        assert_eq!(connection.execute(write, [sql]).unwrap(), 1);
    };
    let whole = "CREATE INDEX records_by_kind ON records (tenant, kind)";
    set(&format!("{whole} WHERE id <> 'one'"));
    let connection = Connection::open(closed.file()).unwrap();
    connection.execute_batch("REINDEX records_by_kind").unwrap();
    drop(connection);
    set(whole);
}

#[tokio::test]
async fn an_index_that_hides_a_record_is_made_again_of_the_rows() {
    for hide in [flip_in_index, leave_out_of_index] {
        let closed = Closed::with_rows().await;
        hide(&closed);
        assert_eq!(names(&wrong(&closed)), ["pages"]);
        let store = closed.open().await.unwrap();
        let read = store.read(&tenant(), "card", "one").await.unwrap();
        assert!(read.is_some(), "a spent nonce would read as absent");
        let listed = store.list(&tenant(), "card", &Page::first(9)).await;
        assert_eq!(listed.unwrap().len(), 2);
        drop(store);
        assert_eq!(wrong(&closed), []);
    }
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
    assert!(
        matches!(refused, Some(StoreError::WrongKey(_))),
        "{refused:?}"
    );
}

fn master() -> Vault {
    Vault::from_master(SealingKey::from_bytes([1; 32]))
}

/// The damage found in a store that no process has open, with the part that was checked.
fn wrong(closed: &Closed) -> Vec<(&'static str, String)> {
    let before = std::fs::read(closed.file()).unwrap();
    let file = StoreFile::open(&closed.file(), master()).unwrap();
    let parts = file.look(&|_, _| ());
    let named: Vec<_> = parts.iter().map(|part| part.what).collect();
    assert_eq!(named, ["pages", "sum", "records", "outbox", "tags"]);
    drop(file);
    assert!(
        std::fs::read(closed.file()).unwrap() == before,
        "a look changed the file"
    );
    let wrong = parts.into_iter().filter(|part| !part.is_sound());
    wrong
        .map(|part| (part.what, part.damage.join("; ")))
        .collect()
}

fn names(wrong: &[(&'static str, String)]) -> Vec<&'static str> {
    wrong.iter().map(|(what, _)| *what).collect()
}

#[tokio::test]
async fn a_look_at_a_sound_store_finds_nothing_and_counts_what_it_saw() {
    let closed = Closed::with_rows().await;
    assert_eq!(wrong(&closed), []);
    let file = StoreFile::open(&closed.file(), master()).unwrap();
    let seen: Vec<_> = file.look(&|_, _| ()).iter().map(|part| part.seen).collect();
    // Two keys, two records and the list of master keys; a counter and an entry are rows too.
    assert_eq!(seen, [0, 7, 5, 1, 2]);
    assert!(file.generation().unwrap().unwrap() >= 4);
    assert_eq!(
        file.read(&tenant(), "card", "one").unwrap(),
        Some(vec![7; 300])
    );
    assert_eq!(file.read(&tenant(), "card", "none").unwrap(), None);
}

#[tokio::test]
async fn a_look_names_each_kind_of_damage_of_a_store() {
    for (statement, expected, words) in [
        (
            "DELETE FROM records WHERE id = 'one'",
            &["sum", "tags"][..],
            "rows were removed: there are 6, and 7 were written",
        ),
        (
            "INSERT INTO counters VALUES ('anna', 'others', 1)",
            &["sum"],
            "rows were put in",
        ),
        ("UPDATE counters SET next = next - 1", &["sum"], "changed"),
        (
            "UPDATE records SET version = version - 1 WHERE id = 'one'",
            &["sum", "records"],
            "record 4 (kind \"card\") does not open",
        ),
        (
            "UPDATE records SET value = zeroblob(length(value)) WHERE id = 'two'",
            &["sum", "records"],
            "record 5 (kind \"card\") does not open",
        ),
        (
            "UPDATE outbox SET sealed = x'00'",
            &["sum", "outbox"],
            "of the outbox does not open",
        ),
        (
            "UPDATE totals SET generation = generation + 1",
            &["sum"],
            "the sum itself was changed",
        ),
        ("DELETE FROM totals", &["sum"], "missing"),
        (
            "DELETE FROM tags WHERE seq = 4",
            &["tags"],
            "1 tags of records are not in the index",
        ),
        (
            "INSERT INTO tags SELECT tag, 99 FROM tags LIMIT 1",
            &["tags"],
            "1 tags in the index are of no record",
        ),
    ] {
        let closed = Closed::with_rows().await;
        closed.edit(statement);
        let wrong = wrong(&closed);
        assert_eq!(names(&wrong), expected, "{statement}: {wrong:?}");
        let said = wrong.iter().any(|(_, said)| said.contains(words));
        assert!(said, "{statement}: {wrong:?}");
    }
}

#[tokio::test]
async fn a_look_names_an_older_version_of_a_record_that_was_put_back() {
    let closed = Closed::with_rows().await;
    let keep = "CREATE TABLE kept AS SELECT version, value FROM records WHERE id = 'one'";
    Connection::open(closed.file())
        .unwrap()
        .execute_batch(keep)
        .unwrap();
    let store = closed.open().await.unwrap();
    let read = store.read(&tenant(), "card", "one").await.unwrap().unwrap();
    let changed = Batch::new(tenant()).update("card", &read, vec![8; 300]);
    store.commit(changed).await.unwrap();
    drop(store);
    closed.edit(
        "UPDATE records SET (version, value) = (SELECT version, value FROM kept) WHERE id = 'one'",
    );
    let wrong = wrong(&closed);
    assert_eq!(names(&wrong), ["sum"]);
    assert!(wrong[0].1.contains("put back as it was before"));
}

#[tokio::test]
async fn a_look_names_pages_that_are_no_more_what_was_written() {
    let closed = Closed::with_rows().await;
    let mut bytes = std::fs::read(closed.file()).unwrap();
    let page = 4_096;
    for at in (page..bytes.len()).step_by(page) {
        // The type byte of each page of a table or an index.
        bytes[at] ^= 0x40;
    }
    std::fs::write(closed.file(), bytes).unwrap();
    assert!(names(&wrong(&closed)).contains(&"pages"));
}

#[tokio::test]
async fn a_store_that_is_open_or_of_another_key_is_not_looked_at() {
    let closed = Closed::with_rows().await;
    let other = Vault::from_master(SealingKey::from_bytes([2; 32]));
    let refused = StoreFile::open(&closed.file(), other).err();
    assert!(
        matches!(refused, Some(StoreError::WrongKey(_))),
        "{refused:?}"
    );
    // The right key is told from a wrong one even if the key's own record is damaged.
    closed.edit(
        "UPDATE records SET value = x'00' WHERE tenant = 'instance' OR kind = 'selfsame.key'",
    );
    assert!(StoreFile::open(&closed.file(), master()).is_ok());
    let _open = Sqlite::open(closed.file()).unwrap();
    let refused = StoreFile::open(&closed.file(), master()).err();
    assert!(matches!(refused, Some(StoreError::InUse(_))), "{refused:?}");
}
