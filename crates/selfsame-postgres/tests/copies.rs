//! Copies of a database: a file that an instance starts from, with everything in it.

#[path = "server/server.rs"]
mod server;
#[path = "server/stored.rs"]
mod stored;

use std::sync::Arc;

use selfsame_crypto::time::UnixTime;
use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::{Batch, Page, Put, Record, Sqlite, Store, StoreError, Tag, TenantId};
use server::Server;
use stored::{call, database, open, vault};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_copy_is_a_file_with_all_records_calls_counters_and_events() {
    let url = Server::shared().fresh();
    let store = database(&url).await;
    let owner = TenantId::parse("one").unwrap();
    for number in 0..300_u32 {
        let put = Put::new("card", number.to_string(), number.to_be_bytes().to_vec());
        let put = put.tag(Tag::hashed("parity", (number % 2).to_string()));
        let batch = Batch::new(owner.clone()).put(put);
        store.commit(batch.event("issued", "one")).await.unwrap();
    }
    let calls = Batch::new(owner.clone());
    let calls = calls.enqueue(call("first")).enqueue(call("first"));
    let calls = store.commit(calls.enqueue(call("second"))).await.unwrap();
    let buried = Batch::new(owner.clone()).bury(calls.outbox[2], "in vain");
    store.commit(buried).await.unwrap();
    let handed_out = store.allocate(&owner, "places", 5).await.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("copy").join("store.sqlite");
    store.copy(&file).await.unwrap();
    assert!(store.copy(&file).await.is_err(), "it exists");
    Sqlite::check(&file).unwrap();

    let copy = open(Arc::new(Sqlite::open(&file).unwrap())).await;
    assert!(copy.copied_at().await.unwrap().is_some());
    assert!(copy.generation() >= store.generation());
    let odd = Tag::hashed("parity", "1");
    let page = Page::first(999);
    let records = |store: Store| {
        let (owner, odd, page) = (owner.clone(), odd.clone(), page.clone());
        async move { store.find(&owner, "card", &odd, &page).await.unwrap() }
    };
    let (here, there) = (records(store.clone()).await, records(copy.clone()).await);
    assert_eq!(here.len(), 150);
    let told = |records: Vec<Record>| {
        let told = records.into_iter();
        let told = told.map(|record| (record.id, record.value, record.version));
        told.collect::<Vec<_>>()
    };
    assert_eq!(told(here), told(there));
    let events = |store: Store| async move {
        let events = store.oldest_events(999).await.unwrap();
        let told = events.into_iter().map(|event| (event.stamp, event.at));
        told.collect::<Vec<_>>()
    };
    assert_eq!(events(copy.clone()).await, events(store.clone()).await);
    let due = copy.due(UnixTime(u64::MAX), 9).await.unwrap();
    let due: Vec<_> = due.iter().map(|call| call.subject.clone()).collect();
    assert_eq!(due, ["first"], "the head of the lane alone");
    let letters = copy.dead_letters(&page).await.unwrap();
    assert_eq!(letters[0].reason, "in vain");
    copy.begin_with_copy(1_000_000).await.unwrap();
    assert!(copy.allocate(&owner, "places", 1).await.unwrap().start >= handed_out.end);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_row_changed_removed_or_put_back_from_outside_is_found_at_the_start() {
    let server = Server::shared();
    let changes = [
        "DELETE FROM records WHERE kind = 'card' AND id = '1'",
        "UPDATE records SET expires = 5 WHERE id = '1'",
        "UPDATE records SET version = version + 1 WHERE id = '1'",
        "UPDATE counters SET next = 1",
        "INSERT INTO records SELECT gen_random_uuid(), tenant, kind, 'other', seq, version, expires, tags, value
            FROM records WHERE id = '1'",
        "DELETE FROM events",
        "DELETE FROM outbox",
        "UPDATE outbox SET not_before = 9999999999",
        "UPDATE processes SET rows = rows + 1",
        "DELETE FROM processes",
    ];
    for change in changes {
        let url = server.fresh();
        let address = Address::parse(&url).unwrap();
        let store = open(Arc::new(
            Postgres::open(&address, 1, Company::Alone).await.unwrap(),
        ))
        .await;
        let owner = TenantId::parse("one").unwrap();
        let batch = Batch::new(owner.clone()).put(Put::new("card", "1", vec![1]));
        let batch = batch.event("issued", "1").enqueue(call("first"));
        store.commit(batch).await.unwrap();
        store.allocate(&owner, "places", 1).await.unwrap();
        drop(store);
        server.execute(&url, change);
        let again = Postgres::open(&address, 1, Company::Alone).await.unwrap();
        let opened = Store::open(Arc::new(again), vault()).await;
        assert!(
            matches!(opened, Err(StoreError::Tampered(_))),
            "{change}: {opened:?}"
        );
    }
}
