//! Damage of a ledger's file, kind by kind, found by a check while nothing uses the file; and a ledger rebuilt from its
//! log.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use selfsame_crypto::seal::SealingKey;
use selfsame_driver::clock::Clock;
use selfsame_driver::keys::Keys;
use selfsame_ledger::check::{Found, StoreNotes, Subject, genesis_of, together};
use selfsame_ledger::embedded::{Embedded, Setup};
use selfsame_ledger::{LocalRegistry, Registry};
use selfsame_registry::{Genesis, Head};
use selfsame_store::ledger::{LedgerStore, SqliteLedger};
use selfsame_store::offline::{LedgerFile, StoreFile};
use selfsame_store::{Sqlite, Store, Vault};
use tempfile::TempDir;

use crate::world::Actor;

fn vault() -> Vault {
    Vault::from_master(SealingKey::from_bytes([9; 32]))
}

/// A closed embedded registry in files.
struct Closed {
    folder: TempDir,
    head: Head,
    genesis: Genesis,
    /// The bytes of an object of each kind in its ledger's file.
    entry: Vec<u8>,
    block: Vec<u8>,
    node: Vec<u8>,
    object: Vec<u8>,
    mark: Vec<u8>,
}

impl Closed {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ledger = Arc::new(SqliteLedger::open(folder.path().join("ledger.sqlite")).unwrap());
        let registry = opened(folder.path(), ledger.clone()).await.unwrap();
        let mut actors = Vec::new();
        for _ in 0..12 {
            let mut actor = Actor::new(&registry).await;
            registry.submit(&actor.create()).await.unwrap();
            let rotation = actor.rotate(2);
            registry.submit(&rotation).await.unwrap();
            actors.push((actor, rotation));
        }
        let head = registry.ledger().unwrap().head().unwrap();
        let genesis = Genesis::from_bytes(&registry.genesis().await.unwrap()).unwrap();
        let (actor, rotation) = &actors[5];
        let id = actor.did.to_string();
        let id = id.rsplit(':').next().unwrap().to_owned();
        let root = [&head.tree.version.to_be_bytes()[..], &[0]].concat();
        let closed = Self {
            entry: rotation.to_bytes(),
            block: registry.ledger().unwrap().block(7).unwrap().to_bytes(),
            node: ledger.node(&root).unwrap().unwrap(),
            object: format!("did/{id}/v/2").into_bytes(),
            mark: format!("nonce/{id}/2").into_bytes(),
            folder,
            head,
            genesis,
        };
        drop(registry);
        ledger.fold().await.unwrap();
        drop(ledger);
        closed.is_free().await;
        let backend = Sqlite::open(closed.path("store.sqlite")).unwrap();
        let store = Store::open(Arc::new(backend), vault()).await.unwrap();
        store.fold().await.unwrap();
        drop(store);
        closed.is_free().await;
        closed
    }

    /// Waits until the sequencer and other writers have released the files.
    async fn is_free(&self) {
        while LedgerFile::open(&self.path("ledger.sqlite")).is_err()
            || StoreFile::open(&self.path("store.sqlite"), vault()).is_err()
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Flips a bit at this offset from where these bytes stand in the ledger's file.
    fn flip(&self, bytes: &[u8], after: usize) {
        let file = self.path("ledger.sqlite");
        let mut content = std::fs::read(&file).unwrap();
        let length = bytes.len();
        let found: Vec<usize> = (0..=content.len() - length)
            .filter(|at| content[*at..*at + length] == bytes[..length])
            .collect();
        assert!(!found.is_empty(), "it does not stand in the file");
        for at in found {
            content[at + after] ^= 1;
        }
        std::fs::write(&file, content).unwrap();
    }

    async fn examined(&self) -> Found {
        let file = LedgerFile::open(&self.path("ledger.sqlite")).unwrap();
        let subject = Subject::embedded(&file, self.genesis.clone(), &|_, _| ());
        let anew = self.path("anew");
        let _none_yet = std::fs::remove_dir_all(&anew);
        subject.examine(&anew.join("ledger.sqlite")).await
    }

    fn rebuild(&self) {
        let file = LedgerFile::open(&self.path("ledger.sqlite")).unwrap();
        let anew = self.path("anew").join("ledger.sqlite");
        file.give_way(&anew, &self.path("kept.sqlite")).unwrap();
    }

    async fn open(&self) -> Result<Embedded, selfsame_driver::Error> {
        let ledger = SqliteLedger::open(self.path("ledger.sqlite")).unwrap();
        opened(self.folder.path(), Arc::new(ledger)).await
    }
}

async fn opened(
    folder: &Path,
    ledger: Arc<SqliteLedger>,
) -> Result<Embedded, selfsame_driver::Error> {
    let backend = Sqlite::open(folder.join("store.sqlite")).unwrap();
    let store = Store::open(Arc::new(backend), vault()).await.unwrap();
    let keys = Keys::new(store.clone());
    Embedded::open(Setup::new("test", ledger, store, keys, Clock::default())).await
}

