//! Tests of creating, updating and deactivating DIDs, and of every reason for refusal.

use selfsame_crypto::{KeyType, PrivateKey, PublicKey};
use selfsame_registry::content::Uses;
use selfsame_registry::content::{ContentFault, Key, Service};
use selfsame_registry::refusal::{AuthorFault, SignatureFault};
use selfsame_registry::transaction::Signature;
use selfsame_registry::{
    Content, Identifier, Operation, Refusal, Transaction, UnsignedTransaction,
};

use crate::world::{Actor, World};

#[test]
fn a_did_is_created_by_its_own_key_of_either_type() {
    let mut world = World::new();
    for (n, key_type) in [KeyType::Ed25519, KeyType::P256].into_iter().enumerate() {
        let mut actor = Actor::new(key_type);
        let tx = actor.create(world.network());
        let receipt = world.submit(tx.clone()).unwrap();
        assert_eq!(
            (receipt.seq_no, receipt.height),
            (n as u64 + 1, n as u64 + 1)
        );
        assert_eq!((receipt.time, receipt.tx_hash), (world.time, tx.hash()));
    }
}

#[test]
fn a_did_made_of_a_seed_may_keep_its_older_form() {
    let mut world = World::new();
    let mut actor = Actor::new(KeyType::Ed25519);
    actor.id = Identifier::of_seed_key(actor.key.public()).unwrap();
    assert!(world.submit(actor.create(&world.network().clone())).is_ok());
    let p256 = PrivateKey::generate(KeyType::P256).unwrap();
    assert_eq!(Identifier::of_seed_key(p256.public()), None);
}

#[test]
fn an_identifier_that_is_not_of_the_first_key_is_refused() {
    let mut world = World::new();
    let (mut thief, victim) = (Actor::new(KeyType::Ed25519), Actor::new(KeyType::Ed25519));
    thief.id = victim.id;
    let tx = thief.create(world.network());
    assert_eq!(world.submit(tx), Err(Refusal::Identifier));
    // Naming the victim's key first and signing with another key does not help.
    let mut content = victim.content();
    let own = Key {
        id: "key-2".to_owned(),
        public: thief.key.public().clone(),
        uses: Uses::SIGNING,
    };
    content.keys.push(own);
    thief.key_id = "key-2".to_owned();
    let tx = thief.sign(world.network(), Operation::CreateDid(content));
    assert_eq!(
        world.submit(tx),
        Err(Refusal::Signature(SignatureFault::FirstKeyMissing))
    );
}

#[test]
fn a_did_is_created_once() {
    let mut world = World::new();
    let mut actor = world.registered(KeyType::Ed25519);
    let again = actor.create(world.network());
    assert_eq!(
        world.submit(again),
        Err(Refusal::Author(AuthorFault::Exists))
    );
}

#[test]
fn only_registered_authors_write() {
    let mut world = World::new();
    let mut stranger = Actor::new(KeyType::Ed25519);
    let network = world.network().clone();
    let time = world.time;
    for tx in [
        stranger.rotate(&network, 2),
        stranger.deactivate(&network, 2),
        stranger.anchor(&network, "https://a.example/1", time),
    ] {
        assert_eq!(world.submit(tx), Err(Refusal::Author(AuthorFault::Unknown)));
    }
}

#[test]
fn after_a_rotation_the_new_key_signs_and_the_old_does_not() {
    let mut world = World::new();
    let mut actor = world.registered(KeyType::P256);
    let network = world.network().clone();
    let old = PrivateKey::from_pkcs8(actor.key.to_pkcs8().unwrap().expose()).unwrap();
    world.submit(actor.rotate(&network, 2)).unwrap();
    let unsigned = UnsignedTransaction::new(
        &network,
        actor.id,
        50,
        Operation::DeactivateDid { version: 3 },
    );
    let by_old = |key: &str| {
        let signature = old.sign(unsigned.signing_bytes()).unwrap();
        unsigned.clone().signed(key, &signature).unwrap()
    };
    let refused = |fault| Err(Refusal::Signature(fault));
    assert_eq!(
        world.submit(by_old("key-1")),
        refused(SignatureFault::UnknownKey)
    );
    assert_eq!(world.submit(by_old("key-2")), refused(SignatureFault::Bad));
    assert!(world.submit(actor.rotate(&network, 3)).is_ok());
}

