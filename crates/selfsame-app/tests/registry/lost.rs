//! The behaviour of an instance whose registry has lost its ledger, a part of it, or the store beside it.

use std::sync::Arc;
use std::time::Duration;

use selfsame_app::App;
use selfsame_core::view::NewDid;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_driver::{Error, ErrorKind};
use selfsame_ledger::Registry;
use selfsame_ledger::embedded::{Embedded, Setup};
use selfsame_store::ledger::{LedgerStore, MemoryLedger, SqliteLedger};
use selfsame_store::{Batch, Put, Sqlite, Store, StoreError, TenantId, Vault};
use tempfile::TempDir;

use crate::dids::{REGISTRY, app, new, opened};
use crate::world::{Actor, World};

fn did() -> NewDid {
    new("selfsame")
}

async fn height(app: &App) -> u64 {
    app.registry().unwrap().status().await.unwrap().height
}

/// A registry of three blocks, with a backup and a copy of the files from the second.
struct Three {
    world: World,
    directory: TempDir,
}

impl Three {
    async fn blocks() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let file = |name| directory.path().join(name);
        let ledger = Arc::new(SqliteLedger::open(file("ledger")).unwrap());
        let world = World::over(ledger.clone(), None).await;
        let app = app(&world, REGISTRY).await;
        app.start().await.unwrap();
        app.dids().create(&did()).await.unwrap();
        app.dids().create(&did()).await.unwrap();
        ledger.copy(&file("copy")).await.unwrap();
        for (is, was) in [("ledger", "set-back"), ("ledger-wal", "set-back-wal")] {
            std::fs::copy(file(is), file(was)).unwrap();
        }
        app.dids().create(&did()).await.unwrap();
        app.stop().await;
        Self { world, directory }
    }

    fn kept(&self, name: &str) -> Arc<SqliteLedger> {
        Arc::new(SqliteLedger::open(self.directory.path().join(name)).unwrap())
    }

    async fn refuses(&self, ledger: Arc<dyn LedgerStore>) -> Error {
        opened(&self.world, REGISTRY, ledger).await.err().unwrap()
    }
}

#[tokio::test]
async fn a_ledger_that_is_lost_is_missed_and_no_second_history_begins() {
    let three = Three::blocks().await;
    let none = Arc::new(MemoryLedger::new());
    let refused = three.refuses(none.clone()).await;
    assert_eq!(refused.kind, ErrorKind::Gone);
    let lost = "ledger-lost-blocks (height: 0, reached: 3)";
    assert_eq!(refused.to_string(), lost);
    assert_eq!(none.head().unwrap(), None);
    // The ledger itself is accepted again.
    let again = app(&three.world, REGISTRY).await;
    assert_eq!(height(&again).await, 3);
}

#[tokio::test]
async fn a_ledger_that_was_set_back_is_missed_unless_it_is_a_copy_put_back() {
    let three = Three::blocks().await;
    let refused = three.refuses(three.kept("set-back")).await;
    assert!(refused.to_string().contains("height: 2"), "{refused}");

    let put_back = three.kept("copy");
    for blocks in 2..4 {
        let app = opened(&three.world, REGISTRY, put_back.clone());
        let app = app.await.unwrap();
        app.start().await.unwrap();
        assert_eq!(height(&app).await, blocks);
        app.dids().create(&did()).await.unwrap();
        app.stop().await;
    }
    // From then on, a loss of blocks is noticed from the new height.
    let refused = three.refuses(three.kept("set-back")).await;
    assert!(refused.to_string().contains("reached: 4"), "{refused}");
}

#[tokio::test]
async fn a_ledger_whose_store_is_lost_says_so() {
    let three = Three::blocks().await;
    let ledger = three.world.ledger.clone();
    let world = World::over(ledger, None).await;
    let refused = opened(&world, REGISTRY, world.ledger.clone()).await;
    let refused = refused.err().unwrap();
    assert_eq!(refused.kind, ErrorKind::Gone);
    assert_eq!(refused.reason.id(), "checkpoint-key-lost");
}

/// The file of a store, once the previous sequencer has finished.
async fn once_free(directory: &std::path::Path) -> Sqlite {
    loop {
        match Sqlite::open(directory.join("store")) {
            Err(StoreError::InUse(_)) => tokio::time::sleep(Duration::from_millis(5)).await,
            opened => break opened.unwrap(),
        }
    }
}

/// A registry with its store and its ledger in files of one directory.
async fn in_files(directory: &std::path::Path) -> (Result<Embedded, Error>, Store) {
    let file = |name| directory.join(name);
    let backend = once_free(directory).await;
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    let store = Store::open(Arc::new(backend), vault).await.unwrap();
    if store.copied_at().await.unwrap().is_some() {
        store.begin_with_copy(1 << 32).await.unwrap();
    }
    let ledger = Arc::new(SqliteLedger::open(file("ledger")).unwrap());
    let keys = Keys::new(store.clone());
    let setup = Setup::new("test", ledger, store.clone(), keys, Clock::default());
    (Embedded::open(setup).await, store)
}

async fn written(registry: &Embedded, store: &Store) {
    let actor = Actor::new(registry).await;
    let tenant = TenantId::parse("anna").unwrap();
    let put = Put::new("place", actor.did.to_string(), vec![1]);
    store.commit(Batch::new(tenant).put(put)).await.unwrap();
    registry.submit(&actor.create()).await.unwrap();
}

#[tokio::test]
async fn a_store_that_is_older_than_its_ledger_is_refused_unless_it_is_a_copy_made_on_purpose() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name| directory.path().join(name);
    let (registry, store) = in_files(directory.path()).await;
    let registry = registry.unwrap();
    written(&registry, &store).await;
    store.copy(&file("copy")).await.unwrap();
    store.fold().await.unwrap();
    std::fs::copy(file("store"), file("older")).unwrap();
    for _ in 0..3 {
        written(&registry, &store).await;
    }
    drop((registry, store));
    // The unchanged files still work.
    let (registry, store) = in_files(directory.path()).await;
    written(&registry.unwrap(), &store).await;
    drop(store);

    let put_back = |name| {
        std::fs::copy(file(name), file("store")).unwrap();
        // Otherwise a remaining write-ahead log would be replayed into the older file.
        for log in ["store-wal", "store-shm"] {
            let _may_be_missing = std::fs::remove_file(file(log));
        }
    };
    drop(once_free(directory.path()).await);
    put_back("older");
    let (refused, store) = in_files(directory.path()).await;
    let refused = refused.err().unwrap();
    assert_eq!(refused.kind, ErrorKind::Gone);
    assert_eq!(refused.reason.id(), "store-older-than-ledger");
    drop(store);

    drop(once_free(directory.path()).await);
    put_back("copy");
    let (registry, store) = in_files(directory.path()).await;
    written(&registry.unwrap(), &store).await;
}
