//! The encoding of transactions, heads and geneses: each has one form, and any other is refused.

use proptest::prelude::*;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_proof::cbor::Malformed;
use selfsame_proof::checkpoint::Checkpoint;
use selfsame_proof::note::VerifierKey;
use selfsame_registry::network::{Member, Role};
use selfsame_registry::transaction::{AuthoredTransaction, Body, Signature};
use selfsame_registry::{
    Genesis, Head, Identifier, Operation, Rules, Transaction, UnsignedTransaction,
};

use crate::world::{Actor, START, World, validators};

fn transactions() -> Vec<Transaction> {
    let world = World::new();
    let network = world.network();
    let mut actor = Actor::new(KeyType::P256);
    vec![
        actor.create(network),
        actor.rotate(network, 2),
        actor.deactivate(network, 3),
        actor.anchor(network, "https://a.example/1", START),
    ]
}

#[test]
fn what_is_written_is_read_as_the_same() {
    for tx in transactions() {
        let bytes = tx.to_bytes();
        let read = Transaction::from_bytes(&bytes).unwrap();
        assert_eq!(read, tx);
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!(read.hash(), sha256(tx.unsigned_bytes()));
    }
}

#[test]
fn what_an_author_signs_for_an_endorser_becomes_a_transaction_with_the_endorsers_signature_alone() {
    let world = World::new();
    let [mut author, endorser] = [KeyType::Ed25519, KeyType::P256].map(Actor::new);
    let alone = author.deactivate(world.network(), 2);
    let signature = Signature::new("key-1", &[1; 64]).unwrap();
    let without = UnsignedTransaction::of(alone.body().clone());
    assert!(without.authored(vec![signature.clone()]).is_err());
    let body = Body {
        endorser: Identifier::of_key(endorser.key.public()),
        ..alone.body().clone()
    };
    let unsigned = UnsignedTransaction::of(body.clone());
    assert!(unsigned.clone().authored(Vec::new()).is_err());
    let authored = unsigned.authored(vec![signature.clone()]).unwrap();
    let bytes = authored.to_bytes();
    assert_eq!(AuthoredTransaction::from_bytes(&bytes).unwrap(), authored);
    assert!(Transaction::from_bytes(&bytes).is_err());
    let hash = authored.hash();
    assert!(authored.clone().endorsed(Vec::new()).is_err());
    let whole = authored.endorsed(vec![signature]).unwrap();
    assert_eq!((whole.body(), whole.hash()), (&body, hash));
    assert!(AuthoredTransaction::from_bytes(&whole.to_bytes()).is_err());
}

#[test]
fn a_transaction_looks_on_the_wire_as_the_method_specification_says() {
    let world = World::new();
    let mut actor = Actor::new(KeyType::Ed25519);
    let tx = actor.deactivate(world.network(), 2);
    let network = world.network().as_str().as_bytes();
    let id = sha256(&actor.key.public().to_multicodec());
    let body = [
        &[0x87, 0x76][..],
        b"selfsame/transaction/1",
        &[0x70],
        network,
        &[0x50],
        &id[..16],
        &[0x01, 0x81, 0x82, 0x03, 0x02, 0x80, 0x80],
    ]
    .concat();
    assert_eq!(tx.unsigned_bytes(), body);
    let signature = actor.key.sign(&body).unwrap();
    let whole = [
        &[0x83, 0x58, u8::try_from(body.len()).unwrap()][..],
        &body,
        &[0x81, 0x82, 0x65],
        b"key-1",
        &[0x58, 0x40],
        &signature,
        &[0x80],
    ]
    .concat();
    assert_eq!(tx.to_bytes(), whole);
}

