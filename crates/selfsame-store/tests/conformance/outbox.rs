//! The outbox: at least once, in order, one at a time.

use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::DEAD_LETTER_SECONDS;
use selfsame_store::{Batch, NewOutbox, OutboxId, Page, Put, Store, StoreError};

use super::ground::{Ground, tenant};

fn call(destination: &str, subject: &str, key: &str) -> NewOutbox {
    let payload = key.as_bytes().to_vec();
    NewOutbox {
        destination: destination.to_owned(),
        subject: subject.to_owned(),
        key: key.to_owned(),
        payload,
        not_before: UnixTime(0),
    }
}

fn batch() -> Batch {
    Batch::new(tenant("anna"))
}

async fn enqueue(store: &Store, key: &str, subject: &str) -> OutboxId {
    store
        .commit(batch().enqueue(call("https://example.org", subject, key)))
        .await
        .unwrap()
        .outbox[0]
}

async fn due(ground: &Ground, store: &Store) -> Vec<String> {
    store
        .due(ground.now(), 100)
        .await
        .unwrap()
        .iter()
        .map(|entry| entry.key.clone())
        .collect()
}

fn is_conflict<T>(result: Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Conflict { kind, .. }) if kind == "outbox")
}

pub async fn entries_of_a_lane_come_one_after_the_other(ground: Ground) {
    let store = ground.store().await;
    let both = batch()
        .enqueue(call("d", "s", "1"))
        .enqueue(call("d", "s", "2"))
        .enqueue(call("d", "other", "3"));
    let ids = store.commit(both).await.unwrap().outbox;
    let first = store.due(ground.now(), 100).await.unwrap();
    assert_eq!(
        first.iter().map(|entry| entry.id).collect::<Vec<_>>(),
        [ids[0], ids[2]]
    );
    let entry = &first[0];
    assert_eq!(
        (
            entry.destination.as_str(),
            entry.subject.as_str(),
            entry.payload.as_slice()
        ),
        ("d", "s", &b"1"[..])
    );
    assert_eq!(
        (entry.tenant.as_str(), entry.attempts, entry.created),
        ("anna", 0, ground.now())
    );
    assert!(store.lease_early(ids[1]).await.unwrap().is_none());
    drop(first);
    store.commit(batch().settle(ids[0])).await.unwrap();
    assert_eq!(due(&ground, &store).await, ["2", "3"]);
    let backlog = store.backlog().await.unwrap();
    assert_eq!((backlog.pending, backlog.dead), (2, 0));
}

pub async fn the_oldest_entry_that_waits_is_told(ground: Ground) {
    let store = ground.store().await;
    let oldest = async || store.backlog().await.unwrap().oldest;
    assert_eq!(oldest().await, None);
    let first = ground.now();
    let old = enqueue(&store, "1", "a").await;
    ground.wait(60);
    let later = enqueue(&store, "2", "b").await;
    enqueue(&store, "3", "a").await;
    assert_eq!(oldest().await, Some(first));
    // One that is tried again waits on.
    let again = batch().retry(old, first.plus(600));
    store.commit(again).await.unwrap();
    assert_eq!(oldest().await, Some(first));
    store.commit(batch().bury(old, "no")).await.unwrap();
    assert_eq!(oldest().await, Some(first.plus(60)));
    store.commit(batch().settle(later)).await.unwrap();
    assert_eq!(oldest().await, Some(first.plus(60)));
}

pub async fn an_entry_is_leased_to_one_at_a_time(ground: Ground) {
    let store = ground.store().await;
    for number in 0..5 {
        enqueue(&store, &number.to_string(), &number.to_string()).await;
    }
    let two = store.due(ground.now(), 2).await.unwrap();
    assert_eq!(two.len(), 2);
    assert!(store.lease_early(two[0].id).await.unwrap().is_none());
    assert_eq!(store.due(ground.now(), 100).await.unwrap().len(), 3);
    let id = two[0].id;
    drop(two);
    assert_eq!(store.lease_early(id).await.unwrap().unwrap().id, id);
    assert_eq!(store.due(ground.now(), 100).await.unwrap().len(), 5);
}

