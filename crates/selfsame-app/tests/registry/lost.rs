//! What an instance does whose registry has lost its ledger, a part of it, or the store beside it.

use std::sync::Arc;

use selfsame_app::view::instance::NewDid;
use selfsame_app::{App, Error, ErrorKind};
use selfsame_store::ledger::{LedgerStore, MemoryLedger, SqliteLedger};
use tempfile::TempDir;

use crate::dids::{REGISTRY, app, new, opened};
use crate::world::World;

fn did() -> NewDid {
    new("selfsame")
}

async fn height(app: &App) -> u64 {
    app.registry().unwrap().status().await.unwrap().height
}

/// A registry of three blocks, and what was kept of it at the second: a copy, and the files as they were.
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
    assert!(
        refused.reason.contains("block 0") && refused.reason.contains("had 3"),
        "{refused}"
    );
    assert!(refused.hint.unwrap().contains("docs/backup.md"));
    assert_eq!(none.head().unwrap(), None);
    // The ledger itself is taken again.
    let again = app(&three.world, REGISTRY).await;
    assert_eq!(height(&again).await, 3);
}

#[tokio::test]
async fn a_ledger_that_was_set_back_is_missed_unless_it_is_a_copy_put_back() {
    let three = Three::blocks().await;
    let refused = three.refuses(three.kept("set-back")).await;
    assert!(refused.reason.contains("block 2"), "{refused}");

    let put_back = three.kept("copy");
    for blocks in 2..4 {
        let app = opened(&three.world, REGISTRY, put_back.clone());
        let app = app.await.unwrap();
        app.start().await.unwrap();
        assert_eq!(height(&app).await, blocks);
        app.dids().create(&did()).await.unwrap();
        app.stop().await;
    }
    // From then on it is missed from where it has come to.
    let refused = three.refuses(three.kept("set-back")).await;
    assert!(refused.reason.contains("had 4"), "{refused}");
}

#[tokio::test]
async fn a_ledger_whose_store_is_lost_says_so() {
    let three = Three::blocks().await;
    let ledger = three.world.ledger.clone();
    let world = World::over(ledger, None).await;
    let refused = opened(&world, REGISTRY, world.ledger.clone()).await;
    let refused = refused.err().unwrap();
    assert_eq!(refused.kind, ErrorKind::Gone);
    assert!(refused.reason.contains("store"), "{refused}");
    assert!(refused.hint.unwrap().contains("docs/backup.md"));
}
