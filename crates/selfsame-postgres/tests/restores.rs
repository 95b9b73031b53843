//! Restores: a backup's file becomes the rows of an empty database, all of them or none.

#[path = "server/server.rs"]
mod server;
#[path = "server/stored.rs"]
mod stored;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use selfsame_crypto::time::UnixTime;
use selfsame_postgres::{Address, Company, Postgres, RestoreError, RowCount, restore};
use selfsame_store::offline::StoreFile;
use selfsame_store::{Batch, Page, Put, Record, Sqlite, Store, StoreError, Tag, TenantId};
use server::Server;
use stored::{call, database, open, vault};
use tempfile::TempDir;

fn tenant(name: &str) -> TenantId {
    TenantId::parse(name).unwrap()
}

/// A store in a file, with everything that a store can have.
struct Source {
    folder: TempDir,
    store: Store,
}

impl Source {
    async fn with_cards(cards: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = Sqlite::open(folder.path().join("store.sqlite")).unwrap();
        let store = open(Arc::new(file)).await;
        for name in ["one", "two"] {
            for first in (0..cards).step_by(100) {
                let mut batch = Batch::new(tenant(name)).event("issued", &first.to_string());
                for number in first..cards.min(first + 100) {
                    let value = number.to_be_bytes().repeat(50);
                    let put = Put::new("card", number.to_string(), value);
                    let put = put.tag(Tag::hashed("parity", (number % 2).to_string()));
                    batch = batch.put(put.tag(Tag::hashed("all", "")));
                }
                store.commit(batch).await.unwrap();
            }
        }
        let calls = Batch::new(tenant("one")).enqueue(call("first"));
        let calls = calls.enqueue(call("first")).enqueue(call("second"));
        let calls = store.commit(calls).await.unwrap().outbox;
        let changed = Batch::new(tenant("one")).bury(calls[2], "in vain");
        let changed = changed.retry(calls[0], UnixTime(77));
        store.commit(changed).await.unwrap();
        store.allocate(&tenant("one"), "places", 5).await.unwrap();
        Self { folder, store }
    }

    async fn copied(&self) -> PathBuf {
        let file = self.folder.path().join("copy").join("store.sqlite");
        self.store.copy(&file).await.unwrap();
        file
    }
}

async fn restored(file: &Path, url: &str) -> Result<Vec<RowCount>, RestoreError> {
    let file = StoreFile::open(file, vault()).unwrap();
    restore(&Address::parse(url).unwrap(), file, &|_, _| {}).await
}

fn rows(counts: &[RowCount], table: &str, kind: &str) -> u64 {
    let of = |count: &&RowCount| count.table == table && count.kind == kind;
    counts.iter().find(of).map_or(0, |count| count.rows)
}

async fn cards(store: &Store, name: &str, tag: &Tag) -> Vec<(String, Vec<u8>, u64)> {
    let (mut told, mut page) = (Vec::new(), Page::first(1_000));
    loop {
        let found = store.find(&tenant(name), "card", tag, &page).await.unwrap();
        let Some(last) = found.last() else {
            return told;
        };
        page = page.after(last.cursor());
        let tell = |record: Record| (record.id, record.value, record.version);
        told.extend(found.into_iter().map(tell));
    }
}

