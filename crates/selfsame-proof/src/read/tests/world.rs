//! A network that changes its validators at heights 10 and 20, with fixed keys.

use std::collections::BTreeMap;

use super::*;
use crate::checkpoint::Checkpoint;
use crate::entries::{ProvenEntries, ProvenEntry};
use crate::log::{Frontier, LogRead, inclusion, leaf_hash};
use crate::note::{SignedNote, cosigned};
use crate::tree::{ReadError, Root, prove, update};
use crate::validators::{STATE_KEY, Validator};
use selfsame_crypto::KeyType;

pub(super) const ORIGIN: &str = "registry.example/main";
pub(super) const KEY: &[u8] = b"did/did:selfsame:main:alice";
pub(super) const OBJECT: &[u8] = b"a DID document";
/// A minute after the last block.
pub(super) const NOW: u64 = 1_800_000_060;

/// The private key for a name: its seed is the SHA-256 of the name (RFC 8410 §7).
pub(super) fn private(name: &str) -> PrivateKey {
    let prefix = [
        0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20,
    ];
    PrivateKey::from_pkcs8(&[&prefix[..], &sha256(name.as_bytes())].concat()).unwrap()
}

pub(super) fn set(powers: &[(&str, u64)]) -> ValidatorSet {
    let validator = |(name, power): &(&str, u64)| Validator {
        name: (*name).to_owned(),
        key: private(name).public().clone(),
        power: *power,
        consensus: None,
    };
    ValidatorSet::new(powers.iter().map(validator).collect()).unwrap()
}

pub(super) fn policy() -> ReadPolicy {
    ReadPolicy {
        max_age: Some(90),
        ..ReadPolicy::genuine(10)
    }
}

pub(super) fn asked(policy: &ReadPolicy) -> Question<'_> {
    Question {
        key: KEY,
        policy,
        now: UnixTime(NOW),
    }
}

/// The note with an added signature of a witness.
pub(super) fn witnessed(note: &str, name: &str, time: UnixTime) -> String {
    let mut note = SignedNote::parse(note).unwrap();
    let message = cosigned(note.text(), time).unwrap();
    let signature = private(name).sign(&message).unwrap();
    let signature = [&time.0.to_be_bytes()[..], &signature].concat();
    let key = VerifierKey::witness(name, private(name).public()).unwrap();
    note.sign(&key, signature).unwrap();
    note.to_string()
}

/// The leaves of a log, from which everything else is computed.
pub(super) struct Leaves(pub(super) Vec<Hash>);

impl LogRead for Leaves {
    fn hashes(&self, level: u8, first: u64, count: u64) -> Result<Vec<Hash>, ReadError> {
        assert_eq!(level, 0);
        Ok(self.0[first as usize..(first + count) as usize].to_vec())
    }
}

pub(super) struct World {
    first: ValidatorSet,
    handovers: Vec<Handover>,
    nodes: BTreeMap<Vec<u8>, Vec<u8>>,
    root: Root,
    log: Frontier,
    leaves: Leaves,
    pub(super) standing: Standing,
}

impl World {
    pub(super) fn new() -> Self {
        let first = set(&[("v1", 1), ("v2", 1), ("v3", 1), ("v4", 1)]);
        let second = set(&[("v1", 1), ("v2", 1), ("v3", 1), ("v5", 1)]);
        let third = set(&[("v1", 6), ("v2", 1), ("v3", 1), ("v5", 2)]);
        let mut world = Self {
            first: first.clone(),
            handovers: vec![],
            nodes: BTreeMap::new(),
            root: Root::EMPTY,
            log: Frontier::new(),
            leaves: Leaves(vec![]),
            standing: Standing {
                height: 0,
                time: UnixTime(0),
                size: 0,
                log: [0; 32],
                state: [0; 32],
            },
        };
        world.block(1, &[(STATE_KEY, &first.to_bytes()), (KEY, OBJECT)]);
        world.block(
            2,
            &[
                (b"did/did:selfsame:main:bob", b"another"),
                (b"schema/1", b"a schema"),
            ],
        );
        world.hand_over(10, second, &["v1", "v2", "v4"]);
        world.hand_over(20, third, &["v2", "v3", "v5"]);
        world.block(30, &[]);
        world
    }

    /// Adds a block with one transaction, or with none if there are no objects.
    fn block(&mut self, height: u64, objects: &[(&[u8], &[u8])]) {
        let writes = objects.iter().map(|(key, object)| (*key, Some(*object)));
        let changes = update(&self.nodes, self.root, height, writes).unwrap();
        self.nodes.extend(changes.nodes);
        let keys = objects
            .iter()
            .map(|(key, _)| (sha256(key).to_vec(), key.to_vec()));
        self.nodes.extend(keys);
        self.root = changes.root;
        if !objects.is_empty() {
            let leaf = leaf_hash(&height.to_be_bytes());
            self.log.append(leaf);
            self.leaves.0.push(leaf);
        }
        self.standing = Standing {
            height,
            time: UnixTime(NOW - 60 - 30 + height),
            size: self.log.size(),
            log: self.log.root(),
            state: self.root.hash,
        };
    }

    fn hand_over(&mut self, height: u64, set: ValidatorSet, signers: &[&str]) {
        self.block(height, &[(STATE_KEY, &set.to_bytes())]);
        self.handovers.push(Handover {
            note: self.note(&self.standing, signers),
            set,
            proof: prove(&self.nodes, self.root, STATE_KEY).unwrap(),
        });
    }

    pub(super) fn genesis(&self) -> TrustRoot {
        TrustRoot::of_genesis(ORIGIN, self.first.clone())
    }

    /// The checkpoint of this standing, signed by these signers.
    pub(super) fn note(&self, standing: &Standing, signers: &[&str]) -> String {
        let mut note = Checkpoint::of_block(ORIGIN, standing).to_note().unwrap();
        for name in signers {
            let private = private(name);
            assert_eq!(private.public().key_type(), KeyType::Ed25519);
            let key = VerifierKey::new(&format!("{ORIGIN}/{name}"), private.public()).unwrap();
            let signature = private.sign(note.signing_bytes()).unwrap();
            note.sign(&key, signature).unwrap();
        }
        note.to_string()
    }

    pub(super) fn present(&self) -> Bundle {
        self.read(KEY, Some(OBJECT))
    }

    pub(super) fn absent(&self) -> Bundle {
        self.read(b"did/none", None)
    }

    /// The transactions with these numbers and block heights.
    pub(super) fn entries(&self, numbers: &[(u64, u64)]) -> ProvenEntries {
        let third = set(&[("v1", 6), ("v2", 1), ("v3", 1), ("v5", 2)]);
        let entry = |(seq_no, height): &(u64, u64)| ProvenEntry {
            seq_no: *seq_no,
            height: *height,
            time: UnixTime(NOW - 60 - 30 + height),
            transaction: height.to_be_bytes().to_vec(),
            path: inclusion(seq_no - 1, self.log.size(), &self.leaves).unwrap(),
        };
        ProvenEntries {
            bundle: self.read(STATE_KEY, Some(&third.to_bytes())),
            entries: numbers.iter().map(entry).collect(),
        }
    }

    fn read(&self, key: &[u8], object: Option<&[u8]>) -> Bundle {
        Bundle {
            note: self.note(&self.standing, &["v1", "v2"]),
            key: key.to_vec(),
            value: object.map(<[u8]>::to_vec),
            proof: prove(&self.nodes, self.root, key).unwrap(),
            handovers: self.handovers.clone(),
        }
    }
}