#[test]
fn truncated_and_extended_transactions_are_refused() {
    for tx in transactions() {
        let bytes = tx.to_bytes();
        for length in 0..bytes.len() {
            assert!(
                Transaction::from_bytes(&bytes[..length]).is_err(),
                "{length}"
            );
        }
        assert!(Transaction::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    }
}

#[test]
fn longer_forms_of_the_same_values_are_refused() {
    let world = World::new();
    let tx = Actor::new(KeyType::Ed25519).deactivate(world.network(), 2);
    let bytes = tx.to_bytes();
    let at = bytes
        .windows(5)
        .position(|five| five == [0x01, 0x81, 0x82, 0x03, 0x02])
        .unwrap();
    // The nonce takes two bytes where one is enough, and the body is one byte longer.
    let mut longer = bytes.clone();
    longer.splice(at..=at, [0x18, 0x01]);
    longer[2] += 1;
    assert_eq!(
        Transaction::from_bytes(&longer),
        Err(Malformed("not in deterministic form"))
    );
    let mut unknown = bytes.clone();
    unknown[at + 3] = 0x17;
    assert_eq!(
        Transaction::from_bytes(&unknown),
        Err(Malformed("an unknown operation"))
    );
    let version = bytes.windows(2).position(|two| two == b"/1").unwrap();
    let mut other = bytes;
    other[version + 1] = b'2';
    assert_eq!(
        Transaction::from_bytes(&other),
        Err(Malformed("of another kind or version"))
    );
}

#[test]
fn transactions_without_or_with_too_many_signatures_cannot_be_made() {
    let world = World::new();
    let actor = Actor::new(KeyType::Ed25519);
    let unsigned = UnsignedTransaction::new(
        world.network(),
        actor.id,
        1,
        Operation::DeactivateDid { version: 2 },
    );
    let signature = |n: usize| Signature {
        key: n.to_string(),
        bytes: [0; 64],
    };
    assert!(unsigned.clone().signed_by(vec![]).is_err());
    assert!(
        unsigned
            .clone()
            .signed_by((0..5).map(signature).collect())
            .is_err()
    );
    assert!(
        unsigned
            .clone()
            .signed_by((0..4).map(signature).collect())
            .is_ok()
    );
    assert!(unsigned.signed("key-1", &[0; 63]).is_err());
}

#[test]
fn a_transaction_past_the_longest_is_not_read() {
    let world = World::new();
    let mut actor = Actor::new(KeyType::Ed25519);
    let mut content = actor.content();
    content.also_known_as = vec!["a".repeat(256 * 1024)];
    actor.nonce += 1;
    let unsigned =
        UnsignedTransaction::new(world.network(), actor.id, 1, Operation::CreateDid(content));
    let refused = unsigned.signed("key-1", &[0; 64]);
    assert_eq!(refused, Err(Malformed("a transaction is too long")));
}

#[test]
fn a_genesis_is_read_as_written_and_names_its_network() {
    let make = |name: &str, rules| Genesis::new(name, START, validators(), rules);
    let rules = Rules::default();
    let genesis = make("main", rules).unwrap();
    let bytes = genesis.to_bytes();
    assert_eq!(Genesis::from_bytes(&bytes).as_ref(), Ok(&genesis));
    assert_ne!(make("other", rules).unwrap().network(), genesis.network());
    assert_eq!(genesis.network().as_str().len(), 16);
    for length in 0..bytes.len() {
        assert!(Genesis::from_bytes(&bytes[..length]).is_err());
    }
    for bad in [
        make("", rules),
        make("a b", rules),
        make("a+b", rules),
        make(&"a".repeat(65), rules),
    ] {
        assert!(bad.is_err());
    }
}

#[test]
fn rules_under_which_no_author_could_write_are_refused() {
    let good = Rules::default();
    for bad in [
        Rules {
            quota_window: 0,
            ..good
        },
        // An author who used up the quota would wait forever.
        Rules {
            quota_window: 366 * 86_400 + 1,
            ..good
        },
        Rules {
            max_transaction_bytes: 100,
            ..good
        },
        Rules {
            max_block_bytes: good.max_transaction_bytes - 1,
            ..good
        },
        Rules {
            max_block_transactions: 0,
            ..good
        },
        Rules {
            author_quota: 0,
            ..good
        },
        // An author who used up the quota would wait for a year.
        Rules {
            author_quota: 365,
            quota_window: 366 * 86_400,
            ..good
        },
        Rules {
            machine_version: 0,
            ..good
        },
    ] {
        assert!(Genesis::new("main", START, validators(), bad).is_err());
    }
}

#[test]
fn the_first_members_of_a_network_are_different_people_one_of_them_a_trustee() {
    let member = |role| Member {
        key: PrivateKey::generate(KeyType::P256)
            .unwrap()
            .public()
            .clone(),
        role,
    };
    let with = |members| {
        Genesis::new("main", START, validators(), Rules::default())
            .unwrap()
            .with_members(members)
    };
    let (trustee, steward) = (member(Role::Trustee), member(Role::Steward));
    let genesis = with(vec![trustee.clone(), steward.clone()]).unwrap();
    assert_eq!(Genesis::from_bytes(&genesis.to_bytes()), Ok(genesis));
    assert!(with(vec![trustee.clone(), trustee]).is_err());
    assert!(with(vec![steward]).is_err());
    assert!(with((0..257).map(|_| member(Role::Trustee)).collect()).is_err());
}

#[test]
fn a_head_is_read_as_written_and_signed_as_a_checkpoint() {
    let mut world = World::new();
    world.registered(KeyType::Ed25519);
    let head = &world.head;
    let bytes = head.to_bytes();
    assert_eq!(Head::from_bytes(&bytes).as_ref(), Ok(head));
    assert!(Head::from_bytes(&bytes[1..]).is_err());
    let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
    let origin = "registry.example/test";
    let vkey = VerifierKey::new(origin, key.public()).unwrap();
    let mut note = head.checkpoint(origin).to_note().unwrap();
    let signature = key.sign(note.signing_bytes()).unwrap();
    note.sign(&vkey, signature).unwrap();
    let read = Checkpoint::open(&note.to_string(), origin, &[vkey]).unwrap();
    assert_eq!((read.size, read.root), (1, head.log.root()));
    assert_eq!(read.standing(), Ok(head.standing()));
    assert_eq!(head.standing().app_hash(), head.app_hash());
}

proptest! {
    #[test]
    fn any_bytes_are_a_transaction_in_one_form_or_refused(
        which in 0..4_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        tail in prop::collection::vec(any::<u8>(), 0..4),
    ) {
        let mut bytes = transactions()[which].to_bytes();
        for (at, byte) in edits {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.extend(tail);
        if let Ok(tx) = Transaction::from_bytes(&bytes) {
            prop_assert_eq!(tx.to_bytes(), bytes);
        }
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Transaction::from_bytes(&bytes).is_err());
        prop_assert!(Genesis::from_bytes(&bytes).is_err());
        prop_assert!(Head::from_bytes(&bytes).is_err());
    }
}
