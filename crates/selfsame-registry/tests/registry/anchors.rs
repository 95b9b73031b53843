//! Tests of anchoring status lists.

use selfsame_crypto::KeyType;
use selfsame_registry::Refusal;
use selfsame_registry::content::ContentFault;
use selfsame_registry::refusal::SignatureFault;

use crate::world::{Actor, World};

const LIST: &str = "https://issuer.example/status/1";

#[test]
fn the_newest_anchor_of_a_list_is_found_by_its_author_and_uri() {
    let mut world = World::new();
    let mut issuer = world.registered(KeyType::P256);
    let other = world.registered(KeyType::Ed25519);
    let network = world.network().clone();
    let (did, other) = (world.did(&issuer), world.did(&other));
    let find = |world: &World, did, list| {
        world
            .machine
            .status_anchor(&world.state, did, list)
            .unwrap()
    };
    assert_eq!(find(&world, &did, LIST), None);
    for seconds in [0, 1, 60] {
        world.time = world.time.plus(seconds);
        let issued = world.time;
        let receipt = world.submit(issuer.anchor(&network, LIST, issued)).unwrap();
        let anchor = find(&world, &did, LIST).unwrap();
        assert_eq!(
            (anchor.issued, anchor.receipt, anchor.list.as_str()),
            (issued, receipt, LIST)
        );
        assert_eq!(anchor.digest, [issued.0 as u8; 32]);
    }
    assert_eq!(find(&world, &did, "https://issuer.example/status/2"), None);
    assert_eq!(find(&world, &other, LIST), None);
}

#[test]
fn an_issuer_anchors_under_no_other_name() {
    let mut world = World::new();
    let (mut issuer, mut other) = (
        world.registered(KeyType::Ed25519),
        world.registered(KeyType::Ed25519),
    );
    let network = world.network().clone();
    let issued = world.time;
    world.submit(issuer.anchor(&network, LIST, issued)).unwrap();
    world
        .submit(other.anchor(&network, LIST, issued.plus(9)))
        .unwrap();
    let anchor = world
        .machine
        .status_anchor(&world.state, &world.did(&issuer), LIST)
        .unwrap();
    assert_eq!(anchor.unwrap().issued, issued);
}

#[test]
fn an_anchor_not_signed_by_its_author_is_refused() {
    let mut world = World::new();
    let (mut issuer, forger) = (
        world.registered(KeyType::Ed25519),
        Actor::new(KeyType::Ed25519),
    );
    let network = world.network().clone();
    let issued = world.time;
    issuer.key = forger.key;
    let refused = Err(Refusal::Signature(SignatureFault::Bad));
    assert_eq!(world.submit(issuer.anchor(&network, LIST, issued)), refused);
}

#[test]
fn an_anchor_that_is_not_newer_is_refused() {
    let mut world = World::new();
    let mut issuer = world.registered(KeyType::Ed25519);
    let network = world.network().clone();
    let issued = world.time;
    world.submit(issuer.anchor(&network, LIST, issued)).unwrap();
    for issued in [issued, issued.minus(1)] {
        assert_eq!(
            world.submit(issuer.anchor(&network, LIST, issued)),
            Err(Refusal::NotNewer)
        );
    }
    assert!(
        world
            .submit(issuer.anchor(&network, LIST, issued.plus(1)))
            .is_ok()
    );
}

#[test]
fn an_anchor_from_the_future_is_refused() {
    let mut world = World::new();
    let mut issuer = world.registered(KeyType::Ed25519);
    let network = world.network().clone();
    let time = world.time;
    assert_eq!(
        world.submit(issuer.anchor(&network, LIST, time.plus(301))),
        Err(Refusal::Future)
    );
    assert!(
        world
            .submit(issuer.anchor(&network, LIST, time.plus(300)))
            .is_ok()
    );
}

#[test]
fn a_list_without_a_uri_is_refused() {
    let mut world = World::new();
    let mut issuer = world.registered(KeyType::Ed25519);
    let network = world.network().clone();
    let time = world.time;
    for list in ["", "list", "https://a.example/ b"] {
        let refused = Err(Refusal::Content(ContentFault::Uri));
        assert_eq!(world.submit(issuer.anchor(&network, list, time)), refused);
    }
}
