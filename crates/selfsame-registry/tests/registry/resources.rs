//! Tests of resources of DIDs.

use selfsame_crypto::KeyType;
use selfsame_crypto::hash::sha256;
use selfsame_registry::content::ContentFault;
use selfsame_registry::refusal::ObjectFault;
use selfsame_registry::resource::{
    LinkedResource, Resource, ResourceData, ResourceId, ResourceName,
};
use selfsame_registry::{Operation, Refusal, Rules};

use crate::world::{Actor, Answer, World};

fn resource(n: u8) -> Resource {
    Resource {
        id: ResourceId([n; 16]),
        name: "sports clubs".to_owned(),
        kind: "TrustList".to_owned(),
        version: Some(format!("1.{n}")),
        media_type: "application/json".to_owned(),
        also_known_as: vec!["https://a.example/list".to_owned()],
        data: ResourceData::Bytes(vec![n]),
    }
}

struct Club {
    world: World,
    actor: Actor,
}

impl Club {
    fn new() -> Self {
        let rules = Rules {
            max_resource_bytes: 100,
            max_also_known_as: 2,
            ..Rules::default()
        };
        let mut world = World::with_rules(rules);
        let actor = world.registered(KeyType::Ed25519);
        Self { world, actor }
    }

    fn publish(&mut self, resource: Resource) -> Answer {
        let operation = Operation::Resource(resource);
        self.world.act(&mut self.actor, vec![operation])
    }

    fn find(&self, n: u8) -> Option<LinkedResource> {
        let did = self.world.did(&self.actor);
        let (machine, state) = (&self.world.machine, &self.world.state);
        machine.resource(state, &did, ResourceId([n; 16])).unwrap()
    }
}

#[test]
fn resources_of_one_name_and_type_are_versions_linked_both_ways() {
    let mut club = Club::new();
    let start = club.world.time;
    for n in 1..=3 {
        club.world.time = club.world.time.plus(10);
        club.publish(resource(n)).unwrap();
    }
    let id = |n: u8| ResourceId([n; 16]);
    for (n, previous, next) in [
        (1, None, Some(id(2))),
        (2, Some(id(1)), Some(id(3))),
        (3, Some(id(2)), None),
    ] {
        let found = club.find(n).unwrap();
        assert_eq!(found.published.resource, resource(n));
        assert_eq!((found.published.previous, found.next), (previous, next));
        assert_eq!(found.published.number, u64::from(n));
    }
    let did = club.world.did(&club.actor);
    let (machine, state) = (&club.world.machine, &club.world.state);
    let name = ResourceName {
        did: &did,
        name: "sports clubs",
        kind: "TrustList",
    };
    assert_eq!(
        machine.resource_versions(state, name, 2).unwrap(),
        [id(2), id(3)]
    );
    for (after, wanted) in [
        (9, None),
        (10, Some(id(1))),
        (29, Some(id(2))),
        (99, Some(id(3))),
    ] {
        let at = Some(start.plus(after));
        let found = machine.resource_named(state, name, at).unwrap();
        let found = found.map(|linked| linked.published.resource.id);
        assert_eq!(found, wanted, "{after}");
    }
    let now = machine.resource_named(state, name, None).unwrap().unwrap();
    assert_eq!(now.published.resource.id, id(3));
}

#[test]
fn another_name_another_type_or_another_did_begins_anew() {
    let mut club = Club::new();
    club.publish(resource(1)).unwrap();
    let renamed = Resource {
        name: "others".to_owned(),
        ..resource(2)
    };
    let retyped = Resource {
        kind: "Logo".to_owned(),
        ..resource(3)
    };
    for (n, other) in [(2, renamed), (3, retyped)] {
        club.publish(other).unwrap();
        let found = club.find(n).unwrap();
        assert_eq!(
            (found.published.number, found.published.previous),
            (1, None)
        );
    }
    // The same UUID is free in another collection, and taken permanently in this one.
    let mut other = club.world.registered(KeyType::P256);
    let same = Operation::Resource(resource(1));
    assert!(club.world.act(&mut other, vec![same]).is_ok());
    assert_eq!(
        club.publish(resource(1)),
        Err(Refusal::Object(ObjectFault::Exists))
    );
}

#[test]
fn a_resource_kept_elsewhere_is_known_by_its_digest() {
    let mut club = Club::new();
    let digest = sha256(b"far away");
    let elsewhere = Resource {
        data: ResourceData::Digest(digest),
        ..resource(1)
    };
    club.publish(elsewhere).unwrap();
    assert_eq!(
        club.find(1).unwrap().published.resource.data.digest(),
        digest
    );
    club.publish(resource(2)).unwrap();
    assert_eq!(
        club.find(2).unwrap().published.resource.data.digest(),
        sha256(&[2])
    );
}

#[test]
fn resources_that_are_malformed_or_too_large_are_refused() {
    let mut club = Club::new();
    let good = resource(1);
    let object = |fault| Refusal::Object(fault);
    let named = |name: &str| Resource {
        name: name.to_owned(),
        ..good.clone()
    };
    let typed = |media_type: &str| Resource {
        media_type: media_type.to_owned(),
        ..good.clone()
    };
    let known_as = |uris: &[&str]| Resource {
        also_known_as: uris.iter().map(|uri| (*uri).to_owned()).collect(),
        ..good.clone()
    };
    let large = Resource {
        data: ResourceData::Bytes(vec![0; 101]),
        ..good.clone()
    };
    let kind = Resource {
        kind: String::new(),
        ..good.clone()
    };
    let version = Resource {
        version: Some(String::new()),
        ..good.clone()
    };
    for (bad, refusal) in [
        (named(""), object(ObjectFault::Name)),
        (named("a\nb"), object(ObjectFault::Name)),
        (named(&"a".repeat(65)), object(ObjectFault::Name)),
        (kind, object(ObjectFault::Name)),
        (version, object(ObjectFault::Name)),
        (typed("text"), object(ObjectFault::MediaType)),
        (typed("text/"), object(ObjectFault::MediaType)),
        (typed("text/a b"), object(ObjectFault::MediaType)),
        (large, object(ObjectFault::TooLarge)),
        (known_as(&["a:b"; 3]), object(ObjectFault::TooLarge)),
        (known_as(&["nothing"]), Refusal::Content(ContentFault::Uri)),
    ] {
        assert_eq!(club.publish(bad.clone()), Err(refusal), "{bad:?}");
    }
    assert!(club.publish(good).is_ok());
}

#[test]
fn a_uuid_is_written_in_groups() {
    let id = ResourceId(*b"\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef");
    assert_eq!(id.to_string(), "01234567-89ab-cdef-0123-456789abcdef");
}
