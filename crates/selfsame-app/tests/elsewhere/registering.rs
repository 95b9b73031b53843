//! DIDs on the cheqd network: created, rotated, deactivated; and how faults of a registrar affect a change.

use selfsame_core::view::{InstanceDid, NewDid};
use selfsame_driver::ErrorKind;
use selfsame_driver::paging::Paging;
use selfsame_testkit::cheqd::FakeFault;
use serde_json::Value;

use crate::world::{World, new};

async fn all_of(world: &World) -> Vec<InstanceDid> {
    let dids = world.app.dids();
    dids.list(&Paging::default()).await.unwrap().items
}

fn versions(world: &World, did: &str) -> usize {
    world.cheqd.ledger().versions(did).len()
}

/// The document that the network stores.
fn written(world: &World, did: &str) -> Value {
    let ledger = world.cheqd.ledger();
    ledger.versions(did).last().unwrap().document.clone()
}

fn listed(all: &[InstanceDid]) -> (usize, &str) {
    (all.len(), all[0].state.as_str())
}

#[tokio::test]
async fn a_did_is_made_rotated_and_ended_by_a_registrar_that_has_no_key() {
    let world = World::start().await;
    let dids = world.app.dids();
    let made = dids.create(&new()).await.unwrap();
    assert!(made.did.starts_with("did:cheqd:testnet:"));
    assert_eq!(made.state, "active");
    let key = &written(&world, &made.did)["verificationMethod"][0];
    assert_eq!(key, &made.document["verificationMethod"][0]);
    let resolved = world.resolve(&made.did).await;
    assert!(resolved.document().is_ok());

    let rotated = dids.rotate(&made.did).await.unwrap();
    assert_ne!(rotated.key, made.key);
    let now = written(&world, &made.did);
    // The former key still verifies its old signatures, but no longer authenticates.
    assert_eq!(now["assertionMethod"].as_array().unwrap().len(), 2);
    assert_eq!(now["authentication"].as_array().unwrap().len(), 1);
    // The cached resolution is not used any more.
    let resolved = world.resolve(&made.did).await;
    assert_eq!(resolved.document().unwrap().verification_method.len(), 2);

    let ended = dids.deactivate(&made.did).await.unwrap();
    assert_eq!(
        (ended.state.as_str(), ended.document),
        ("deactivated", Value::Null)
    );
    assert!(world.resolve(&made.did).await.document_metadata.deactivated);
    assert_eq!(versions(&world, &made.did), 3);
    assert_eq!(
        dids.rotate(&made.did).await.unwrap_err().kind,
        ErrorKind::Gone
    );
    let status = world.app.status().await.unwrap();
    assert_eq!((status.outbox_waiting, status.outbox_dead), (0, 0));
}

#[tokio::test]
async fn only_keys_that_the_network_knows_are_made_and_only_with_a_registrar() {
    let world = World::start().await;
    let p256 = NewDid {
        kind: Some("P-256".to_owned()),
        ..new()
    };
    let refused = world.app.dids().create(&p256).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::BadRequest);
    let without = World::with(|cheqd, resolver| resolver.cheqd = Some(cheqd.address())).await;
    let refused = without.app.dids().create(&new()).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::BadRequest);
    assert_eq!(
        without
            .app
            .dids()
            .list(&Paging::default())
            .await
            .unwrap()
            .items
            .len(),
        0
    );
}

#[tokio::test]
async fn a_change_whose_answer_is_lost_is_made_once() {
    let mut world = World::start().await;
    world.cheqd.fault(FakeFault::LosesAnswers);
    let error = world.app.dids().create(&new()).await.unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::Unavailable { .. }),
        "{error:?}"
    );
    let all = all_of(&world).await;
    assert_eq!(listed(&all), (1, "pending"));
    assert_eq!(versions(&world, &all[0].did), 1);
    // The registrar loses its jobs, and the process dies: the network still has the result.
    world.cheqd.fault(FakeFault::None);
    world.cheqd.ledger().forget_jobs();
    world.restart().await;
    let registered = world.cheqd.registered();
    world.app.start().await.unwrap();
    world.settle().await;
    let all = all_of(&world).await;
    assert_eq!(listed(&all), (1, "active"));
    assert_eq!(versions(&world, &all[0].did), 1);
    assert_eq!(
        world.cheqd.registered(),
        registered,
        "nothing was sent again"
    );
}

