//! Resolving did:selfsame: the present version, a given version, and the version at a given time.

use selfsame_crypto::KeyType;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{
    Did, DidUrl, Options, Relationship, Representation, Resolution, ResolutionError,
};
use selfsame_registry::content::Uses;
use selfsame_registry::content::{Key, Service};

use crate::world::{Actor, Broken, START, World};

fn resolve(world: &World, did: &Did) -> Resolution {
    world
        .machine
        .resolve(&world.state, did, &Options::default())
}

fn at_version(world: &World, did: &Did, version: &str) -> Resolution {
    let options = Options {
        version_id: Some(version.to_owned()),
        ..Options::default()
    };
    world.machine.resolve(&world.state, did, &options)
}

fn at_time(world: &World, did: &Did, time: UnixTime) -> Resolution {
    let options = Options {
        version_time: Some(time),
        ..Options::default()
    };
    world.machine.resolve(&world.state, did, &options)
}

fn error(resolution: Resolution) -> Option<ResolutionError> {
    assert_eq!(resolution.document, None);
    resolution.metadata.error
}

/// An actor with three versions, created 0, 100 and 200 seconds after the start.
fn history() -> (World, Actor, Did) {
    let mut world = World::new();
    let mut actor = world.registered(KeyType::Ed25519);
    let network = world.network().clone();
    for version in [2, 3] {
        world.time = world.time.plus(100);
        world.submit(actor.rotate(&network, version)).unwrap();
    }
    let did = world.did(&actor);
    (world, actor, did)
}

#[test]
fn a_new_did_resolves_to_what_its_author_wrote() {
    let mut world = World::new();
    let mut actor = Actor::new(KeyType::P256);
    let network = world.network().clone();
    let mut content = actor.content();
    content.keys.push(Key {
        id: "agree".to_owned(),
        public: actor.key.public().clone(),
        uses: Uses::AGREEMENT | Uses::DELEGATION,
    });
    content.services.push(Service {
        id: "web".to_owned(),
        kind: "LinkedDomains".to_owned(),
        endpoint: "https://issuer.example".to_owned(),
    });
    content
        .also_known_as
        .push("did:web:issuer.example".to_owned());
    let create = actor.sign(&network, selfsame_registry::Operation::CreateDid(content));
    world.submit(create).unwrap();

    let did = selfsame_did::selfsame::create(&network, actor.key.public());
    assert_eq!(did, world.did(&actor));
    let resolution = resolve(&world, &did);
    let document = resolution.document().unwrap();
    assert_eq!(document.id, did);
    assert_eq!(document.also_known_as, ["did:web:issuer.example"]);
    let url = |fragment: &str| DidUrl::parse(&format!("{did}#{fragment}")).unwrap();
    for relationship in [
        Relationship::Authentication,
        Relationship::AssertionMethod,
        Relationship::CapabilityInvocation,
    ] {
        assert_eq!(
            document.key(&url("key-1"), relationship).as_ref(),
            Ok(actor.key.public())
        );
        assert!(document.key(&url("agree"), relationship).is_err());
    }
    assert!(
        document
            .key(&url("agree"), Relationship::KeyAgreement)
            .is_ok()
    );
    assert!(
        document
            .key(&url("agree"), Relationship::CapabilityDelegation)
            .is_ok()
    );
    assert_eq!(document.service[0].id, format!("{did}#web"));
    assert_eq!(document.service[0].endpoint, "https://issuer.example");
}

#[test]
fn a_new_did_has_one_version_and_any_representation() {
    let mut world = World::new();
    let actor = world.registered(KeyType::Ed25519);
    let did = world.did(&actor);
    let resolution = resolve(&world, &did);
    let metadata = &resolution.document_metadata;
    assert_eq!((metadata.created, metadata.updated), (Some(START), None));
    assert_eq!(metadata.version_id.as_deref(), Some("1"));
    assert_eq!(
        (&metadata.next_version_id, metadata.next_update),
        (&None, None)
    );
    assert!(!metadata.deactivated);

    // Parsing the JSON gives an equal resolution.
    let json = serde_json::to_vec(&resolution).unwrap();
    let read = Resolution::parse(&json, &did);
    assert_eq!(read.document_metadata, resolution.document_metadata);
    assert_eq!(
        read.document()
            .unwrap()
            .keys(Relationship::Authentication)
            .count(),
        1
    );
    let options = Options {
        accept: Representation::Json,
        ..Options::default()
    };
    let plain = world.machine.resolve(&world.state, &did, &options);
    assert_eq!(
        plain.metadata.content_type.as_deref(),
        Some("application/did+json")
    );
}

