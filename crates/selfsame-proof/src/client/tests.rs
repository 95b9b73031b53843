//! Tests of what a client remembers, and when it forgets.

use std::collections::BTreeMap;

use selfsame_crypto::hash::sha256;
use selfsame_crypto::{KeyType, PrivateKey};

use super::*;
use crate::checkpoint::Checkpoint;
use crate::log::Frontier;
use crate::read::{Handover, MAX_HANDOVERS};
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

    fn write(&mut self, key: &str, value: impl AsRef<[u8]>) {
        self.height += 1;
        let write = (key.as_bytes(), Some(value.as_ref()));
        let changes = tree::update(&self.nodes, self.root, self.height, [write]).unwrap();
        self.nodes.extend(changes.nodes);
        let place = sha256(key.as_bytes()).to_vec();
        self.nodes.insert(place, key.into());
        self.root = changes.root;
        self.objects.insert(key.into(), value.as_ref().into());
        self.log.append([u8::try_from(self.height).unwrap(); 32]);
    }

    /// Replaces the validator.
    fn hand_over(&mut self, time: UnixTime) -> Handover {
        let next = Self::new();
        self.write("validators", next.set.to_bytes());
        let read = self.read("validators", time);
        (self.key, self.set) = (next.key, next.set);
        Handover {
            note: read.note,
            set: self.set.clone(),
            proof: read.proof,
        }
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
        let policy = ReadPolicy::genuine(60);
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
    let report = client.accept(b"a", &registry.read("a", DAY), Lasting::Within(10), DAY);
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
            .accept(b"b", &registry.read("b", DAY), Lasting::Forever, DAY)
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
    client.accept(b"a", &registry.read("a", DAY), Lasting::Within(0), DAY);
    let now = later(100);
    assert_eq!(client.get(b"a", Lasting::Within(30), now), None);
    assert!(
        client
            .accept(b"b", &registry.read("b", now), Lasting::Within(0), now)
            .is_verified()
    );
    let found = client.get(b"a", Lasting::Within(30), now).unwrap();
    assert_eq!(found.as_of.time, now);
    // After a change, the old object is only as recent as the checkpoint it was verified under.
    registry.write("a", "3");
    let now = later(200);
    client.accept(b"b", &registry.read("b", now), Lasting::Within(0), now);
    assert_eq!(client.get(b"a", Lasting::Within(30), now), None);
}

#[test]
fn nothing_of_a_refused_answer_is_remembered() {
    let mut registry = Registry::new();
    registry.write("a", "1");
    let mut client = registry.client(1 << 20);
    let mut bundle = registry.read("a", DAY);
    bundle.value = Some(b"2".to_vec());
    let report = client.accept(b"a", &bundle, Lasting::Within(10), DAY);
    assert_eq!(report.outcome, ReadOutcome::Forged);
    // This also holds if the checkpoint is known already.
    client.accept(b"a", &registry.read("a", DAY), Lasting::Within(10), DAY);
    let report = client.accept(b"a", &bundle, Lasting::Within(10), DAY);
    assert_eq!(report.outcome, ReadOutcome::Forged);
    let found = client.get(b"a", Lasting::Within(10), DAY).unwrap();
    assert_eq!(found.value.as_deref(), Some(b"1".as_slice()));
}

