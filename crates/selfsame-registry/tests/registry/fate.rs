//! Tests of the fate of a transaction, as derived from the state.

use selfsame_crypto::KeyType;
use selfsame_registry::network::{Mode, Role};
use selfsame_registry::refusal::{AuthorFault, DelegationFault, Fate, ObjectFault};
use selfsame_registry::resource::{Resource, ResourceData, ResourceId};
use selfsame_registry::single_use::{Action, Consume, Delegation};
use selfsame_registry::{Operation, Refusal, StateRead, Transaction, Writes};

use crate::world::{Actor, START, World};

/// Only the objects, which can be proven; nonces and quotas are left out.
fn objects(world: &World) -> Writes {
    let mut objects = world.state.clone();
    objects.retain(|key, _| !selfsame_registry::StateMachine::is_mark(key));
    objects
}

fn fate(world: &World, tx: &Transaction) -> Fate {
    world.machine.fate(&objects(world), tx).unwrap()
}

/// Two transactions with one operation by one author, of which the registry accepts the first.
fn first_and_second(
    world: &mut World,
    actor: &mut Actor,
    operation: &Operation,
) -> (Transaction, Fate) {
    let network = world.network().clone();
    let [first, second] = [(); 2].map(|()| actor.sign(&network, operation.clone()));
    assert_eq!(fate(world, &first), Fate::Open);
    let receipt = world.submit(first.clone()).unwrap();
    assert_eq!(fate(world, &first), Fate::Written(receipt), "{operation:?}");
    let fate = fate(world, &second);
    (first, fate)
}

#[test]
fn what_was_written_is_found_and_what_it_excludes_is_known() {
    let (mut world, [mut trustee, ..]) = World::governed(Mode::Open);
    let mut actor = world.registered(KeyType::P256);
    let other = world.registered(KeyType::Ed25519);
    let resource = Resource {
        id: ResourceId([2; 16]),
        name: "clubs".to_owned(),
        kind: "TrustList".to_owned(),
        version: None,
        media_type: "text/plain".to_owned(),
        also_known_as: Vec::new(),
        data: ResourceData::Bytes(b"all".to_vec()),
    };
    let delegation = Delegation {
        name: "d".to_owned(),
        to: other.id,
        scope: vec!["T".to_owned()],
        action: Action::Consume,
        until: START.plus(1_000),
    };
    let anchor = Operation::AnchorStatus {
        list: "https://a.example/1".to_owned(),
        digest: [1; 32],
        issued: START,
    };
    let content = actor.content();
    let update = Operation::UpdateDid {
        version: 2,
        content,
    };
    let version = Refusal::Version { present: 2 };
    let name_used = Refusal::Delegation(DelegationFault::NameUsed);
    for (operation, excluded) in [
        (
            Operation::Resource(resource),
            Refusal::Object(ObjectFault::Exists),
        ),
        (Operation::Delegate(delegation), name_used),
        (anchor, Refusal::NotNewer),
        (update, version),
    ] {
        let (_, second) = first_and_second(&mut world, &mut actor, &operation);
        assert_eq!(second, Fate::Excluded(excluded), "{operation:?}");
    }
    let consume = Operation::Consume(Consume {
        issuer: actor.id,
        kind: "T".to_owned(),
        handle: [3; 32],
        action: Action::Consume,
        delegation: None,
    });
    let (first, second) = first_and_second(&mut world, &mut actor, &consume);
    let Fate::Written(receipt) = fate(&world, &first) else {
        panic!("it was found before");
    };
    assert_eq!(second, Fate::Excluded(Refusal::Used { receipt }));
    // A role can be granted again after it was revoked, so the transaction remains possible.
    let role = Operation::SetRole {
        subject: actor.id,
        role: Some(Role::Endorser),
    };
    let (_, second) = first_and_second(&mut world, &mut trustee, &role);
    assert_eq!(second, Fate::Open);
}

#[test]
fn a_did_that_begins_or_ends_is_found_and_excludes_what_comes_after() {
    let (mut world, [_, _, mut endorser]) = World::governed(Mode::Open);
    let network = world.network().clone();
    let mut actor = Actor::new(KeyType::Ed25519);
    let [create, again] = [(); 2].map(|()| actor.create(&network));
    let register = endorser.sign(
        &network,
        Operation::RegisterDid {
            subject: actor.id,
            key: actor.key.public().clone(),
            consent: None,
        },
    );
    assert_eq!(fate(&world, &create), Fate::Open);
    let receipt = world.submit(create.clone()).unwrap();
    assert_eq!(fate(&world, &create), Fate::Written(receipt));
    let exists = Fate::Excluded(Refusal::Author(AuthorFault::Exists));
    assert_eq!(fate(&world, &again), exists);
    assert_eq!(fate(&world, &register), exists);

    let anchor = actor.anchor(&network, "https://a.example/1", START);
    let end = actor.deactivate(&network, 2);
    assert_eq!(fate(&world, &anchor), Fate::Open);
    let receipt = world.submit(end.clone()).unwrap();
    assert_eq!(fate(&world, &end), Fate::Written(receipt));
    let ended = Fate::Excluded(Refusal::Author(AuthorFault::Deactivated));
    assert_eq!(fate(&world, &anchor), ended);
    // The objects contain no nonces, and a state that cannot be read gives an error.
    assert!(
        StateRead::get(&objects(&world), b"nonce/x")
            .unwrap()
            .is_none()
    );
    assert!(world.machine.fate(&crate::world::Broken, &anchor).is_err());
}
