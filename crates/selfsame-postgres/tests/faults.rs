//! Real faults between a process and its database: nothing that was acknowledged is lost, nothing is done twice, and
//! after the fault the process goes on without a restart.

#![expect(
    clippy::disallowed_methods,
    reason = "a fault is measured in real time"
)]

#[path = "server/proxy.rs"]
mod proxy;
#[path = "server/server.rs"]
mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use proxy::{Manner, Proxy};
use selfsame_crypto::seal::SealingKey;
use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId, Vault};
use server::Server;
use tokio::task::JoinSet;

const KIND: &str = "count";
const WORKERS: u64 = 8;

fn vault() -> Vault {
    Vault::from_master(SealingKey::from_bytes([1; 32]))
}

async fn open(url: &str) -> Store {
    let address = Address::parse(url).unwrap();
    let backend = Postgres::open(&address, 4, Company::Alone).await.unwrap();
    Store::open(Arc::new(backend), vault()).await.unwrap()
}

fn tenant() -> TenantId {
    TenantId::parse("one").unwrap()
}

/// Workers that count: each adds one to a record of its own, and adds a record for each number, again and again.
struct Work {
    store: Store,
    ends: Arc<AtomicBool>,
    acknowledged: Arc<AtomicU64>,
    workers: JoinSet<u64>,
}

impl Work {
    fn begin(store: &Store) -> Self {
        let (ends, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::default());
        let mut workers = JoinSet::new();
        for worker in 0..WORKERS {
            let (store, ends) = (store.clone(), ends.clone());
            let acknowledged = Arc::clone(&acknowledged);
            workers.spawn(async move { count(&store, worker, &ends, &acknowledged).await });
        }
        Self {
            store: store.clone(),
            ends,
            acknowledged,
            workers,
        }
    }

    fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::SeqCst)
    }

    /// Waits until this many more commits are acknowledged.
    async fn goes_on(&self, more: u64, within: Duration) -> Duration {
        let (from, start) = (self.acknowledged(), Instant::now());
        while self.acknowledged() < from + more {
            assert!(start.elapsed() < within, "no progress within {within:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        start.elapsed()
    }

    /// Stops the workers, and compares what is stored with what each of them knows.
    async fn end(mut self, url: &str) {
        self.ends.store(true, Ordering::SeqCst);
        let mut known = Vec::new();
        while let Some(counted) = self.workers.join_next().await {
            known.push(counted.unwrap());
        }
        let total: u64 = known.iter().sum();
        let weight = self
            .store
            .weight(&tenant(), "mark", u64::MAX)
            .await
            .unwrap();
        assert_eq!(weight.records, total, "each number has its mark");
        drop(self.store);
        // The sum over all rows is compared at the start.
        drop(open(url).await);
    }
}

/// Counts until it is told to end. Returns the number that it knows to be stored.
async fn count(store: &Store, worker: u64, ends: &AtomicBool, acknowledged: &AtomicU64) -> u64 {
    let id = worker.to_string();
    let mut number = 0_u64;
    while !ends.load(Ordering::SeqCst) {
        let found = loop {
            match store.read(&tenant(), KIND, &id).await {
                Ok(found) => break found,
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        };
        let stored = found.as_ref().map_or(0, |record| {
            u64::from_be_bytes(record.value.as_slice().try_into().unwrap())
        });
        assert!(
            stored >= number,
            "{stored} is stored, and {number} was acknowledged"
        );
        assert!(stored <= number + 1, "one commit took effect twice");
        let next = stored + 1;
        let mark = Put::new("mark", format!("{worker}-{next}"), Vec::new());
        let batch = Batch::new(tenant()).put(mark);
        let value = next.to_be_bytes().to_vec();
        let batch = match &found {
            Some(record) => batch.update(KIND, record, value),
            None => batch
                .expect(KIND, &id, Expect::Absent)
                .put(Put::new(KIND, id.clone(), value)),
        };
        number = stored;
        match store.commit(batch).await {
            Ok(_) => {
                number = next;
                acknowledged.fetch_add(1, Ordering::SeqCst);
            }
            Err(StoreError::Conflict { .. }) => panic!("no other process writes this record"),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
    loop {
        if let Ok(found) = store.read(&tenant(), KIND, &id).await {
            return found.map_or(0, |record| {
                u64::from_be_bytes(record.value.as_slice().try_into().unwrap())
            });
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_that_is_restarted_or_crashes_loses_nothing_and_is_found_again() {
    let server = Server::start(&[]);
    let url = server.fresh();
    let work = Work::begin(&open(&url).await);
    work.goes_on(50, Duration::from_secs(60)).await;
    for signal in ["INT", "KILL"] {
        server.end(signal);
        server.run();
        work.goes_on(50, Duration::from_secs(30)).await;
    }
    work.end(&url).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn connections_that_are_cut_swallowed_or_slow_lose_nothing_and_do_nothing_twice() {
    let server = Server::start(&["fsync=off"]);
    let proxy = Proxy::start(server.port()).await;
    let url = server.through(proxy.port, "test");
    let work = Work::begin(&open(&url).await);
    work.goes_on(50, Duration::from_secs(60)).await;
    for manner in [Manner::CutsAnswers, Manner::Refuses, Manner::Swallows] {
        for pause in [30, 700] {
            proxy.set(manner);
            tokio::time::sleep(Duration::from_millis(pause)).await;
            proxy.set(Manner::Forwards);
            // A connection that answers nothing is given up only after a while.
            let within = match manner {
                Manner::Swallows => 60,
                _ => 9,
            };
            work.goes_on(50, Duration::from_secs(within)).await;
        }
    }
    proxy.set(Manner::Lingers);
    work.goes_on(20, Duration::from_secs(60)).await;
    proxy.set(Manner::Forwards);
    work.end(&server.address("test")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_outage_that_outlasts_every_deadline_after_a_lost_answer_needs_no_restart() {
    let server = Server::start(&["fsync=off"]);
    let proxy = Proxy::start(server.port()).await;
    let url = server.through(proxy.port, "test");
    let work = Work::begin(&open(&url).await);
    work.goes_on(50, Duration::from_secs(60)).await;
    proxy.set(Manner::CutsAnswers);
    tokio::time::sleep(Duration::from_millis(30)).await;
    proxy.set(Manner::Refuses);
    tokio::time::sleep(Duration::from_secs(17)).await;
    proxy.set(Manner::Forwards);
    work.goes_on(50, Duration::from_secs(30)).await;
    work.end(&server.address("test")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_says_whether_its_database_answers_however_it_fails_and_however_many_ask() {
    let server = Server::start(&["fsync=off"]);
    let proxy = Proxy::start(server.port()).await;
    let store = open(&server.through(proxy.port, "test")).await;
    assert!(store.answers().await);
    for manner in [Manner::Refuses, Manner::CutsAnswers, Manner::Swallows] {
        proxy.set(manner);
        // What was read a moment ago still counts.
        until_says(&store, false, Duration::from_secs(60)).await;
        // They share a question of two seconds at most.
        let began = Instant::now();
        let mut askers = JoinSet::new();
        for _ in 0..200 {
            let store = store.clone();
            askers.spawn(async move { store.answers().await });
        }
        assert!(!askers.join_all().await.contains(&true), "{manner:?}");
        let taken = began.elapsed();
        assert!(taken < Duration::from_secs(20), "{manner:?}: {taken:?}");
        proxy.set(Manner::Forwards);
        until_says(&store, true, Duration::from_secs(60)).await;
    }
}

async fn until_says(store: &Store, answers: bool, within: Duration) {
    let began = Instant::now();
    while store.answers().await != answers {
        assert!(began.elapsed() < within, "it does not say {answers}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_crash_of_the_server_that_loses_deferred_commits_needs_no_restart() {
    // The server writes what is deferred at its leisure.
    let server = Server::start(&["wal_writer_delay=10s"]);
    let url = server.fresh();
    let store = open(&url).await;
    let mark = |id: &str| Batch::new(tenant()).put(Put::new("mark", id, Vec::new()));
    store.commit(mark("kept")).await.unwrap();
    let durable = store.generation();
    for id in ["lost", "lost-too"] {
        store.commit(mark(id).deferred()).await.unwrap();
    }
    assert_eq!(
        store.generation(),
        durable,
        "a ledger never notes more commits than a crash leaves"
    );
    server.end("KILL");
    server.run();
    store.commit(mark("after")).await.unwrap();
    for (id, is_there) in [("kept", true), ("lost", false), ("after", true)] {
        let found = store.read(&tenant(), "mark", id).await.unwrap();
        assert_eq!(found.is_some(), is_there, "{id}");
    }
    assert!(store.generation() > durable);
    drop(store);
    drop(open(&url).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_several_servers_the_one_that_answers_and_accepts_writes_is_used() {
    let server = Server::start(&["fsync=off"]);
    let (_, schema) = server
        .fresh()
        .split_once("?schema=")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let proxy = Proxy::start(server.port()).await;
    proxy.set(Manner::Swallows);
    let url = format!(
        "postgres://postgres@127.0.0.1:1,127.0.0.1:{},127.0.0.1:{}/postgres?schema={schema}",
        proxy.port,
        server.port()
    );
    let began = Instant::now();
    let store = open(&url).await;
    let batch = Batch::new(tenant()).put(Put::new("mark", "one", Vec::new()));
    store.commit(batch).await.unwrap();
    let taken = began.elapsed();
    // The silent one is given up after five seconds.
    assert!(taken < Duration::from_secs(4), "{taken:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_second_process_is_refused_while_the_first_one_lives() {
    let server = Server::start(&["fsync=off"]);
    let url = server.fresh();
    let first = open(&url).await;
    let address = Address::parse(&url).unwrap();
    let second = Postgres::open(&address, 1, Company::Alone).await.unwrap();
    let refused = Store::open(Arc::new(second), vault()).await;
    assert!(matches!(refused, Err(StoreError::InUse(_))), "{refused:?}");
    drop(first);
    drop(open(&url).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_starters_make_the_tables_once() {
    let server = Server::shared();
    let url = server.fresh();
    let address = Address::parse(&url).unwrap();
    let mut starters = JoinSet::new();
    for _ in 0..4 {
        let address = address.clone();
        starters.spawn(async move { Postgres::open(&address, 1, Company::Alone).await });
    }
    while let Some(started) = starters.join_next().await {
        started.unwrap().unwrap();
    }
    drop(open(&url).await);
}