#[test]
fn the_present_content_is_what_the_next_update_is_made_from() {
    let mut world = World::new();
    let mut actor = world.registered(KeyType::P256);
    let network = world.network().clone();
    let did = world.did(&actor);
    let present = |world: &World, did| world.machine.present(&world.state, did).unwrap();
    assert_eq!(present(&world, &did), Some((1, Some(actor.content()))));
    world.submit(actor.rotate(&network, 2)).unwrap();
    assert_eq!(present(&world, &did), Some((2, Some(actor.content()))));
    world.submit(actor.deactivate(&network, 3)).unwrap();
    assert_eq!(present(&world, &did), Some((3, None)));
    let stranger = world.did(&Actor::new(KeyType::Ed25519));
    assert_eq!(present(&world, &stranger), None);
    assert_eq!(present(&World::new(), &did), None, "of another network");
}

#[test]
fn a_receipt_is_written_as_json_and_read_back() {
    let mut world = World::new();
    let mut actor = Actor::new(KeyType::Ed25519);
    let receipt = world
        .submit(actor.create(&world.network().clone()))
        .unwrap();
    let json = serde_json::to_value(receipt).unwrap();
    assert_eq!(json["tx_hash"].as_str().unwrap().len(), 64);
    assert_eq!(
        serde_json::from_value::<selfsame_registry::Receipt>(json.clone()).unwrap(),
        receipt
    );
    let mut short = json;
    short["tx_hash"] = "ab".into();
    assert!(serde_json::from_value::<selfsame_registry::Receipt>(short).is_err());
}

#[test]
fn a_version_that_does_not_follow_is_refused() {
    let mut world = World::new();
    let mut actor = world.registered(KeyType::Ed25519);
    let network = world.network().clone();
    let content = actor.content();
    for version in [0, 1, 3, u64::MAX] {
        let refused = Err(Refusal::Version { present: 1 });
        assert_eq!(
            world.submit(actor.update(&network, version, content.clone())),
            refused
        );
        assert_eq!(world.submit(actor.deactivate(&network, version)), refused);
    }
}

#[test]
fn of_two_updates_from_one_version_the_second_is_refused() {
    let mut world = World::new();
    let mut actor = world.registered(KeyType::Ed25519);
    let network = world.network().clone();
    let content = actor.content();
    let both = [
        actor.update(&network, 2, content.clone()),
        actor.update(&network, 2, content),
    ];
    let results = world.block(&both).results;
    assert!(results[0].is_ok());
    assert_eq!(results[1], Err(Refusal::Version { present: 2 }));
}

#[test]
fn a_deactivated_did_is_deactivated_for_good() {
    let mut world = World::new();
    let mut actor = world.registered(KeyType::Ed25519);
    let network = world.network().clone();
    world.submit(actor.deactivate(&network, 2)).unwrap();
    let content = actor.content();
    let refused = Err(Refusal::Author(AuthorFault::Deactivated));
    let time = world.time;
    assert_eq!(world.submit(actor.update(&network, 3, content)), refused);
    assert_eq!(world.submit(actor.deactivate(&network, 3)), refused);
    assert_eq!(
        world.submit(actor.anchor(&network, "https://a.example/1", time)),
        refused
    );
    let again = Err(Refusal::Author(AuthorFault::Exists));
    assert_eq!(world.submit(actor.create(&network)), again);
}

#[test]
fn a_transaction_for_another_network_is_refused() {
    let (mut world, other) = (World::new(), World::new());
    let mut actor = Actor::new(KeyType::Ed25519);
    assert_eq!(
        world.submit(actor.create(other.network())),
        Err(Refusal::Network)
    );
}

#[test]
fn the_same_transaction_again_gets_its_first_receipt() {
    let mut world = World::new();
    let mut actor = Actor::new(KeyType::P256);
    let network = world.network().clone();
    let create = actor.create(&network);
    let first = world.submit(create.clone()).unwrap();
    world.time = world.time.plus(60);
    assert_eq!(world.submit(create), Ok(first));
    // ECDSA gives other signature bytes each time; the transaction is still the same one.
    let content = actor.content();
    let resigned = actor.sign_with_nonce(&network, 1, Operation::CreateDid(content));
    assert_eq!(world.submit(resigned), Ok(first));
    // This also holds after the signing key was replaced and the DID deactivated.
    let rotation = actor.rotate(&network, 2);
    let rotated = world.submit(rotation.clone()).unwrap();
    world.submit(actor.deactivate(&network, 3)).unwrap();
    assert_eq!(world.submit(rotation), Ok(rotated));
}