#[tokio::test]
async fn a_change_that_was_cut_off_is_finished_by_the_next_one() {
    let world = World::start().await;
    let made = world.app.dids().create(&new()).await.unwrap();
    world.cheqd.fault(FakeFault::LosesAnswers);
    world.app.dids().rotate(&made.did).await.unwrap_err();
    world.cheqd.fault(FakeFault::None);
    let rotated = world.app.dids().rotate(&made.did).await.unwrap();
    assert_eq!(
        rotated.document["assertionMethod"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
    assert_eq!(versions(&world, &made.did), 3);
}

#[tokio::test]
async fn what_never_reached_the_registrar_is_sent_again_by_the_outbox() {
    let world = World::start().await;
    world.cheqd.fault(FakeFault::LosesRequests);
    let error = world.app.dids().create(&new()).await.unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::Unavailable { .. }),
        "{error:?}"
    );
    let pending = all_of(&world).await;
    assert_eq!(versions(&world, &pending[0].did), 0);
    world.cheqd.fault(FakeFault::None);
    world.app.start().await.unwrap();
    world.settle().await;
    let all = all_of(&world).await;
    assert_eq!(listed(&all), (1, "active"));
    assert_eq!(versions(&world, &all[0].did), 1);
}

#[tokio::test]
async fn what_the_registrar_refuses_is_undone() {
    let world = World::start().await;
    let made = world.app.dids().create(&new()).await.unwrap();
    world.cheqd.fault(FakeFault::Refuses);
    let refused = world.app.dids().create(&new()).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::BadRequest);
    assert!(
        refused.to_string().contains("the network refuses"),
        "{refused}"
    );
    let refused = world.app.dids().rotate(&made.did).await.unwrap_err();
    assert_eq!(refused.kind, ErrorKind::BadRequest);
    let all = all_of(&world).await;
    assert_eq!(listed(&all), (1, "active"));
    assert_eq!(all[0].key, made.key);
    world.cheqd.fault(FakeFault::None);
    world.app.dids().rotate(&made.did).await.unwrap();
    assert_eq!(versions(&world, &made.did), 2);
}

#[tokio::test]
async fn nothing_is_signed_but_what_was_meant_and_by_the_keys_it_takes() {
    let world = World::start().await;
    for fault in [FakeFault::AddsItsKey, FakeFault::NamesOtherKey] {
        world.cheqd.fault(fault.clone());
        let error = world.app.dids().create(&new()).await.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Upstream, "{fault:?}");
        let id = error.reason.cause().unwrap().id();
        assert!(id.starts_with("registrar-signs-other-"), "{error}");
    }
    for did in all_of(&world).await {
        assert_eq!(
            (did.state.as_str(), versions(&world, &did.did)),
            ("pending", 0)
        );
    }
}

#[tokio::test]
async fn a_registrar_that_wants_to_be_waited_for_is() {
    let world = World::start().await;
    world.cheqd.fault(FakeFault::Waits(2));
    let made = world.app.dids().create(&new()).await.unwrap();
    assert_eq!(
        (made.state.as_str(), versions(&world, &made.did)),
        ("active", 1)
    );
}

#[tokio::test]
async fn signatures_that_were_lost_are_sent_again_in_a_new_job() {
    let mut world = World::start().await;
    world.cheqd.fault(FakeFault::LosesSignatures);
    world.app.dids().create(&new()).await.unwrap_err();
    world.cheqd.fault(FakeFault::None);
    world.cheqd.ledger().forget_jobs();
    world.restart().await;
    world.app.start().await.unwrap();
    world.settle().await;
    let all = all_of(&world).await;
    assert_eq!(listed(&all), (1, "active"));
    assert_eq!(versions(&world, &all[0].did), 1);
}

#[tokio::test]
async fn a_refusal_counts_once_nothing_that_was_sent_before_can_still_be_made() {
    let world = World::start().await;
    let made = world.app.dids().create(&new()).await.unwrap();
    world.cheqd.fault(FakeFault::LosesSignatures);
    world.app.dids().rotate(&made.did).await.unwrap_err();
    world.cheqd.fault(FakeFault::Refuses);
    world.cheqd.ledger().forget_jobs();
    // The next change finishes this one first; whether it was made is not known yet.
    let error = world.app.dids().rotate(&made.did).await.unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::Unavailable { .. }),
        "{error:?}"
    );
    world.app.clock().advance(121);
    let error = world.app.dids().rotate(&made.did).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::BadRequest);
    let all = all_of(&world).await;
    assert_eq!((listed(&all), &all[0].key), ((1, "active"), &made.key));
    assert_eq!(versions(&world, &made.did), 1);
}

#[tokio::test]
async fn a_change_is_not_sent_again_while_its_outcome_is_unknown() {
    let world = World::start().await;
    world.cheqd.fault(FakeFault::LosesAnswers);
    world.app.dids().create(&new()).await.unwrap_err();
    let did = all_of(&world).await[0].did.clone();
    let registered = world.cheqd.registered();
    world.cheqd.fault(FakeFault::Broken);
    let error = world.app.dids().rotate(&did).await.unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::Unavailable { .. }),
        "{error:?}"
    );
    assert_eq!(world.cheqd.registered(), registered);
    world.cheqd.fault(FakeFault::None);
    world.app.dids().rotate(&did).await.unwrap();
    assert_eq!(versions(&world, &did), 2);
}