pub async fn a_settled_entry_is_never_given_again(ground: Ground) {
    let store = ground.store().await;
    let id = enqueue(&store, "1", "s").await;
    let settle = || batch().settle(id).put(Put::new("done", "1", vec![]));
    store.commit(settle()).await.unwrap();
    assert!(store.lease_early(id).await.unwrap().is_none());
    assert_eq!(due(&ground, &store).await, [""; 0]);
    assert!(is_conflict(store.commit(settle()).await));
    assert!(is_conflict(
        store.commit(batch().retry(id, ground.now())).await
    ));
    assert!(is_conflict(store.commit(batch().bury(id, "no")).await));
    assert!(is_conflict(store.commit(batch().replay(id)).await));
    // The loser of a race to settle writes nothing else either.
    let id = enqueue(&store, "2", "s").await;
    store.commit(batch().settle(id)).await.unwrap();
    assert!(is_conflict(
        store
            .commit(batch().put(Put::new("done", "2", vec![])).settle(id))
            .await
    ));
    assert_eq!(
        store.read(&tenant("anna"), "done", "2").await.unwrap(),
        None
    );
}

pub async fn a_retried_entry_waits_and_holds_its_lane(ground: Ground) {
    let store = ground.store().await;
    let id = enqueue(&store, "1", "s").await;
    enqueue(&store, "2", "s").await;
    enqueue(&store, "3", "t").await;
    store
        .commit(batch().retry(id, ground.now().plus(10)))
        .await
        .unwrap();
    assert_eq!(due(&ground, &store).await, ["3"]);
    // Its writer may take it before its time, as the only holder.
    let early = store.lease_early(id).await.unwrap().unwrap();
    assert!(store.lease_early(id).await.unwrap().is_none());
    drop(early);
    ground.wait(10);
    assert_eq!(due(&ground, &store).await.len(), 2);
    let entry = store.lease_early(id).await.unwrap().unwrap();
    assert_eq!((entry.attempts, entry.not_before), (1, ground.now()));
}

pub async fn a_dead_letter_frees_its_lane_and_can_be_replayed(ground: Ground) {
    let store = ground.store().await;
    let id = enqueue(&store, "1", "s").await;
    let second = enqueue(&store, "2", "s").await;
    store
        .commit(batch().bury(id, "refused: invalid_grant"))
        .await
        .unwrap();
    assert_eq!(due(&ground, &store).await, ["2"]);
    let letters = store.dead_letters(&Page::newest(9)).await.unwrap();
    assert_eq!(
        (
            letters.len(),
            letters[0].reason.as_str(),
            letters[0].entry.key.as_str()
        ),
        (1, "refused: invalid_grant", "1")
    );
    assert_eq!(letters[0].buried, ground.now());
    assert_eq!(
        store
            .dead_letters(&Page::newest(9).after(letters[0].cursor()))
            .await
            .unwrap()
            .len(),
        0
    );
    assert!(is_conflict(store.commit(batch().settle(id)).await));
    store.commit(batch().replay(id)).await.unwrap();
    assert_eq!(
        due(&ground, &store).await,
        ["2"],
        "it waits behind what came meanwhile"
    );
    store.commit(batch().settle(second)).await.unwrap();
    assert_eq!(due(&ground, &store).await, ["1"]);
    assert_eq!(store.dead_letters(&Page::first(9)).await.unwrap().len(), 0);
}

pub async fn old_dead_letters_are_purged(ground: Ground) {
    let store = ground.store().await;
    let id = enqueue(&store, "1", "s").await;
    store.commit(batch().bury(id, "gone")).await.unwrap();
    ground.wait(DEAD_LETTER_SECONDS);
    assert_eq!(store.purge_expired(ground.now(), 9).await.unwrap(), 0);
    ground.wait(1);
    assert_eq!(store.purge_expired(ground.now(), 9).await.unwrap(), 1);
    assert_eq!(store.dead_letters(&Page::first(9)).await.unwrap().len(), 0);
}

pub async fn entries_survive_reopening(ground: Ground) {
    let store = ground.store().await;
    let id = enqueue(&store, "1", "s").await;
    enqueue(&store, "2", "s").await;
    let leased = store.lease_early(id).await.unwrap();
    assert!(leased.is_some());
    drop((leased, store));
    let store = ground.store().await;
    assert_eq!(due(&ground, &store).await, ["1"]);
    store.commit(batch().settle(id)).await.unwrap();
    enqueue(&store, "3", "s").await;
    assert_eq!(due(&ground, &store).await, ["2"]);
}
