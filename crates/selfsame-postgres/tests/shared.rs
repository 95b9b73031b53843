//! Several processes on one database: each call is carried out by one of them, one that was taken for dead can finish
//! nothing, and of two that want the same thing one gets it.

#[path = "server/server.rs"]
mod server;

use std::sync::Arc;

use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_postgres::{Address, Company, Postgres};
use selfsame_store::{Batch, Expect, NewOutbox, Put, Store, StoreError, TenantId, Vault};
use server::Server;

const RACES: usize = 10_000;
const AT_ONCE: usize = 250;

async fn opened(url: &str, company: Company) -> Result<Store, StoreError> {
    let address = Address::parse(url).unwrap();
    let backend = Postgres::open(&address, 4, company).await.unwrap();
    let vault = Vault::from_master(SealingKey::from_bytes([1; 32]));
    Store::open(Arc::new(backend), vault).await
}

async fn replica(url: &str) -> Store {
    opened(url, Company::Shared).await.unwrap()
}

fn tenant() -> TenantId {
    TenantId::parse("one").unwrap()
}

fn call(subject: &str) -> NewOutbox {
    NewOutbox {
        destination: "http".to_owned(),
        subject: subject.to_owned(),
        key: "key".to_owned(),
        payload: b"call".to_vec(),
        not_before: UnixTime(1),
    }
}

fn record(id: &str) -> Batch {
    Batch::new(tenant()).put(Put::new("code", id, b"value".to_vec()))
}

