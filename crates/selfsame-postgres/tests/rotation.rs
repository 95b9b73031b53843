//! Rotation of the master key while several processes use the records: it waits for each of them, and one that was away
//! or lacks the new key harms nothing.

#[path = "server/server.rs"]
mod server;

use std::sync::Arc;

use selfsame_crypto::seal::SealingKey;
use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::rotation::{KeyTrouble, RotationStage};
use selfsame_store::{Batch, Put, Store, StoreError, TenantId, Vault};
use server::Server;

const FORMER: [u8; 32] = [1; 32];
const NEW: [u8; 32] = [2; 32];

async fn opened(url: &str, master: [u8; 32]) -> Result<Store, StoreError> {
    let address = Address::parse(url).unwrap();
    let backend = Postgres::open(&address, 4, Company::Shared).await.unwrap();
    let vault = Vault::from_master(SealingKey::from_bytes(master));
    Store::open(Arc::new(backend), vault).await
}

async fn replica(url: &str) -> Store {
    opened(url, FORMER).await.unwrap()
}

fn learn(store: &Store) {
    store.hold_key(&SealingKey::from_bytes(NEW));
}

async fn put(store: &Store, owner: &str) -> Result<(), StoreError> {
    let put = Put::new("card", owner, owner.as_bytes().to_vec());
    let batch = Batch::new(TenantId::parse(owner).unwrap()).put(put);
    store.commit(batch).await.map(drop)
}

async fn has(store: &Store, owner: &str) -> bool {
    let tenant = TenantId::parse(owner).unwrap();
    let read = store.read(&tenant, "card", owner).await.unwrap();
    read.is_some_and(|read| read.value == owner.as_bytes())
}

async fn begin(store: &Store) {
    learn(store);
    let next = store.unlisted_keys()[0];
    store.begin_rotation(next).await.unwrap();
}

/// How many processes a rotation waits for.
async fn waits_for(store: &Store) -> u64 {
    store.look_at_keys().await.unwrap();
    let state = store.rotation();
    store.unready(state.next.unwrap()).await.unwrap()
}

async fn pass_stage(store: &Store) {
    store.look_at_keys().await.unwrap();
    let (since, mut after) = (store.list_version(), Some(String::new()));
    while let Some(from) = after {
        after = store.rewrap(&from).await.unwrap().after;
    }
    store.advance_rotation(since).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_rotation_waits_until_each_process_has_the_new_key() {
    let server = Server::shared();
    let url = server.fresh();
    let (one, other) = (replica(&url).await, replica(&url).await);
    put(&one, "anna").await.unwrap();
    begin(&one).await;
    assert_eq!(waits_for(&one).await, 1);
    // The other one learns of it, and goes on meanwhile.
    assert!(other.look_at_keys().await.unwrap());
    assert!(!other.rotation().is_ready);
    put(&other, "berta").await.unwrap();
    learn(&other);
    other.tell_ready().await.unwrap();
    assert_eq!(waits_for(&one).await, 0);
    pass_stage(&one).await;
    // Either of them can go on.
    assert_eq!(other.rotation().stage, RotationStage::Begun);
    pass_stage(&other).await;
    one.look_at_keys().await.unwrap();
    assert_eq!(one.rotation().stage, RotationStage::Settled);
    put(&one, "carla").await.unwrap();
    drop((one, other));
    let refused = opened(&url, FORMER).await.err();
    assert!(
        matches!(refused, Some(StoreError::WrongKey(KeyTrouble::Former))),
        "{refused:?}"
    );
    let again = opened(&url, NEW).await.unwrap();
    for owner in ["anna", "berta", "carla"] {
        assert!(has(&again, owner).await, "{owner}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_process_of_the_release_before_is_waited_for() {
    let server = Server::shared();
    let url = server.fresh();
    let (one, former) = (replica(&url).await, replica(&url).await);
    // It writes no row of what it reads under.
    server.execute(&url, "DELETE FROM readers");
    begin(&one).await;
    assert_eq!(waits_for(&one).await, 1);
    drop(former);
    assert_eq!(waits_for(&one).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_process_that_was_silent_during_a_rotation_reads_on_and_writes_no_key_under_the_former_one()
 {
    let server = Server::shared();
    let url = server.fresh();
    let (one, paused) = (replica(&url).await, replica(&url).await);
    put(&paused, "anna").await.unwrap();
    begin(&one).await;
    let silenced = "UPDATE processes SET seen = now() - interval '1 minute'";
    server.execute(&url, silenced);
    // Another process takes its place meanwhile.
    let taker = replica(&url).await;
    learn(&taker);
    taker.look_at_keys().await.unwrap();
    taker.tell_ready().await.unwrap();
    one.tell_ready().await.unwrap();
    assert_eq!(waits_for(&taker).await, 0);
    pass_stage(&taker).await;
    pass_stage(&taker).await;
    put(&taker, "berta").await.unwrap();
    // What it knows it serves; a new tenant would be under a key that is gone.
    assert!(has(&paused, "anna").await);
    put(&paused, "anna").await.unwrap();
    let refused = put(&paused, "carla").await.err();
    assert!(
        matches!(refused, Some(StoreError::WrongKey(KeyTrouble::Former))),
        "{refused:?}"
    );
    learn(&paused);
    put(&paused, "carla").await.unwrap();
    assert!(has(&paused, "berta").await);
    drop((one, paused, taker));
    let again = opened(&url, NEW).await.unwrap();
    for owner in ["anna", "berta", "carla"] {
        assert!(has(&again, owner).await, "{owner}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_rotations_that_processes_begin_at_once_one_goes_on() {
    let server = Server::shared();
    let url = server.fresh();
    let stores = [
        replica(&url).await,
        replica(&url).await,
        replica(&url).await,
    ];
    let mut begun = tokio::task::JoinSet::new();
    for (number, store) in stores.iter().cloned().enumerate() {
        begun.spawn(async move {
            let byte = u8::try_from(number).unwrap() + 10;
            store.hold_key(&SealingKey::from_bytes([byte; 32]));
            store.begin_rotation(store.unlisted_keys()[0]).await
        });
    }
    let begun = begun.join_all().await;
    let won = begun.iter().filter(|begun| begun.is_ok()).count();
    assert_eq!(won, 1, "{begun:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn processes_that_wrap_at_once_end_a_rotation_together() {
    let server = Server::shared();
    let url = server.fresh();
    let (one, other) = (replica(&url).await, replica(&url).await);
    for number in 0..200 {
        put(&one, &format!("tenant-{number}")).await.unwrap();
    }
    begin(&one).await;
    learn(&other);
    other.look_at_keys().await.unwrap();
    let work = async |store: &Store| {
        while store.rotation().stage != RotationStage::Settled {
            let (since, mut after) = (store.list_version(), Some(String::new()));
            while let Some(from) = after {
                after = match store.rewrap(&from).await {
                    Ok(done) => done.after,
                    Err(StoreError::Conflict { .. }) => Some(from),
                    Err(error) => panic!("{error}"),
                };
                store.look_at_keys().await.unwrap();
                if store.list_version() != since {
                    break;
                }
            }
            match store.advance_rotation(since).await {
                Ok(()) | Err(StoreError::Conflict { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            store.look_at_keys().await.unwrap();
        }
    };
    tokio::join!(work(&one), work(&other));
    drop((one, other));
    let again = opened(&url, NEW).await.unwrap();
    for number in 0..200 {
        assert!(has(&again, &format!("tenant-{number}")).await);
    }
}