async fn events(store: &Store) -> Vec<(u64, UnixTime, u64)> {
    let events = store.oldest_events(999).await.unwrap().into_iter();
    events
        .map(|event| (event.stamp, event.at, event.seq))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_of_a_file_is_all_there_in_the_database_it_is_restored_into() {
    let source = Source::with_cards(1_300).await;
    let (copy, url) = (source.copied().await, Server::shared().fresh());
    let counts = restored(&copy, &url).await.unwrap();
    assert_eq!(rows(&counts, "records", "card"), 2_600);
    assert_eq!(rows(&counts, "records", "selfsame.key"), 3);
    assert_eq!(rows(&counts, "records", "selfsame.copied"), 1);
    assert_eq!(rows(&counts, "tags", ""), 5_200);
    assert_eq!(rows(&counts, "events", ""), 26);
    assert_eq!(rows(&counts, "outbox", ""), 3);

    let (before, after) = (&source.store, database(&url).await);
    for name in ["one", "two"] {
        for tag in [Tag::hashed("parity", "1"), Tag::hashed("all", "")] {
            let found = cards(&after, name, &tag).await;
            assert!(found == cards(before, name, &tag).await && found.len() >= 650);
        }
    }
    assert_eq!(events(&after).await, events(before).await);
    assert!(after.generation() >= before.generation());
    let letters = after.dead_letters(&Page::first(9)).await.unwrap();
    assert_eq!(letters[0].reason, "in vain");
    assert!(after.due(UnixTime(76), 9).await.unwrap().is_empty());
    let due = after.due(UnixTime(77), 9).await.unwrap();
    assert_eq!((due.len(), due[0].attempts), (1, 1), "the head of its lane");
    let settled = Batch::new(tenant("one")).settle(due[0].id);
    after.commit(settled.event("sent", "first")).await.unwrap();
    assert_eq!(after.due(UnixTime(77), 9).await.unwrap().len(), 1);
    let newest = events(&after).await;
    assert_eq!(newest.last().unwrap().2, 27, "positions without a gap");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_first_start_from_a_restored_database_hands_out_no_number_again() {
    let source = Source::with_cards(1).await;
    let (copy, url) = (source.copied().await, Server::shared().fresh());
    restored(&copy, &url).await.unwrap();
    let since = source.store.allocate(&tenant("one"), "places", 9).await;
    let store = database(&url).await;
    assert!(store.copied_at().await.unwrap().is_some());
    store.begin_with_copy(1_000_000).await.unwrap();
    assert!(store.copied_at().await.unwrap().is_none());
    let next = store.allocate(&tenant("one"), "places", 1).await.unwrap();
    assert!(next.start >= since.unwrap().end);
    assert!(store.generation() >= Some(1_000_000));
    drop(store);
    database(&url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rows_come_back_the_same_from_a_file_to_a_database_and_to_a_file_again() {
    let source = Source::with_cards(150).await;
    let (copy, url) = (source.copied().await, Server::shared().fresh());
    let there = restored(&copy, &url).await.unwrap();
    let back = source.folder.path().join("back").join("store.sqlite");
    database(&url).await.copy(&back).await.unwrap();
    let again = restored(&back, &Server::shared().fresh()).await.unwrap();
    let counts = |counts: &[RowCount]| {
        let counts = counts.iter();
        let counts = counts.map(|count| (count.table, count.kind.clone(), count.rows));
        counts.collect::<Vec<_>>()
    };
    assert_eq!(counts(&there), counts(&again));
    let file = open(Arc::new(Sqlite::open(&back).unwrap())).await;
    let all = Tag::hashed("all", "");
    assert_eq!(
        cards(&file, "two", &all).await,
        cards(&source.store, "two", &all).await
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_database_with_records_or_tables_of_something_else_is_left_as_it_is() {
    let server = Server::shared();
    let copy = Source::with_cards(3).await.copied_and_kept().await;
    let occupied = server.fresh();
    let store = database(&occupied).await;
    let put = Put::new("card", "mine", vec![1]);
    store
        .commit(Batch::new(tenant("me")).put(put))
        .await
        .unwrap();
    for _ in 0..2 {
        let refused = restored(&copy.file, &occupied).await;
        assert!(
            matches!(refused, Err(RestoreError::Occupied)),
            "{refused:?}"
        );
    }
    let mine = store.read(&tenant("me"), "card", "mine").await.unwrap();
    assert_eq!(mine.unwrap().value, [1]);
    drop(store);
    database(&occupied).await;

    for table in ["records (one integer)", "layout (mine integer)"] {
        let foreign = server.fresh();
        let (_, schema) = foreign.split_once("?schema=").unwrap();
        let theirs = format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.{table}");
        server.execute(&foreign, &theirs);
        let refused = restored(&copy.file, &foreign).await;
        assert!(
            matches!(refused, Err(RestoreError::Store(StoreError::Foreign(_)))),
            "{refused:?}"
        );
        let alone = "SELECT 1 / (CASE count(*) WHEN 1 THEN 1 ELSE 0 END)
            FROM information_schema.tables WHERE table_schema = current_schema()";
        server.execute(&foreign, alone);
    }
    // Tables that an instance made and never wrote to are filled.
    let empty = server.fresh();
    let address = Address::parse(&empty).unwrap();
    drop(Postgres::open(&address, 1, Company::Alone).await.unwrap());
    restored(&copy.file, &empty).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_restore_that_is_cut_off_leaves_nothing_and_can_be_done_again() {
    let server = Server::start(&["fsync=off"]);
    let copy = Source::with_cards(3_000).await.copied_and_kept().await;
    let url = server.fresh();
    let file = StoreFile::open(&copy.file, vault()).unwrap();
    let cut = |_: &str, seen: u64| {
        if seen >= 2_000 {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
            server.execute(&url, end);
        }
    };
    let refused = restore(&Address::parse(&url).unwrap(), file, &cut).await;
    assert!(
        matches!(refused, Err(RestoreError::Store(StoreError::Storage(_)))),
        "{refused:?}"
    );
    let nothing = "SELECT 1 / (CASE count(*) WHEN 0 THEN 1 ELSE 0 END)
        FROM information_schema.tables WHERE table_schema = 'test_0'";
    server.execute(&url, nothing);
    let counts = restored(&copy.file, &url).await.unwrap();
    assert_eq!(rows(&counts, "records", "card"), 6_000);
    database(&url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_start_waits_for_a_restore_and_finds_all_of_it() {
    let copy = Source::with_cards(2_000).await.copied_and_kept().await;
    let url = Server::shared().fresh();
    let (begun, began) = std::sync::mpsc::channel();
    let file = StoreFile::open(&copy.file, vault()).unwrap();
    let address = Address::parse(&url).unwrap();
    let restoring = tokio::spawn(async move {
        let tell = move |_: &str, seen: u64| {
            if seen == 500 {
                begun.send(()).unwrap();
                std::thread::sleep(std::time::Duration::from_secs(3));
            }
        };
        restore(&address, file, &tell).await
    });
    tokio::task::block_in_place(|| began.recv().unwrap());
    let store = database(&url).await;
    let found = store.weight(&tenant("two"), "card", 9_999).await.unwrap();
    assert_eq!(found.records, 2_000);
    restoring.await.unwrap().unwrap();
}

/// A copy, and the folder that it is in.
struct Kept {
    file: PathBuf,
    _source: Source,
}

impl Source {
    async fn copied_and_kept(self) -> Kept {
        Kept {
            file: self.copied().await,
            _source: self,
        }
    }
}