#[test]
fn what_is_remembered_stays_within_its_bound() {
    let mut registry = Registry::new();
    for number in 0..40 {
        registry.write(&format!("key {number:03}"), "x".repeat(93));
    }
    let mut client = registry.client(1_000);
    for number in 0..40 {
        let key = format!("key {number:03}");
        let (bundle, key) = (registry.read(&key, DAY), key.as_bytes());
        assert!(
            client
                .accept(key, &bundle, Lasting::Forever, DAY)
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
            .accept(b"b", &newest, Lasting::Within(10), now)
            .is_verified()
    );
    assert!(
        !client
            .accept(b"a", &a, Lasting::Within(100), now)
            .is_verified()
    );
    assert!(client.accept_handed(b"a", &a, HANDED, now).is_verified());
    // An older checkpoint does not replace the newest.
    assert_eq!(client.trust().seen.unwrap().height, 2);
    assert_eq!(client.newest().unwrap().1, newest.note);
    let present = registry.read("a", now);
    assert!(
        client
            .accept_handed(b"a", &present, HANDED, now)
            .is_verified()
    );
    let report = client.accept_handed(b"a", &a, HANDED, now);
    assert_eq!(report.outcome, ReadOutcome::Untimely);
    assert_eq!(report.rules.last().unwrap().name, "overtaken");
    assert!(report.trust.is_none());
    // An object that has not changed since may still be passed on.
    assert!(
        client
            .accept_handed(b"c", &other, HANDED, now)
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
    let late = client.accept_handed(b"a", &a, HANDED, later(121));
    assert_eq!(late.outcome, ReadOutcome::Untimely);
    assert!(
        client
            .accept_handed(b"a", &a, HANDED, later(120))
            .is_verified()
    );
    registry.write("b", "1");
    let newest = registry.read("b", later(60));
    let report = client.accept(b"b", &newest, Lasting::Within(100), later(60));
    assert!(report.is_verified());
    let behind = client.accept_handed(b"a", &a, HANDED, later(60));
    assert_eq!(behind.outcome, ReadOutcome::Untimely);
}

/// The object of this bundle, to be judged under another checkpoint.
fn object(bundle: &Bundle) -> Object<'_> {
    Object {
        key: &bundle.key,
        value: bundle.value.as_deref(),
        proof: &bundle.proof,
    }
}

#[test]
fn reads_of_one_checkpoint_are_each_proved_and_remembered() {
    let mut registry = Registry::new();
    registry.write("a", "1");
    registry.write("b", "2");
    let read = |key| registry.read(key, DAY);
    let (a, b, none) = (read("a"), read("b"), read("c"));
    let mut client = registry.client(1 << 20);
    let further = [object(&b), object(&none)];
    let as_of = client.accept_all_handed(&a, &further, HANDED, DAY);
    assert_eq!(as_of.unwrap().height, 2);
    for (key, value) in [("a", Some("1")), ("b", Some("2")), ("c", None)] {
        let found = client.get(key.as_bytes(), Lasting::Within(0), DAY).unwrap();
        assert_eq!(found.value.as_deref(), value.map(str::as_bytes), "{key}");
    }
    // Another value, another key, no value, the proof of another object: none is accepted, whether known or not.
    let lies = [
        Object {
            value: Some(b"3"),
            ..object(&b)
        },
        Object {
            key: b"d",
            ..object(&b)
        },
        Object {
            value: None,
            ..object(&b)
        },
        Object {
            proof: &a.proof,
            ..object(&b)
        },
    ];
    for lie in lies {
        for reader in [&mut registry.client(1 << 20), &mut client] {
            let judged = reader.accept_all_handed(&a, &[object(&none), lie], HANDED, DAY);
            assert_eq!(judged, Err(ReadOutcome::Forged), "{lie:?}");
        }
    }
    let found = client.get(b"b", Lasting::Within(0), DAY).unwrap();
    assert_eq!(found.value.as_deref(), Some(b"2".as_slice()));
}

#[test]
fn of_reads_of_one_checkpoint_none_may_have_changed_since_and_all_have_its_age() {
    let mut registry = Registry::new();
    registry.write("a", "1");
    registry.write("b", "1");
    let (a, b) = (registry.read("a", DAY), registry.read("b", DAY));
    registry.write("b", "2");
    let mut client = registry.client(1 << 20);
    let now = later(10);
    let newer = registry.read("b", now);
    assert!(
        client
            .accept_handed(b"b", &newer, HANDED, now)
            .is_verified()
    );
    let judged = client.accept_all_handed(&a, &[object(&b)], HANDED, now);
    assert_eq!(judged, Err(ReadOutcome::Untimely));
    let found = client.get(b"b", Lasting::Within(60), now).unwrap();
    assert_eq!(found.value.as_deref(), Some(b"2".as_slice()));
    let mut fresh = registry.client(1 << 20);
    let judged = fresh.accept_all_handed(&a, &[object(&b)], HANDED, later(121));
    assert_eq!(judged, Err(ReadOutcome::Untimely));
    assert_eq!(fresh.get(b"b", Lasting::Within(1_000), later(121)), None);
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
        let report = client.accept_handed(&bundle.key, bundle, HANDED, later(2));
        assert!(report.is_verified());
    }
    let known: Vec<&str> = client
        .known
        .iter()
        .map(|known| known.note.as_str())
        .collect();
    assert_eq!(known, [second.note.as_str(), first.note.as_str()]);
    // A note is known by its text and its signatures, not by its text alone.
    let (text, _) = first.note.split_once("\n\n").unwrap();
    let (_, signatures) = second.note.split_once("\n\n").unwrap();
    let forged = Bundle {
        note: format!("{text}\n\n{signatures}"),
        ..first
    };
    let report = client.accept_handed(b"a", &forged, HANDED, later(2));
    assert_eq!(report.outcome, ReadOutcome::Forged);
}

