//! What a client remembers, and when it forgets.

use std::collections::BTreeMap;

use selfsame_crypto::hash::sha256;
use selfsame_crypto::{KeyType, PrivateKey};

use super::*;
use crate::checkpoint::Checkpoint;
use crate::log::Frontier;
use crate::read::Outcome;
use crate::tree::{self, Root};
use crate::validators::{Validator, ValidatorSet};

const ORIGIN: &str = "selfsame/test";
const DAY: UnixTime = UnixTime(1_800_000_000);

/// A registry with one validator.
struct Registry {
    key: PrivateKey,
    set: ValidatorSet,
    nodes: BTreeMap<Vec<u8>, Vec<u8>>,
    root: Root,
    height: u64,
    objects: BTreeMap<Vec<u8>, Vec<u8>>,
    log: Frontier,
}

impl Registry {
    fn new() -> Self {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let validator = Validator {
            name: "one".to_owned(),
            key: key.public().clone(),
            power: 1,
            consensus: None,
        };
        Self {
            key,
            set: ValidatorSet::new(vec![validator]).unwrap(),
            nodes: BTreeMap::new(),
            root: Root::EMPTY,
            height: 0,
            objects: BTreeMap::new(),
            log: Frontier::new(),
        }
    }

    fn write(&mut self, key: &str, value: &str) {
        self.height += 1;
        let write = (key.as_bytes(), Some(value.as_bytes()));
        let changes = tree::update(&self.nodes, self.root, self.height, [write]).unwrap();
        self.nodes.extend(changes.nodes);
        let place = sha256(key.as_bytes()).to_vec();
        self.nodes.insert(place, key.into());
        self.root = changes.root;
        self.objects.insert(key.into(), value.into());
        self.log.append([u8::try_from(self.height).unwrap(); 32]);
    }

    fn read(&self, key: &str, time: UnixTime) -> Bundle {
        let standing = Standing {
            height: self.height,
            time,
            size: self.log.size(),
            log: self.log.root(),
            state: self.root.hash,
        };
        let mut note = Checkpoint::of_block(ORIGIN, &standing).to_note().unwrap();
        let signature = self.key.sign(note.signing_bytes()).unwrap();
        let verifier = self.set.validators()[0].verifier_key(ORIGIN).unwrap();
        note.sign(&verifier, signature).unwrap();
        Bundle {
            note: note.to_string(),
            key: key.into(),
            value: self.objects.get(key.as_bytes()).cloned(),
            proof: tree::prove(&self.nodes, self.root, key.as_bytes()).unwrap(),
            handovers: Vec::new(),
        }
    }

    fn client(&self, max_bytes: usize) -> Client {
        let policy = Policy {
            max_age: None,
            skew: 60,
            behind: 0,
            witnesses: Vec::new(),
            witnesses_needed: 0,
        };
        let trust = TrustRoot::of_genesis(ORIGIN, self.set.clone());
        Client::new(trust, policy, max_bytes)
    }
}

fn later(seconds: u64) -> UnixTime {
    UnixTime(DAY.0 + seconds)
}

#[test]
fn a_verified_object_is_used_for_as_long_as_the_reader_allows() {
    let mut registry = Registry::new();
    registry.write("a", "1");
    let mut client = registry.client(1 << 20);
    assert_eq!(client.get(b"a", Lasting::Forever, DAY), None);
    let report = client.accept(b"a", &registry.read("a", DAY), (Lasting::Within(10), DAY));
    assert!(report.is_verified());
    let found = |lasting, now| client.get(b"a", lasting, now).map(|found| found.value);
    assert_eq!(
        found(Lasting::Within(10), later(10)),
        Some(Some(b"1".as_slice().into()))
    );
    assert_eq!(found(Lasting::Within(10), later(11)), None);
    assert!(found(Lasting::Forever, later(1_000_000)).is_some());
}

#[test]
fn absence_never_lasts_for_ever() {
    let mut registry = Registry::new();
    registry.write("a", "1");
    let mut client = registry.client(1 << 20);
    assert!(
        client
            .accept(b"b", &registry.read("b", DAY), (Lasting::Forever, DAY))
            .is_verified()
    );
    assert_eq!(client.get(b"b", Lasting::Forever, DAY), None);
    let found = client.get(b"b", Lasting::Within(5), later(5)).unwrap();
    assert_eq!((found.value, found.as_of.height), (None, 1));
}

#[test]
fn a_newer_checkpoint_of_the_same_state_makes_all_of_it_fresh() {
    let mut registry = Registry::new();
    registry.write("a", "1");
    registry.write("b", "2");
    let mut client = registry.client(1 << 20);
    client.accept(b"a", &registry.read("a", DAY), (Lasting::Within(0), DAY));
    let now = later(100);
    assert_eq!(client.get(b"a", Lasting::Within(30), now), None);
    assert!(
        client
            .accept(b"b", &registry.read("b", now), (Lasting::Within(0), now))
            .is_verified()
    );
    let found = client.get(b"a", Lasting::Within(30), now).unwrap();
    assert_eq!(found.as_of.time, now);
    // After a change the old object is only as fresh as what it was verified under.
    registry.write("a", "3");
    let now = later(200);
    client.accept(b"b", &registry.read("b", now), (Lasting::Within(0), now));
    assert_eq!(client.get(b"a", Lasting::Within(30), now), None);
}