#[test]
fn a_nonce_used_for_something_else_is_refused() {
    let mut world = World::new();
    let mut actor = world.registered(KeyType::Ed25519);
    let network = world.network().clone();
    actor.nonce = 0;
    let content = actor.content();
    assert_eq!(
        world.submit(actor.update(&network, 2, content.clone())),
        Err(Refusal::NonceUsed)
    );
    // A refused transaction does not use up its nonce, and authors do not share nonces.
    let refused = actor.sign_with_nonce(&network, 9, Operation::DeactivateDid { version: 9 });
    assert!(world.submit(refused).is_err());
    let update = Operation::UpdateDid {
        version: 2,
        content,
    };
    assert!(
        world
            .submit(actor.sign_with_nonce(&network, 9, update))
            .is_ok()
    );
    let mut other = Actor::new(KeyType::Ed25519);
    assert!(world.submit(other.create(&network)).is_ok());
}

#[test]
fn every_signature_has_to_be_good_and_by_a_key_of_its_own() {
    let mut world = World::new();
    let mut actor = Actor::new(KeyType::Ed25519);
    let network = world.network().clone();
    let second = PrivateKey::generate(KeyType::P256).unwrap();
    let third = PrivateKey::generate(KeyType::P256).unwrap();
    let mut content = actor.content();
    let key = |id: &str, key: &PrivateKey, uses| Key {
        id: id.to_owned(),
        public: key.public().clone(),
        uses,
    };
    content.keys.push(key("key-2", &second, Uses::SIGNING));
    content
        .keys
        .push(key("key-3", &third, Uses::AUTHENTICATION));
    let create = actor.sign(&network, Operation::CreateDid(content.clone()));
    world.submit(create).unwrap();

    let sign = |keys: &[(&str, &PrivateKey)]| -> Transaction {
        let update = Operation::UpdateDid {
            version: 2,
            content: content.clone(),
        };
        let unsigned = UnsignedTransaction::new(&network, actor.id, 70, update);
        let one = |(id, key): &(&str, &PrivateKey)| Signature {
            key: (*id).to_owned(),
            bytes: key
                .sign(unsigned.signing_bytes())
                .unwrap()
                .try_into()
                .unwrap(),
        };
        let signatures = keys.iter().map(one).collect();
        unsigned.signed_by(signatures).unwrap()
    };
    let first = &actor.key;
    let refused = |fault| Err(Refusal::Signature(fault));
    let repeated = sign(&[("key-1", first), ("key-1", first)]);
    assert_eq!(world.submit(repeated), refused(SignatureFault::Repeated));
    let one_bad = sign(&[("key-1", first), ("key-2", first)]);
    assert_eq!(world.submit(one_bad), refused(SignatureFault::Bad));
    let not_for_this = sign(&[("key-1", first), ("key-3", &third)]);
    assert_eq!(
        world.submit(not_for_this),
        refused(SignatureFault::UnknownKey)
    );
    assert!(
        world
            .submit(sign(&[("key-1", first), ("key-2", &second)]))
            .is_ok()
    );
}

#[test]
fn a_changed_byte_of_what_was_signed_is_refused() {
    let mut world = World::new();
    let mut actor = Actor::new(KeyType::Ed25519);
    let good = actor.create(world.network()).to_bytes();
    let mut read = 0;
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        if let Ok(tx) = Transaction::from_bytes(&bad) {
            read += 1;
            assert!(world.submit(tx).is_err(), "byte {at}");
        }
    }
    assert!(
        read > 64,
        "some changes still read, those of the signature at least"
    );
}

struct Wanted {
    world: World,
    actor: Actor,
    good: Content,
}

impl Wanted {
    fn new() -> Self {
        let mut world = World::new();
        let actor = world.registered(KeyType::Ed25519);
        let good = actor.content();
        Self { world, actor, good }
    }

    fn key(&self, id: &str, uses: Uses) -> Key {
        Key {
            id: id.to_owned(),
            public: self.actor.key.public().clone(),
            uses,
        }
    }

    fn with_key(&self, id: &str, uses: Uses) -> Content {
        let mut content = self.good.clone();
        content.keys.push(self.key(id, uses));
        content
    }

    fn with_service(&self, (id, kind, endpoint): (&str, &str, &str)) -> Content {
        let service = Service {
            id: id.to_owned(),
            kind: kind.to_owned(),
            endpoint: endpoint.to_owned(),
        };
        Content {
            services: vec![service],
            ..self.good.clone()
        }
    }

