//! Rotation of the master key: tenants' keys are wrapped again while records are read and written, and the store opens
//! with the former key or with the new one at every moment.

use selfsame_crypto::seal::SealingKey;
use selfsame_store::backend::LIST_KIND;
use selfsame_store::rotation::{KeyTrouble, RotationStage};
use selfsame_store::{Batch, Page, Put, Result, Store, StoreError, TenantId};

use super::ground::{Ground, tenant};

const KIND: &str = "card";
const FORMER: [u8; 32] = [1; 32];
const NEW: [u8; 32] = [2; 32];
/// More than are wrapped in one commit.
const TENANTS: usize = 150;

fn key(bytes: [u8; 32]) -> SealingKey {
    SealingKey::from_bytes(bytes)
}

async fn put(store: &Store, owner: &TenantId) {
    let put = Put::new(KIND, owner.as_str(), owner.as_str().as_bytes().to_vec());
    store
        .commit(Batch::new(owner.clone()).put(put))
        .await
        .unwrap();
}

fn owners() -> impl Iterator<Item = TenantId> {
    (0..TENANTS).map(|number| tenant(&format!("tenant-{number:04}")))
}

async fn all_are_read(store: &Store) {
    for owner in owners() {
        let read = store.read(&owner, KIND, owner.as_str()).await.unwrap();
        assert_eq!(read.unwrap().value, owner.as_str().as_bytes());
    }
}

async fn filled(ground: &Ground) -> Store {
    let store = ground.store().await;
    for owner in owners() {
        put(&store, &owner).await;
    }
    store
}

async fn opened(ground: &Ground, keys: &[[u8; 32]]) -> Result<Store> {
    ground.front_with(ground.backend().await, keys).await
}

/// Begins a rotation to a key.
async fn begin(store: &Store, next: [u8; 32]) -> Result<()> {
    store.hold_key(&key(next));
    let unlisted = store.unlisted_keys();
    store.begin_rotation(unlisted[0]).await
}

/// Wraps everything as the present stage wants it, and ends the stage.
async fn pass_stage(store: &Store) -> u64 {
    store.look_at_keys().await.unwrap();
    let since = store.list_version();
    let wrapped = wrap(store).await;
    store.advance_rotation(since).await.unwrap();
    wrapped
}

async fn wrap(store: &Store) -> u64 {
    let (mut after, mut wrapped) = (Some(String::new()), 0);
    while let Some(from) = after {
        let done = store.rewrap(&from).await.unwrap();
        assert!(done.damaged.is_empty());
        wrapped += done.wrapped;
        after = done.after;
    }
    wrapped
}

fn trouble(opened: Result<Store>) -> KeyTrouble {
    match opened {
        Err(StoreError::WrongKey(trouble)) => trouble,
        other => panic!("{other:?}"),
    }
}

/// A rotation to the new key, stage by stage.
async fn rotate(store: &Store) {
    begin(store, NEW).await.unwrap();
    assert_eq!(store.rotation().stage, RotationStage::Begun);
    all_are_read(store).await;
    // The keys of all tenants and of the instance, twice.
    for stage in [RotationStage::Ending, RotationStage::Settled] {
        assert_eq!(pass_stage(store).await, TENANTS as u64 + 1);
        assert_eq!(store.rotation().stage, stage);
    }
    assert_eq!(wrap(store).await, 0);
}

pub async fn after_a_rotation_the_new_key_opens_everything_and_the_former_one_nothing(
    ground: Ground,
) {
    let store = filled(&ground).await;
    let before: Vec<_> = store
        .list(&tenant("tenant-0000"), KIND, &Page::first(9))
        .await
        .unwrap();
    rotate(&store).await;
    drop(store);
    assert_eq!(
        trouble(opened(&ground, &[FORMER]).await),
        KeyTrouble::Former
    );
    assert_eq!(
        trouble(opened(&ground, &[[9; 32]]).await),
        KeyTrouble::Other
    );
    let store = opened(&ground, &[NEW]).await.unwrap();
    all_are_read(&store).await;
    let after = store
        .list(&tenant("tenant-0000"), KIND, &Page::first(9))
        .await
        .unwrap();
    assert_eq!(before, after, "no record is sealed again");
    // The next rotation.
    begin(&store, [3; 32]).await.unwrap();
    pass_stage(&store).await;
    pass_stage(&store).await;
    drop(store);
    all_are_read(&opened(&ground, &[[3; 32], NEW]).await.unwrap()).await;
    assert_eq!(trouble(opened(&ground, &[NEW]).await), KeyTrouble::Former);
}