/// Makes all processes look as if they had been silent for a minute, as one that is paused.
fn silence(server: &Server, url: &str) {
    let silenced = "UPDATE processes SET seen = now() - interval '1 minute'";
    server.execute(url, silenced);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn processes_that_share_start_beside_each_other_and_never_beside_one_that_is_alone() {
    let server = Server::shared();
    let url = server.fresh();
    let (one, other) = (replica(&url).await, replica(&url).await);
    one.commit(record("a")).await.unwrap();
    let found = other.read(&tenant(), "code", "a").await.unwrap();
    assert_eq!(found.unwrap().value, b"value");
    other.commit(record("b")).await.unwrap();
    let refused = opened(&url, Company::Alone).await;
    assert!(matches!(refused, Err(StoreError::InUse(_))), "{refused:?}");
    drop((one, other));
    let alone = opened(&url, Company::Alone).await.unwrap();
    let refused = opened(&url, Company::Shared).await;
    assert!(matches!(refused, Err(StoreError::InUse(_))), "{refused:?}");
    // All rows are compared with the sums of both at each start.
    assert!(alone.generation() >= Some(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_call_is_carried_out_by_the_process_that_wrote_it_and_by_another_once_that_one_is_gone() {
    let server = Server::shared();
    let url = server.fresh();
    let (paused, other) = (replica(&url).await, replica(&url).await);
    let batch = Batch::new(tenant());
    let batch = batch.enqueue(call("first")).enqueue(call("second"));
    let written = paused.commit(batch).await.unwrap().outbox;
    let due = |store: Store| async move { store.due(UnixTime(u64::MAX >> 1), 10).await.unwrap() };
    assert!(due(other.clone()).await.is_empty());
    let held = paused.lease_early(written[0]).await.unwrap().unwrap();
    drop(paused.lease_early(written[1]).await.unwrap());
    silence(server, &url);
    let taken = due(other.clone()).await;
    assert_eq!(taken.len(), 2);
    for leased in &taken {
        assert!(other.hold(leased).await.unwrap());
    }
    // The paused process wakes, and finishes what it had begun.
    let settled = Batch::new(tenant()).settle(held.id);
    let late = paused.commit(settled.put(Put::new("code", "late", vec![1])));
    assert!(matches!(late.await, Err(StoreError::Conflict { .. })));
    assert!(
        paused
            .read(&tenant(), "code", "late")
            .await
            .unwrap()
            .is_none()
    );
    let settled = Batch::new(tenant())
        .settle(taken[0].id)
        .retry(taken[1].id, UnixTime(2));
    other.commit(settled).await.unwrap();
    drop((held, taken));
    // What was put off is everybody's, and each commit of a process says that it is alive.
    paused.commit(record("alive")).await.unwrap();
    let due = due(paused.clone()).await;
    assert_eq!(due.len(), 1);
    assert!(paused.hold(&due[0]).await.unwrap());
    assert!(!other.hold(&due[0]).await.unwrap());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_process_whose_place_was_given_away_takes_a_new_one_and_all_rows_still_add_up() {
    let server = Server::shared();
    let url = server.fresh();
    let paused = replica(&url).await;
    paused.commit(record("a")).await.unwrap();
    silence(server, &url);
    let other = replica(&url).await;
    other.commit(record("b")).await.unwrap();
    paused.commit(record("c")).await.unwrap();
    paused.commit(record("d")).await.unwrap();
    drop((paused, other));
    let again = replica(&url).await;
    for id in ["a", "b", "c", "d"] {
        assert!(again.read(&tenant(), "code", id).await.unwrap().is_some());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tenant_that_another_process_destroyed_gets_nothing_more() {
    let server = Server::shared();
    let url = server.fresh();
    let (one, other) = (replica(&url).await, replica(&url).await);
    one.commit(record("a")).await.unwrap();
    while other.destroy(&tenant(), 100).await.unwrap() > 0 {}
    for batch in [record("b"), Batch::new(tenant()).enqueue(call("late"))] {
        let refused = one.commit(batch).await;
        assert!(
            matches!(refused, Err(StoreError::Conflict { .. })),
            "{refused:?}"
        );
    }
    assert_eq!(one.weight(&tenant(), "code", 10).await.unwrap().records, 0);
    assert_eq!(one.backlog().await.unwrap().pending, 0);
}

/// What two processes want at the same time, and one of them may get.
#[derive(Clone, Copy)]
enum Prize {
    /// A code is there, and is redeemed by a change of its record.
    Code,
    /// A nonce is spent by a record that must not be there.
    Nonce,
    /// A credential for a single use is spent by a change of its record and a call to the registry.
    Credential,
}

impl Prize {
    fn of(number: usize) -> Self {
        match number % 3 {
            0 => Self::Code,
            1 => Self::Nonce,
            _ => Self::Credential,
        }
    }

    /// The batch that gets it, with a trace of the one who got it.
    fn batch(self, id: &str, version: u64, index: u64) -> Batch {
        let winner = Put::new("winner", format!("{id}-{index}"), Vec::new());
        let batch = Batch::new(tenant()).put(winner);
        let seen = Expect::Version(version);
        match self {
            Self::Nonce => {
                batch
                    .expect("nonce", id, Expect::Absent)
                    .put(Put::new("nonce", id, Vec::new()))
            }
            Self::Code => {
                batch
                    .expect("prize", id, seen)
                    .put(Put::new("prize", id, b"redeemed".to_vec()))
            }
            Self::Credential => batch
                .expect("prize", id, seen)
                .put(Put::new("prize", id, b"spending".to_vec()))
                .enqueue(call(id)),
        }
    }
}

/// Lets both processes try for this prize. Returns the index that each drew, and whether it won.
async fn raced(stores: &[Store; 2], number: usize) -> Vec<(u64, bool)> {
    let (prize, id) = (Prize::of(number), format!("prize-{number}"));
    let made = Batch::new(tenant()).put(Put::new("prize", &id, b"open".to_vec()));
    let version = stores[0].commit(made).await.unwrap().versions[0];
    let mut racing = tokio::task::JoinSet::new();
    for store in stores.clone() {
        let id = id.clone();
        racing.spawn(async move {
            let index = store.allocate(&tenant(), "index", 1).await.unwrap().start;
            match store.commit(prize.batch(&id, version, index)).await {
                Ok(_) => (index, true),
                Err(StoreError::Conflict { .. }) => (index, false),
                Err(error) => panic!("{error}"),
            }
        });
    }
    racing.join_all().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_processes_that_race_for_a_code_a_nonce_an_index_or_a_credential_each_time_one_gets_it()
 {
    let server = Server::shared();
    let url = server.fresh();
    let stores = Arc::new([replica(&url).await, replica(&url).await]);
    let mut given = Vec::new();
    for first in (0..RACES).step_by(AT_ONCE) {
        let mut racing = tokio::task::JoinSet::new();
        for number in first..(first + AT_ONCE).min(RACES) {
            let stores = stores.clone();
            racing.spawn(async move { raced(&stores, number).await });
        }
        while let Some(raced) = racing.join_next().await {
            let raced = raced.unwrap();
            assert_eq!(raced.iter().filter(|(_, won)| *won).count(), 1);
            given.extend(raced.into_iter().map(|(index, _)| index));
        }
    }
    given.sort_unstable();
    given.dedup();
    assert_eq!(given.len(), 2 * RACES);
    // Who was told to have won is the only one who left a trace.
    let most = u64::MAX >> 1;
    let winners = stores[0].weight(&tenant(), "winner", most).await.unwrap();
    assert_eq!(winners.records, RACES as u64);
    let credentials = (0..RACES).filter(|number| number % 3 == 2).count() as u64;
    assert_eq!(stores[0].backlog().await.unwrap().pending, credentials);
}
