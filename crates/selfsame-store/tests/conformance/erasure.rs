//! Erasure: a tenant's rows go in portions, and nothing of other tenants does.

use selfsame_store::{Batch, NewOutbox, Page, Put, Store, StoreError, Tag, TenantId};

use super::ground::{Ground, tenant};

fn tag() -> Tag {
    Tag::hashed("color", "red")
}

async fn put(store: &Store, owner: &TenantId, kind: &'static str, number: u32) {
    let put = Put::new(kind, number.to_string(), b"value".to_vec()).tag(tag());
    let batch = Batch::new(owner.clone()).put(put);
    store.commit(batch).await.unwrap();
}

/// Five records that can go, three that are to stay, and a call.
async fn filled(store: &Store, owner: &TenantId) {
    for number in 0..5 {
        put(store, owner, "gone", number).await;
    }
    for number in 0..3 {
        put(store, owner, "kept", number).await;
    }
    store.allocate(owner, "places", 1).await.unwrap();
    call(store, owner).await;
}

async fn call(store: &Store, owner: &TenantId) {
    let entry = NewOutbox {
        destination: "there".to_owned(),
        subject: "subject".to_owned(),
        key: "once".to_owned(),
        payload: vec![],
        not_before: selfsame_crypto::time::UnixTime(0),
    };
    let batch = Batch::new(owner.clone()).enqueue(entry);
    store.commit(batch).await.unwrap();
}

/// How many records are listed, and how many are found by tag.
async fn seen(store: &Store, owner: &TenantId, kind: &str) -> (usize, usize) {
    let page = Page::first(100);
    let listed = store.list(owner, kind, &page).await.unwrap();
    let found = store.find(owner, kind, &tag(), &page).await.unwrap();
    (listed.len(), found.len())
}

/// How many rows the back end has of the kinds of these checks.
async fn rows(store: &Store, owner: &TenantId) -> u64 {
    let mut rows = 0;
    for kind in ["gone", "kept", "selfsame.key"] {
        rows += store.weight(owner, kind, 100).await.unwrap().records;
    }
    rows
}

pub async fn records_of_all_kinds_but_those_kept_are_erased_in_portions(ground: Ground) {
    let (anna, ben) = (tenant("anna"), tenant("ben"));
    let store = ground.store().await;
    filled(&store, &anna).await;
    filled(&store, &ben).await;
    for portion in [2, 2, 1, 0] {
        assert_eq!(store.erase(&anna, &["kept"], 2).await.unwrap(), portion);
    }
    assert_eq!(seen(&store, &anna, "gone").await, (0, 0));
    assert_eq!(seen(&store, &anna, "kept").await, (3, 3));
    assert_eq!(seen(&store, &ben, "gone").await, (5, 5));
    assert_eq!(store.backlog().await.unwrap().pending, 2);
    drop(store);
    // The rows still agree with their sum, and the tenant goes on.
    let store = ground.store().await;
    put(&store, &anna, "gone", 9).await;
    assert_eq!(seen(&store, &anna, "gone").await, (1, 1));
    assert_eq!(seen(&store, &anna, "kept").await, (3, 3));
}

pub async fn a_destroyed_tenant_is_unreadable_from_the_first_portion_on(ground: Ground) {
    let (anna, ben) = (tenant("anna"), tenant("ben"));
    let store = ground.store().await;
    filled(&store, &anna).await;
    filled(&store, &ben).await;
    assert!(store.destroy(&anna, 1).await.unwrap() > 0);
    assert_eq!(store.read(&anna, "gone", "4").await.unwrap(), None);
    assert_eq!(seen(&store, &anna, "kept").await, (0, 0));
    assert!(rows(&store, &anna).await > 0, "rows of it are still there");
    let late = Batch::new(anna.clone()).put(Put::new("gone", "late", vec![]));
    let refused = store.commit(late).await.unwrap_err();
    assert!(matches!(refused, StoreError::Conflict { .. }), "{refused}");
    assert_eq!(seen(&store, &ben, "kept").await, (3, 3));
    put(&store, &ben, "gone", 9).await;
}

pub async fn a_destruction_goes_on_after_reopening_and_leaves_no_row(ground: Ground) {
    let anna = tenant("anna");
    let store = ground.store().await;
    filled(&store, &anna).await;
    store.destroy(&anna, 2).await.unwrap();
    drop(store);
    let store = ground.store().await;
    assert_eq!(seen(&store, &anna, "kept").await, (0, 0));
    assert!(rows(&store, &anna).await > 0, "rows of it are still there");
    while store.destroy(&anna, 2).await.unwrap() > 0 {}
    assert_eq!(rows(&store, &anna).await, 0);
    assert_eq!(store.backlog().await.unwrap().pending, 0);
    drop(store);
    // A new tenant of this name begins without records.
    let store = ground.store().await;
    assert_eq!(store.allocate(&anna, "places", 1).await.unwrap(), 0..1);
    put(&store, &anna, "gone", 0).await;
    assert_eq!(seen(&store, &anna, "gone").await, (1, 1));
}

pub async fn the_calls_of_a_destroyed_tenant_stop_and_those_of_others_go_on(ground: Ground) {
    let (anna, ben) = (tenant("anna"), tenant("ben"));
    let store = ground.store().await;
    for owner in [&anna, &ben] {
        call(&store, owner).await;
        call(&store, owner).await;
        let due = store.due(ground.now(), 9).await.unwrap();
        let own = due.iter().find(|leased| leased.tenant == *owner).unwrap();
        let bury = Batch::new(owner.clone()).bury(own.id, "refused");
        store.commit(bury).await.unwrap();
    }
    store.destroy(&anna, 1).await.unwrap();
    let due = store.due(ground.now(), 9).await.unwrap();
    assert!(due.iter().all(|leased| leased.tenant == ben));
    assert_eq!(due.len(), 1);
    let letters = store.dead_letters(&Page::first(9)).await.unwrap();
    assert!(letters.iter().all(|letter| letter.entry.tenant == ben));
    assert_eq!(letters.len(), 1);
    while store.destroy(&anna, 1).await.unwrap() > 0 {}
    let backlog = store.backlog().await.unwrap();
    assert_eq!((backlog.pending, backlog.dead), (1, 1));
}

pub async fn the_instance_itself_is_neither_erased_nor_destroyed(ground: Ground) {
    let (store, instance) = (ground.store().await, TenantId::instance());
    put(&store, &instance, "kept", 0).await;
    for refused in [
        store.erase(&instance, &[], 9).await,
        store.destroy(&instance, 9).await,
    ] {
        assert!(matches!(refused, Err(StoreError::Malformed("tenant"))));
    }
    assert_eq!(seen(&store, &instance, "kept").await, (1, 1));
}