#[test]
fn each_version_stays_as_it_was_and_names_the_next() {
    let (world, actor, did) = history();
    for version in 1..=3_u64 {
        let resolution = at_version(&world, &did, &version.to_string());
        let key = DidUrl::parse(&format!("{did}#key-{version}")).unwrap();
        assert!(
            resolution
                .document()
                .unwrap()
                .key(&key, Relationship::Authentication)
                .is_ok()
        );
        let metadata = resolution.document_metadata;
        let time = |version: u64| START.plus((version - 1) * 100);
        assert_eq!(metadata.version_id, Some(version.to_string()));
        assert_eq!(metadata.created, Some(START));
        assert_eq!(metadata.updated, (version > 1).then_some(time(version)));
        assert_eq!(
            metadata.next_version_id,
            (version < 3).then(|| (version + 1).to_string())
        );
        assert_eq!(
            metadata.next_update,
            (version < 3).then(|| time(version + 1))
        );
    }
    let now = resolve(&world, &did);
    assert_eq!(now, at_version(&world, &did, "3"));
    let key = DidUrl::parse(&format!("{did}#{}", actor.key_id)).unwrap();
    let found = now
        .document()
        .unwrap()
        .key(&key, Relationship::CapabilityInvocation);
    assert_eq!(found.as_ref(), Ok(actor.key.public()));
}

#[test]
fn at_a_time_the_version_that_held_then_is_found() {
    let (world, _, did) = history();
    for (seconds, version) in [
        (0, "1"),
        (99, "1"),
        (100, "2"),
        (199, "2"),
        (200, "3"),
        (9_999, "3"),
    ] {
        let resolution = at_time(&world, &did, START.plus(seconds));
        assert_eq!(
            resolution.document_metadata.version_id.as_deref(),
            Some(version),
            "{seconds}"
        );
    }
    assert_eq!(
        error(at_time(&world, &did, START.minus(1))),
        Some(ResolutionError::NotFound)
    );
}

#[test]
fn of_versions_made_in_one_second_the_last_holds() {
    let mut world = World::new();
    let mut actor = Actor::new(KeyType::Ed25519);
    let network = world.network().clone();
    let all = [
        actor.create(&network),
        actor.rotate(&network, 2),
        actor.rotate(&network, 3),
    ];
    assert!(world.block(&all).results.iter().all(Result::is_ok));
    let resolution = at_time(&world, &world.did(&actor), START);
    assert_eq!(
        resolution.document_metadata.version_id.as_deref(),
        Some("3")
    );
}

#[test]
fn a_deactivated_did_has_no_document_but_its_past_stays_readable() {
    let (mut world, mut actor, did) = history();
    world.time = world.time.plus(100);
    let network = world.network().clone();
    world.submit(actor.deactivate(&network, 4)).unwrap();
    let now = resolve(&world, &did);
    assert_eq!((&now.document, now.metadata.error), (&None, None));
    assert!(now.document_metadata.deactivated);
    assert_eq!(now.document_metadata.updated, Some(START.plus(300)));
    assert!(now.document().is_err());
    let past = at_version(&world, &did, "3");
    assert!(past.document.is_some() && past.document_metadata.deactivated);
    assert_eq!(past.document_metadata.next_update, Some(START.plus(300)));
    assert!(at_time(&world, &did, START).document.is_some());
}

#[test]
fn what_is_not_there_is_not_found() {
    let (world, _, did) = history();
    let stranger = world.did(&Actor::new(KeyType::Ed25519));
    assert_eq!(
        error(resolve(&world, &stranger)),
        Some(ResolutionError::NotFound)
    );
    for version in ["0", "4", "01", "+1", "", "x", "18446744073709551616"] {
        let found = at_version(&world, &did, version);
        assert_eq!(error(found), Some(ResolutionError::NotFound), "{version}");
    }
    let (other, ..) = history();
    assert_eq!(
        error(resolve(&other, &did)),
        Some(ResolutionError::NotFound),
        "another network's"
    );
}

#[test]
fn what_cannot_be_resolved_says_why() {
    let (world, _, did) = history();
    for text in [
        "did:web:a.example",
        "did:selfsame:short:abc",
        "did:selfsame:aaaaaaaaaaaaaaaa:abc",
    ] {
        let found = resolve(&world, &Did::parse(text).unwrap());
        assert_eq!(error(found), Some(ResolutionError::InvalidDid), "{text}");
    }
    let both = Options {
        version_id: Some("1".to_owned()),
        version_time: Some(START),
        ..Options::default()
    };
    let found = world.machine.resolve(&world.state, &did, &both);
    assert_eq!(error(found), Some(ResolutionError::InvalidOptions));
    let broken = world.machine.resolve(&Broken, &did, &Options::default());
    assert_eq!(error(broken), Some(ResolutionError::InternalError));
}