pub async fn a_rotation_goes_on_after_a_start_at_every_step_with_one_of_the_keys(ground: Ground) {
    let store = filled(&ground).await;
    begin(&store, NEW).await.unwrap();
    drop(store);
    // Begun: the former key opens all, and the new one alone may lack some.
    assert_eq!(trouble(opened(&ground, &[NEW]).await), KeyTrouble::Early);
    let store = opened(&ground, &[FORMER]).await.unwrap();
    assert!(!store.rotation().is_ready);
    all_are_read(&store).await;
    store.hold_key(&key(NEW));
    // Half of the tenants' keys are wrapped under both.
    let after = store.rewrap("").await.unwrap().after.unwrap();
    store.rewrap(&after).await.unwrap();
    drop(store);
    all_are_read(&opened(&ground, &[FORMER]).await.unwrap()).await;
    let store = opened(&ground, &[FORMER, NEW]).await.unwrap();
    all_are_read(&store).await;
    pass_stage(&store).await;
    store.rewrap("").await.unwrap();
    drop(store);
    // Ending: the new key opens all, whether wrapped under both or under it alone.
    assert_eq!(
        trouble(opened(&ground, &[FORMER]).await),
        KeyTrouble::Former
    );
    let store = opened(&ground, &[NEW]).await.unwrap();
    assert_eq!(store.rotation().stage, RotationStage::Ending);
    all_are_read(&store).await;
    pass_stage(&store).await;
    drop(store);
    all_are_read(&opened(&ground, &[NEW]).await.unwrap()).await;
}

pub async fn of_two_rotations_at_once_one_is_refused(ground: Ground) {
    let store = ground.store().await;
    let other = store.clone();
    store.hold_key(&key(NEW));
    other.hold_key(&key([3; 32]));
    let [one, two] = store.unlisted_keys()[..] else {
        panic!("two keys are at hand");
    };
    let (first, second) = tokio::join!(store.begin_rotation(one), other.begin_rotation(two));
    let refused = [&first, &second].into_iter().filter(|begun| begun.is_err());
    assert_eq!(refused.count(), 1, "{first:?} {second:?}");
    let third = store.begin_rotation(two).await;
    assert!(matches!(third, Err(StoreError::Conflict { kind, .. }) if kind == LIST_KIND));
}

pub async fn tenants_that_come_during_a_rotation_are_under_the_new_key_too(ground: Ground) {
    let store = filled(&ground).await;
    begin(&store, NEW).await.unwrap();
    let since = store.list_version();
    wrap(&store).await;
    put(&store, &tenant("a-new-one")).await;
    assert_eq!(wrap(&store).await, 0, "it came with both wraps");
    drop(store);
    // A process that lacks the new key adds a tenant: the process that wraps has to look again.
    let store = opened(&ground, &[FORMER]).await.unwrap();
    put(&store, &tenant("another")).await;
    store.hold_key(&key(NEW));
    store.look_at_keys().await.unwrap();
    let early = store.advance_rotation(since).await;
    assert!(
        matches!(early, Err(StoreError::Conflict { .. })),
        "{early:?}"
    );
    assert_eq!(pass_stage(&store).await, 1);
    put(&store, &tenant("the-last")).await;
    pass_stage(&store).await;
    drop(store);
    let store = opened(&ground, &[NEW]).await.unwrap();
    for name in ["a-new-one", "another", "the-last"] {
        let read = store.read(&tenant(name), KIND, name).await.unwrap();
        assert_eq!(read.unwrap().value, name.as_bytes());
    }
}

pub async fn reads_and_writes_go_on_during_a_rotation(ground: Ground) {
    let store = filled(&ground).await;
    let ends = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let mut working = tokio::task::JoinSet::new();
    for worker in 0..4 {
        let (store, ends) = (store.clone(), ends.clone());
        working.spawn(async move {
            let mut rounds = 0;
            while !ends.load(std::sync::atomic::Ordering::SeqCst) {
                put(&store, &tenant(&format!("fresh-{worker}-{rounds}"))).await;
                let owner = tenant(&format!("tenant-{:04}", rounds % TENANTS));
                put(&store, &owner).await;
                assert!(
                    store
                        .read(&owner, KIND, owner.as_str())
                        .await
                        .unwrap()
                        .is_some()
                );
                rounds += 1;
                tokio::task::yield_now().await;
            }
            (worker, rounds)
        });
    }
    begin(&store, NEW).await.unwrap();
    for stage in [RotationStage::Begun, RotationStage::Ending] {
        assert_eq!(store.rotation().stage, stage);
        pass_stage(&store).await;
    }
    ends.store(true, std::sync::atomic::Ordering::SeqCst);
    let worked: Vec<(usize, usize)> = working.join_all().await;
    drop(store);
    let store = opened(&ground, &[NEW]).await.unwrap();
    all_are_read(&store).await;
    for (worker, rounds) in worked {
        for round in 0..rounds {
            let owner = tenant(&format!("fresh-{worker}-{round}"));
            assert!(
                store
                    .read(&owner, KIND, owner.as_str())
                    .await
                    .unwrap()
                    .is_some()
            );
        }
    }
}

pub async fn a_destroyed_tenant_stays_unreadable_after_a_rotation(ground: Ground) {
    let store = filled(&ground).await;
    let (gone, after) = (tenant("tenant-0003"), tenant("tenant-0004"));
    begin(&store, NEW).await.unwrap();
    store.destroy(&gone, 1).await.unwrap();
    pass_stage(&store).await;
    while store.destroy(&gone, 9).await.unwrap() > 0 {}
    pass_stage(&store).await;
    drop(store);
    let store = opened(&ground, &[NEW]).await.unwrap();
    assert_eq!(store.read(&gone, KIND, gone.as_str()).await.unwrap(), None);
    let other = store.read(&after, KIND, after.as_str()).await.unwrap();
    assert!(other.is_some());
}