fn wrong(found: &Found) -> Vec<&'static str> {
    let wrong = found.parts.iter().filter(|part| !part.is_sound());
    wrong.map(|part| part.what).collect()
}

fn says(found: &Found, words: &str) {
    let mut damage = found.parts.iter().flat_map(|part| &part.damage);
    let all: Vec<_> = found.parts.iter().flat_map(|part| &part.damage).collect();
    assert!(damage.any(|said| said.contains(words)), "{words}: {all:?}");
}

#[tokio::test]
async fn a_sound_ledger_passes_and_is_judged_again_to_the_same_state() {
    let closed = Closed::new().await;
    let found = closed.examined().await;
    assert_eq!(wrong(&found), [""; 0], "{:?}", found.parts);
    assert!(found.log_is_whole);
    let seen = |what: &str| {
        let mut parts = found.parts.iter();
        parts.find(|part| part.what == what).unwrap().seen
    };
    assert_eq!(seen("log"), 24);
    assert_eq!(seen("replay"), closed.head.height);
    assert!(seen("objects") > 36 && seen("tree") > 1);
}

#[tokio::test]
async fn a_flipped_bit_anywhere_is_named_and_what_follows_from_the_log_is_made_anew() {
    type Flip = fn(&Closed);
    let kinds: [(Flip, &[&str], &str, bool); 5] = [
        (
            |closed| closed.flip(&closed.node, 30),
            &["tree"],
            "a node of the tree is damaged",
            true,
        ),
        (
            |closed| closed.flip(&closed.object, closed.object.len() + 30),
            &["objects", "replay"],
            "does not match its leaf in the tree",
            true,
        ),
        (
            |closed| closed.flip(&closed.mark, closed.mark.len()),
            &["replay"],
            "does not match the log",
            true,
        ),
        (
            |closed| closed.flip(&closed.entry, closed.entry.len() - 3),
            &["log", "replay"],
            "do not lead to its log's root",
            false,
        ),
        (
            // The root of the log or of the state, which stands before the last bytes.
            |closed| closed.flip(&closed.block, closed.block.len() - 10),
            &["replay"],
            "block 7 does not match the result of its transactions",
            true,
        ),
    ];
    for (flip, parts, words, log_is_whole) in kinds {
        let closed = Closed::new().await;
        flip(&closed);
        let found = closed.examined().await;
        let named = wrong(&found);
        assert!(
            parts.iter().all(|part| named.contains(part)),
            "{named:?}: {:?}",
            found.parts
        );
        says(&found, words);
        assert_eq!(found.log_is_whole, log_is_whole, "{:?}", found.parts);
        if !log_is_whole {
            continue;
        }
        closed.rebuild();
        let again = closed.examined().await;
        assert_eq!(wrong(&again), [""; 0], "{:?}", again.parts);
        let registry = closed.open().await.unwrap();
        assert_eq!(registry.ledger().unwrap().head().unwrap(), closed.head);
        let actor = Actor::new(&registry).await;
        registry.submit(&actor.create()).await.unwrap();
        assert!(
            registry
                .resolve(&actor.did, &Default::default())
                .await
                .document
                .is_some()
        );
    }
}

#[tokio::test]
async fn a_store_and_a_ledger_of_two_times_are_told_apart() {
    let closed = Closed::new().await;
    let looked = async || {
        let store = StoreFile::open(&closed.path("store.sqlite"), vault()).unwrap();
        let ledger = LedgerFile::open(&closed.path("ledger.sqlite")).unwrap();
        let notes = StoreNotes::of(&store).await.unwrap();
        assert_eq!(notes.genesis.as_ref(), Some(&closed.genesis));
        assert_eq!(genesis_of(&ledger).unwrap().unwrap(), closed.genesis);
        together(&notes, &ledger).damage.join("; ")
    };
    assert_eq!(looked().await, "");
    let older = std::fs::read(closed.path("store.sqlite")).unwrap();
    {
        let backend = Sqlite::open(closed.path("store.sqlite")).unwrap();
        let store = Store::open(Arc::new(backend), vault()).await.unwrap();
        for id in ["one", "two"] {
            let tenant = selfsame_store::TenantId::parse("anna").unwrap();
            let put = selfsame_store::Put::new("card", id, vec![1]);
            store
                .commit(selfsame_store::Batch::new(tenant).put(put))
                .await
                .unwrap();
        }
    }
    let registry = closed.open().await.unwrap();
    let actor = Actor::new(&registry).await;
    registry.submit(&actor.create()).await.unwrap();
    drop(registry);
    closed.is_free().await;
    assert_eq!(looked().await, "");
    for suffix in ["-wal", "-shm"] {
        let _none = std::fs::remove_file(closed.path(&format!("store.sqlite{suffix}")));
    }
    std::fs::write(closed.path("store.sqlite"), older).unwrap();
    assert!(
        looked()
            .await
            .contains("the store is older than its ledger"),
        "{}",
        looked().await
    );
}