    fn is_refused(&mut self, content: Content, fault: ContentFault) {
        let network = self.world.network().clone();
        let update = self.actor.update(&network, 2, content.clone());
        let answer = self.world.submit(update);
        assert_eq!(answer, Err(Refusal::Content(fault)), "{content:?}");
    }
}

#[test]
fn content_is_judged_at_creation_as_it_is_at_updates() {
    let mut world = World::new();
    let mut actor = Actor::new(KeyType::Ed25519);
    let mut content = actor.content();
    content.also_known_as = vec!["no uri".to_owned()];
    let create = actor.sign(&world.network().clone(), Operation::CreateDid(content));
    assert_eq!(
        world.submit(create),
        Err(Refusal::Content(ContentFault::Uri))
    );
}

#[test]
fn keys_the_network_does_not_want_are_refused() {
    let mut wanted = Wanted::new();
    let none = Content {
        keys: vec![],
        ..wanted.good.clone()
    };
    wanted.is_refused(none, ContentFault::NoInvocationKey);
    let locked = Content {
        keys: vec![wanted.key("a", Uses::ASSERTION)],
        ..wanted.good.clone()
    };
    wanted.is_refused(locked, ContentFault::NoInvocationKey);
    wanted.is_refused(
        wanted.with_key("key-1", Uses::SIGNING),
        ContentFault::DuplicateName,
    );
    for name in ["", "a b", "a#b", "a/b", "\u{e4}", &"a".repeat(65)] {
        wanted.is_refused(wanted.with_key(name, Uses::SIGNING), ContentFault::Fragment);
    }
    // An Ed25519 key can only sign.
    wanted.is_refused(wanted.with_key("x", Uses::AGREEMENT), ContentFault::Use);
}

#[test]
fn a_key_no_transaction_could_be_signed_with_does_not_keep_a_did_changeable() {
    let mut wanted = Wanted::new();
    // secp256k1, with the generator as an arbitrary point.
    let point = [&[0xe7, 0x01, 0x02][..], &GENERATOR].concat();
    let mut content = wanted.good.clone();
    content.keys[0].public = PublicKey::from_multicodec(&point).unwrap();
    wanted.is_refused(content, ContentFault::NoInvocationKey);
}

#[test]
fn services_and_names_the_network_does_not_want_are_refused() {
    let mut wanted = Wanted::new();
    let url = "https://a.example";
    let long = format!("{url}/{}", "a".repeat(512));
    for (service, fault) in [
        (("key-1", "T", url), ContentFault::DuplicateName),
        (("s s", "T", url), ContentFault::Fragment),
        (("s", "", url), ContentFault::ServiceType),
        (("s", "a b", url), ContentFault::ServiceType),
        (("s", &*"a".repeat(65), url), ContentFault::ServiceType),
        (("s", "T", "a.example"), ContentFault::Uri),
        (("s", "T", "https:"), ContentFault::Uri),
        (("s", "T", "1a:b"), ContentFault::Uri),
        (("s", "T", ":b"), ContentFault::Uri),
        (("s", "T", "https://a.example/<x>"), ContentFault::Uri),
        (("s", "T", "https://a.example/\n"), ContentFault::Uri),
        (("s", "T", &long), ContentFault::Uri),
    ] {
        wanted.is_refused(wanted.with_service(service), fault);
    }
    let unnamed = Content {
        also_known_as: vec!["no uri".to_owned()],
        ..wanted.good.clone()
    };
    wanted.is_refused(unnamed, ContentFault::Uri);
}

#[test]
fn content_with_all_there_can_be_is_accepted() {
    let mut wanted = Wanted::new();
    let mut content = wanted.with_service(("s", "LinkedDomains", "https://a.example/?b=c#d"));
    let p256 = PrivateKey::generate(KeyType::P256).unwrap();
    content.keys.push(Key {
        id: "x".to_owned(),
        public: p256.public().clone(),
        uses: Uses::AGREEMENT,
    });
    content.also_known_as = vec!["did:web:a.example".to_owned()];
    let update = wanted
        .actor
        .update(&wanted.world.network().clone(), 2, content);
    assert!(wanted.world.submit(update).is_ok());
}

/// The x coordinate of secp256k1's generator (SEC 2 §2.4.1).
const GENERATOR: [u8; 32] = [
    0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87, 0x0b, 0x07,
    0x02, 0x9b, 0xfc, 0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98,
];