/// The handovers that a node gives to a reader that trusts the validators of a height: the oldest that fit.
fn from(handovers: &[(u64, Handover)], trusted_height: u64) -> Vec<Handover> {
    let unknown = handovers
        .iter()
        .filter(|(height, _)| *height >= trusted_height);
    let given = unknown.take(MAX_HANDOVERS);
    given.map(|(_, handover)| handover.clone()).collect()
}

#[test]
fn a_reader_is_led_through_more_changes_of_validators_than_one_answer_has() {
    let mut registry = Registry::new();
    let mut client = registry.client(1 << 20);
    registry.write("a", "1");
    let changes = 2 * MAX_HANDOVERS + 3;
    let handovers: Vec<(u64, Handover)> = (0..changes)
        .map(|_| registry.hand_over(DAY))
        .zip(2..)
        .map(|(handover, height)| (height, handover))
        .collect();
    registry.write("b", "2");
    let mut asked = 0;
    loop {
        let mut bundle = registry.read("a", later(1));
        bundle.handovers = from(&handovers, client.trust().from_height);
        asked += 1;
        let report = client.accept(b"a", &bundle, Lasting::Within(10), later(1));
        if report.is_verified() {
            break;
        }
        assert_eq!(report.outcome, ReadOutcome::Untrusted);
        assert!(asked < 3, "{report:?}");
        // Validators learned in this way do not make the object trusted.
        assert_eq!(client.get(b"a", Lasting::Forever, later(1)), None);
        assert_eq!(client.newest(), None);
    }
    assert_eq!(asked, 3);
    assert_eq!(client.trust().set, registry.set);
}

#[test]
fn a_full_answer_is_followed_only_if_its_changes_hold() {
    let mut registry = Registry::new();
    let Client { trust, policy, .. } = registry.client(1 << 20);
    registry.write("a", "1");
    let handovers: Vec<_> = (0..=MAX_HANDOVERS)
        .map(|_| registry.hand_over(DAY))
        .collect();
    let bundle = |handovers: &[Handover]| Bundle {
        handovers: handovers[..MAX_HANDOVERS].to_vec(),
        ..registry.read("a", later(1))
    };
    let mut forged = handovers.clone();
    forged[7].set = handovers[8].set.clone();
    let left_out = [&handovers[..5], &handovers[6..]].concat();
    let of_another_key = Bundle {
        key: b"b".to_vec(),
        ..bundle(&handovers)
    };
    for wrong in [bundle(&forged), bundle(&left_out), of_another_key] {
        let mut client = Client::new(trust.clone(), policy.clone(), 1 << 20);
        let report = client.accept(b"a", &wrong, Lasting::Within(10), later(1));
        assert!(!report.is_verified());
        assert_eq!(client.trust(), &trust);
    }
}