#[test]
fn nothing_of_a_refused_answer_is_remembered() {
    let mut registry = Registry::new();
    registry.write("a", "1");
    let mut client = registry.client(1 << 20);
    let mut bundle = registry.read("a", DAY);
    bundle.value = Some(b"2".to_vec());
    let report = client.accept(b"a", &bundle, (Lasting::Within(10), DAY));
    assert_eq!(report.outcome, Outcome::Forged);
    // Nor is it where the checkpoint is known already.
    client.accept(b"a", &registry.read("a", DAY), (Lasting::Within(10), DAY));
    let report = client.accept(b"a", &bundle, (Lasting::Within(10), DAY));
    assert_eq!(report.outcome, Outcome::Forged);
    let found = client.get(b"a", Lasting::Within(10), DAY).unwrap();
    assert_eq!(found.value.as_deref(), Some(b"1".as_slice()));
}

#[test]
fn what_is_remembered_stays_within_its_bound() {
    let mut registry = Registry::new();
    for number in 0..40 {
        registry.write(&format!("key {number:03}"), &"x".repeat(93));
    }
    let mut client = registry.client(1_000);
    for number in 0..40 {
        let key = format!("key {number:03}");
        let (bundle, key) = (registry.read(&key, DAY), key.as_bytes());
        assert!(
            client
                .accept(key, &bundle, (Lasting::Forever, DAY))
                .is_verified()
        );
        assert!(client.young.len() + client.old.len() <= 10);
    }
    assert!(client.get(b"key 039", Lasting::Forever, DAY).is_some());
    assert!(client.get(b"key 000", Lasting::Forever, DAY).is_none());
}

const HANDED: Handed = Handed {
    max_age: 120,
    behind: 60,
};

#[test]
fn what_is_handed_on_may_be_a_little_behind_but_not_what_has_changed_since() {
    let mut registry = Registry::new();
    registry.write("a", "1");
    let (then, now) = (DAY, later(50));
    let (a, other) = (registry.read("a", then), registry.read("c", then));
    registry.write("a", "2");
    let mut client = registry.client(1 << 20);
    let newest = registry.read("b", now);
    assert!(
        client
            .accept(b"b", &newest, (Lasting::Within(10), now))
            .is_verified()
    );
    assert!(
        !client
            .accept(b"a", &a, (Lasting::Within(100), now))
            .is_verified()
    );
    assert!(client.accept_handed(b"a", &a, (HANDED, now)).is_verified());
    // What is older than the newest does not take its place.
    assert_eq!(client.trust().seen.unwrap().height, 2);
    assert_eq!(client.newest().unwrap().1, newest.note);
    let present = registry.read("a", now);
    assert!(
        client
            .accept_handed(b"a", &present, (HANDED, now))
            .is_verified()
    );
    let report = client.accept_handed(b"a", &a, (HANDED, now));
    assert_eq!(report.outcome, Outcome::Untimely);
    assert_eq!(report.rules.last().unwrap().name, "overtaken");
    assert!(report.trust.is_none());
    // What has not changed since may still be handed on.
    assert!(
        client
            .accept_handed(b"c", &other, (HANDED, now))
            .is_verified()
    );
    let found = client.get(b"a", Lasting::Within(60), now).unwrap();
    assert_eq!(found.value, Some(b"2".as_slice().into()));
}

#[test]
fn what_is_handed_on_too_old_or_too_far_behind_is_untimely() {
    let mut registry = Registry::new();
    registry.write("a", "1");
    let a = registry.read("a", DAY);
    let mut client = registry.client(1 << 20);
    let late = client.accept_handed(b"a", &a, (HANDED, later(121)));
    assert_eq!(late.outcome, Outcome::Untimely);
    assert!(
        client
            .accept_handed(b"a", &a, (HANDED, later(120)))
            .is_verified()
    );
    registry.write("b", "1");
    let newest = registry.read("b", later(60));
    let asked = (Lasting::Within(100), later(60));
    assert!(client.accept(b"b", &newest, asked).is_verified());
    let behind = client.accept_handed(b"a", &a, (HANDED, later(60)));
    assert_eq!(behind.outcome, Outcome::Untimely);
}

#[test]
fn several_checkpoints_are_known_again_without_their_signatures() {
    let mut registry = Registry::new();
    registry.write("a", "1");
    let first = registry.read("a", DAY);
    registry.write("b", "1");
    let second = registry.read("b", later(1));
    let mut client = registry.client(1 << 20);
    for bundle in [&first, &second] {
        let handed = (HANDED, later(2));
        assert!(
            client
                .accept_handed(&bundle.key, bundle, handed)
                .is_verified()
        );
    }
    let known: Vec<&str> = client
        .known
        .iter()
        .map(|known| known.note.as_str())
        .collect();
    assert_eq!(known, [second.note.as_str(), first.note.as_str()]);
    // Known is a note with its signatures, and not what it says.
    let (text, _) = first.note.split_once("\n\n").unwrap();
    let (_, signatures) = second.note.split_once("\n\n").unwrap();
    let forged = Bundle {
        note: format!("{text}\n\n{signatures}"),
        ..first
    };
    let report = client.accept_handed(b"a", &forged, (HANDED, later(2)));
    assert_eq!(report.outcome, Outcome::Forged);
}
