//! Several operations in one transaction: all are applied in order, or none.

use proptest::prelude::*;
use selfsame_crypto::KeyType;
use selfsame_registry::refusal::AuthorFault;
use selfsame_registry::{Operation, Refusal, Rules, UnsignedTransaction};

use crate::world::{Actor, World};

fn anchor(n: u64, world: &World) -> Operation {
    Operation::AnchorStatus {
        list: format!("https://a.example/{n}"),
        digest: [1; 32],
        issued: world.time,
    }
}

#[test]
fn a_did_and_all_that_follows_from_it_take_one_signature_and_one_place() {
    let mut world = World::new();
    let mut actor = Actor::new(KeyType::P256);
    let mut operations = vec![Operation::CreateDid(actor.content())];
    operations.extend((0..255).map(|n| anchor(n, &world)));
    let receipt = world.act(&mut actor, operations).unwrap();
    assert_eq!((receipt.seq_no, world.head.log.size()), (1, 1));
    let did = world.did(&actor);
    for n in [0, 254] {
        let list = format!("https://a.example/{n}");
        let anchor = world.machine.status_anchor(&world.state, &did, &list);
        assert_eq!(anchor.unwrap().unwrap().receipt, receipt);
    }
}

#[test]
fn a_transaction_has_1_to_256_operations() {
    let world = World::new();
    let mut actor = Actor::new(KeyType::Ed25519);
    let network = world.network().clone();
    for (count, fine) in [(0, false), (1, true), (256, true), (257, false)] {
        let operations = (0..count).map(|n| anchor(n, &world)).collect();
        let unsigned = UnsignedTransaction::of(actor.body(&network, operations));
        assert_eq!(unsigned.signed("key-1", &[0; 64]).is_ok(), fine, "{count}");
    }
}

#[test]
fn each_operation_sees_what_the_ones_before_it_did() {
    let mut world = World::new();
    let mut actor = world.registered(KeyType::Ed25519);
    let content = actor.content();
    let update = |version| Operation::UpdateDid {
        version,
        content: content.clone(),
    };
    assert_eq!(
        world.act(&mut actor, vec![update(2), update(2)]),
        Err(Refusal::Version { present: 2 })
    );
    assert!(world.act(&mut actor, vec![update(2), update(3)]).is_ok());
    let after_the_end = vec![Operation::DeactivateDid { version: 4 }, anchor(1, &world)];
    assert_eq!(
        world.act(&mut actor, after_the_end),
        Err(Refusal::Author(AuthorFault::Deactivated))
    );
    let created_twice = vec![update(4), Operation::CreateDid(content.clone())];
    assert_eq!(
        world.act(&mut actor, created_twice),
        Err(Refusal::Author(AuthorFault::Exists))
    );
}

#[test]
fn quotas_count_operations_so_that_batches_are_no_way_round_them() {
    let mut world = World::with_rules(Rules {
        author_quota: 10,
        ..Rules::default()
    });
    let mut actor = world.registered(KeyType::Ed25519);
    let anchors = |range: std::ops::Range<u64>, world: &World| -> Vec<Operation> {
        range.map(|n| anchor(n, world)).collect()
    };
    let ten = anchors(0..10, &world);
    assert!(matches!(
        world.act(&mut actor, ten),
        Err(Refusal::Quota { .. })
    ));
    let nine = anchors(0..9, &world);
    assert!(world.act(&mut actor, nine).is_ok());
    let one = anchors(9..10, &world);
    assert!(matches!(
        world.act(&mut actor, one),
        Err(Refusal::Quota { .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn one_bad_operation_anywhere_undoes_all(count in 1..20_usize, at in any::<prop::sample::Index>()) {
        let mut world = World::new();
        let mut actor = world.registered(KeyType::Ed25519);
        let mut operations: Vec<Operation> = (0..count as u64).map(|n| anchor(n, &world)).collect();
        operations.insert(at.index(count + 1), Operation::DeactivateDid { version: 7 });
        let before = (world.state.clone(), world.head.log.clone());
        prop_assert_eq!(world.act(&mut actor, operations.clone()), Err(Refusal::Version { present: 1 }));
        prop_assert_eq!((&world.state, &world.head.log), (&before.0, &before.1));
        operations.retain(|operation| matches!(operation, Operation::AnchorStatus { .. }));
        prop_assert!(world.act(&mut actor, operations).is_ok());
    }
}
