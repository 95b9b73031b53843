//! A registry exported as one stream, and handed over to validators elsewhere.

use std::sync::Arc;

use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_driver::ErrorKind;
use selfsame_ledger::archive::{Archived, import};
use selfsame_ledger::embedded::Embedded;
use selfsame_ledger::{Ledger, Registry, ServedRegistry};
use selfsame_proof::validators::{Validator, ValidatorSet};
use selfsame_registry::{Genesis, StateMachine};
use selfsame_store::ledger::{LedgerStore, MemoryLedger};

use crate::world::{Actor, World};

async fn written(registry: &Embedded) -> Vec<u8> {
    for _ in 0..3 {
        let mut actor = Actor::new(registry).await;
        registry.submit(&actor.create()).await.unwrap();
        registry.submit(&actor.rotate(2)).await.unwrap();
    }
    let mut stream = Vec::new();
    registry.export(&mut stream).await.unwrap();
    stream
}

async fn read(stream: &[u8]) -> Result<(Archived, Arc<MemoryLedger>), selfsame_driver::Error> {
    let store = Arc::new(MemoryLedger::new());
    let archived = import(&mut &stream[..], store.clone()).await?;
    Ok((archived, store))
}

#[tokio::test]
async fn what_is_exported_is_imported_to_the_same_app_hash_number_by_number() {
    for world in World::all().await {
        let registry = world.open().await;
        let stream = written(&registry).await;
        let (archived, store) = read(&stream).await.unwrap();
        let genesis = Genesis::from_bytes(&registry.genesis().await.unwrap()).unwrap();
        let imported = Ledger::open(store, Arc::new(StateMachine::new(genesis))).unwrap();
        assert_eq!(archived.transactions, 6);
        assert_eq!(archived.app_hash, imported.head().unwrap().app_hash());
        assert_eq!(
            serde_json::to_value(imported.entries(1, 10).unwrap()).unwrap(),
            serde_json::to_value(registry.entries(1, 10).await.unwrap()).unwrap()
        );
        let again = Arc::new(MemoryLedger::new());
        import(&mut &stream[..], again.clone()).await.unwrap();
        let refused = import(&mut &stream[..], again).await.unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Conflict);
    }
}

#[tokio::test]
async fn an_export_that_was_cut_lengthened_or_altered_anywhere_is_refused() {
    let world = World::memory().await;
    let registry = world.open().await;
    let stream = written(&registry).await;
    for length in (0..stream.len()).step_by(97).chain([stream.len() - 1]) {
        assert!(read(&stream[..length]).await.is_err(), "cut to {length}");
    }
    let longer = [&stream[..], &[0]].concat();
    assert!(read(&longer).await.is_err());
    for at in (0..stream.len()).step_by(7) {
        let mut altered = stream.clone();
        altered[at] ^= 1 << (at % 8);
        assert!(read(&altered).await.is_err(), "byte {at} is altered");
    }
}

#[tokio::test]
async fn a_registry_that_was_handed_over_is_proven_to_the_end_and_not_opened_again() {
    let world = World::memory().await;
    let registry = world.open().await;
    written(&registry).await;
    let key = || {
        PrivateKey::generate(KeyType::Ed25519)
            .unwrap()
            .public()
            .clone()
    };
    let validator = |name: &str| Validator {
        name: name.to_owned(),
        key: key(),
        power: 10,
        consensus: Some(key()),
    };
    let set = ValidatorSet::new(vec![validator("a"), validator("b")]).unwrap();
    let receipt = registry.hand_over(&set).await.unwrap();
    assert_eq!(receipt.seq_no, 7);
    let mut stream = Vec::new();
    registry.export(&mut stream).await.unwrap();
    let (archived, store) = read(&stream).await.unwrap();
    assert_eq!(
        (archived.height, archived.transactions),
        (receipt.height, 7)
    );
    let kept = store.get(b"validators").unwrap().unwrap();
    assert_eq!(ValidatorSet::from_bytes(&kept).unwrap(), set);

    drop(registry);
    let gone = Embedded::open(world.setup()).await.err().unwrap();
    assert_eq!(gone.kind, ErrorKind::Gone);
    assert_eq!(gone.reason.id(), "registry-moved");
}
