//! The check of a database that no process serves: what is damaged in it, part by part.

#[path = "server/server.rs"]
mod server;
#[path = "server/stored.rs"]
mod stored;

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_postgres::{Address, ClosedDatabase};
use selfsame_store::offline::{COPIED, Looked};
use selfsame_store::{Batch, NewOutbox, Put, Store, StoreError, Tag, TenantId, Vault};
use server::Server;
use stored::vault;

fn tenant() -> TenantId {
    TenantId::parse("one").unwrap()
}

async fn closed(url: &str) -> ClosedDatabase {
    let address = Address::parse(url).unwrap();
    ClosedDatabase::open(&address, vault()).await.unwrap()
}

/// A store with two records, their tags, two calls, two events and a counter; returns it with its address.
async fn filled() -> (Store, String) {
    let url = Server::shared().fresh();
    let store = stored::database(&url).await;
    for id in ["1", "2"] {
        let put = Put::new("card", id, id.as_bytes().to_vec()).tag(Tag::hashed("colour", "red"));
        let call = NewOutbox {
            destination: "there".to_owned(),
            subject: "same".to_owned(),
            key: id.to_owned(),
            payload: Vec::new(),
            not_before: UnixTime(0),
        };
        let batch = Batch::new(tenant()).put(put).event("issued", id);
        store.commit(batch.enqueue(call)).await.unwrap();
    }
    store.allocate(&tenant(), "places", 1).await.unwrap();
    (store, url)
}

/// The parts with damage, in words.
fn damage(parts: &[Looked]) -> Vec<String> {
    let parts = parts.iter();
    let told = parts.flat_map(|part| {
        part.damage
            .iter()
            .map(|wrong| format!("{}: {wrong}", part.what))
    });
    told.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sound_database_has_every_part_seen_and_none_damaged() {
    let (store, url) = filled().await;
    let generation = store.generation();
    drop(store);
    let database = closed(&url).await;
    let parts = database.look(&|_, _| {}).await;
    assert_eq!(damage(&parts), Vec::<String>::new());
    let seen = parts.iter().map(|part| (part.what, part.seen));
    let expected = [
        ("pages", 0),
        ("sum", 10),
        ("records", 5),
        ("outbox", 2),
        ("tags", 2),
    ];
    assert_eq!(seen.collect::<Vec<_>>(), expected);
    assert_eq!(database.generation().await.unwrap(), generation);
    let read = database.read(&tenant(), "card", "2").await.unwrap();
    assert_eq!(read.unwrap(), b"2");
    let copied = database.read(&TenantId::instance(), COPIED, "").await;
    assert_eq!(copied.unwrap(), None);
    drop(database);
    // Nothing was written, and a process starts as if there had been no check.
    assert_eq!(stored::database(&url).await.generation(), generation);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_change_from_outside_is_told_in_its_part() {
    let changes = [
        (
            "DELETE FROM records WHERE id = '1'",
            "sum: rows were removed: there are 9, and 10 were written",
        ),
        (
            "INSERT INTO counters VALUES ('one', 'other', 1)",
            "sum: rows were put in: there are 11, and 10 were written",
        ),
        (
            "UPDATE counters SET next = 1",
            "sum: a row was changed, moved, or put back as it was before",
        ),
        (
            "UPDATE processes SET rows = rows + 1",
            "sum: the sum itself was changed",
        ),
        (
            "UPDATE records SET value = set_byte(value, 3, (get_byte(value, 3) + 1) % 256) WHERE id = '1'",
            "(kind \"card\") does not open with the master key",
        ),
        (
            "DELETE FROM records WHERE kind = 'selfsame.master-keys'",
            "records: the list of the master keys was removed or changed",
        ),
        (
            "UPDATE records SET value = '\\x00' WHERE kind = 'selfsame.master-keys'",
            "records: the list of the master keys was removed or changed",
        ),
        (
            "UPDATE records SET id = '3' WHERE id = '1'",
            "(kind \"card\") is not found where it belongs",
        ),
        (
            "UPDATE outbox SET sealed = set_byte(sealed, 3, (get_byte(sealed, 3) + 1) % 256)",
            "of the outbox does not open with the master key",
        ),
        (
            "UPDATE outbox SET head = false",
            "outbox: 1 receivers have calls of which none is the next, so none is sent",
        ),
        (
            "DELETE FROM tags WHERE place = (SELECT place FROM records WHERE id = '1')",
            "tags: the index of tags is not that of the records: rows of tags: 2 before, 1 after",
        ),
    ];
    for (change, told) in changes {
        let (store, url) = filled().await;
        drop(store);
        Server::shared().execute(&url, change);
        let parts = closed(&url).await.look(&|_, _| {}).await;
        let damage = damage(&parts);
        let is_told = damage.iter().any(|wrong| wrong.contains(told));
        assert!(is_told, "{change}: {damage:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tenant_that_is_being_destroyed_is_no_damage() {
    let (store, url) = filled().await;
    store.destroy(&tenant(), 1).await.unwrap();
    drop(store);
    let parts = closed(&url).await.look(&|_, _| {}).await;
    assert_eq!(damage(&parts), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_that_a_process_serves_are_left_alone_and_so_are_those_of_another_key() {
    let (store, url) = filled().await;
    let address = Address::parse(&url).unwrap();
    let served = ClosedDatabase::open(&address, vault()).await.err();
    assert!(matches!(served, Some(StoreError::InUse(_))), "{served:?}");
    drop(store);
    let other = Vault::from_master(SealingKey::from_bytes([2; 32]));
    let other = ClosedDatabase::open(&address, other).await.err();
    assert!(matches!(other, Some(StoreError::WrongKey(_))), "{other:?}");
    let nothing = Address::parse(&Server::shared().fresh()).unwrap();
    let nothing = ClosedDatabase::open(&nothing, vault()).await.err();
    assert!(
        matches!(nothing, Some(StoreError::Foreign(_))),
        "{nothing:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_crashed_is_waited_for() {
    let (store, url) = filled().await;
    drop(store);
    let crashed = "UPDATE processes SET seen = now() - interval '7 seconds'";
    Server::shared().execute(&url, crashed);
    let parts = closed(&url).await.look(&|_, _| {}).await;
    assert_eq!(damage(&parts), Vec::<String>::new());
}
