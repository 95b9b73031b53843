//! A second chain for machine 1: the refusals that the first chain lacks, keys of every type, signatures that are
//! almost valid, and transactions of several operations.

use std::path::PathBuf;

use selfsame_crypto::encoding::{hex_decode, hex_encode};
use selfsame_crypto::{KeyType, PrivateKey, PublicKey};
use selfsame_did::selfsame::Network;
use selfsame_registry::anoncreds::RevocationEntry;
use selfsame_registry::content::{Key, Service, Uses};
use selfsame_registry::network::Mode;
use selfsame_registry::single_use::{Action, Delegation};
use selfsame_registry::transaction::Signature;
use selfsame_registry::{Content, Operation, Rules, Transaction, UnsignedTransaction};

use crate::golden::{Chain, comes_to_the_same, file};
use crate::world::{Actor, World, no_point};

pub const CHAIN: &str = "vectors/registry/machine-1b.txt";
const MALFORMED: &str = "vectors/registry/malformed-1.txt";
const MALFORMED_HEADER: &str = "\
Bytes that are no transaction to machine 1 (docs/registry-objects.md), in hex, and why: Ed25519 keys of small order, and
transactions cut, lengthened or changed by a byte. Made by selfsame-registry (tests/registry/golden_further.rs), and never
made again for this machine.
----
";
/// Maximum number of transactions in a block of this chain.
const ROOM: u64 = 6;
/// RFC 8032 §5.1: the order of the base point, little-endian.
const ED25519_ORDER: &str = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";
/// SEC 2, 2.4.2: the order of P-256, big-endian.
const P256_ORDER: &str = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";

fn path() -> PathBuf {
    file(CHAIN)
}

/// 32 bytes: the first, the last, and one value for all bytes between them.
fn edge(first: u8, between: u8, last: u8) -> [u8; 32] {
    let mut bytes = [between; 32];
    (bytes[0], bytes[31]) = (first, last);
    bytes
}

/// Ed25519 keys of small order, and keys in a non-canonical encoding (RFC 8032 §5.1.3).
fn edges() -> Vec<[u8; 32]> {
    let mut edges = vec![
        edge(1, 0, 0),
        edge(0, 0, 0),
        edge(0, 0, 0x80),
        edge(0xec, 0xff, 0x7f),
        edge(1, 0, 0x80),
    ];
    edges.extend((0xed..=0xff).map(|first| edge(first, 0xff, 0x7f)));
    edges
}

fn order(hex: &str) -> [u8; 32] {
    hex_decode(hex).unwrap().try_into().unwrap()
}

/// `a + b`, both little-endian.
fn sum(a: [u8; 32], b: [u8; 32]) -> [u8; 32] {
    let mut carry = 0;
    let mut digits = a.iter().zip(b);
    std::array::from_fn(|_| {
        let (a, b) = digits.next().unwrap();
        let digit = u16::from(*a) + u16::from(b) + carry;
        carry = digit >> 8;
        digit as u8
    })
}

/// `a - b`, both big-endian, where `b` is smaller.
fn difference(mut a: [u8; 32], b: [u8; 32]) -> [u8; 32] {
    let mut borrowed = 0;
    for (a, b) in a.iter_mut().zip(b).rev() {
        let digit = i16::from(*a) - i16::from(b) - borrowed;
        borrowed = i16::from(digit < 0);
        *a = digit as u8;
    }
    a
}

fn halves(signature: &[u8]) -> ([u8; 32], [u8; 32]) {
    let (first, second) = signature.split_at(32);
    (first.try_into().unwrap(), second.try_into().unwrap())
}

/// The author's next transaction, with a changed copy of its valid signature.
fn resigned(
    actor: &mut Actor,
    network: &Network,
    change: impl FnOnce(([u8; 32], [u8; 32])) -> [[u8; 32]; 2],
) -> Transaction {
    actor.nonce += 1;
    let operation = list_of(actor);
    let unsigned = UnsignedTransaction::new(network, actor.id, actor.nonce, operation);
    let signature = actor.key.sign(unsigned.signing_bytes()).unwrap();
    let changed = change(halves(&signature)).concat();
    unsigned.signed(&actor.key_id, &changed).unwrap()
}

/// A creation with these bytes as its Ed25519 key. Its signature has an R and S that verify for a key of small order.
fn of_edge(network: &Network, edge: [u8; 32], nonce: u64) -> Vec<u8> {
    let actor = Actor::new(KeyType::Ed25519);
    let unsigned = UnsignedTransaction::new(
        network,
        actor.id,
        nonce,
        Operation::CreateDid(actor.content()),
    );
    let mut identity = [0; 32];
    identity[0] = 1;
    let r = if nonce == 1 { identity } else { edge };
    let signature = Signature::new("key-1", &[r, [0; 32]].concat()).unwrap();
    let mut bytes = unsigned.signed_by(vec![signature]).unwrap().to_bytes();
    let key = actor.key.public().bytes();
    let at = bytes.windows(32).position(|window| window == key).unwrap();
    bytes[at..at + 32].copy_from_slice(&edge);
    bytes
}

/// An operation that anchors a status list newer than the author's earlier ones.
fn list_of(actor: &Actor) -> Operation {
    Operation::AnchorStatus {
        list: "https://a.example/1".to_owned(),
        digest: [1; 32],
        issued: selfsame_crypto::time::UnixTime(1_000 + actor.nonce),
    }
}

fn key(id: &str, public: PublicKey, uses: Uses) -> Key {
    Key {
        id: id.to_owned(),
        public,
        uses,
    }
}

impl Chain {
    /// Adds the refusals that the first chain lacks.
    fn refusals(&mut self, [owner, other]: [&mut Actor; 2]) {
        let network = self.world.network().clone();
        let create = owner.create(&network);
        let stranger = Actor {
            id: other.id,
            key: PrivateKey::generate(KeyType::Ed25519).unwrap(),
            key_id: "key-1".to_owned(),
            nonce: 0,
        };
        let taken = stranger.sign_with_nonce(&network, 1, Operation::CreateDid(stranger.content()));
        let elsewhere = World::new().network().clone();
        let elsewhere = owner.sign(&elsewhere, Operation::DeactivateDid { version: 2 });
        self.block(&[create, taken, elsewhere]);
        let unknown = RevocationEntry {
            registry: "did:selfsame:none".to_owned(),
            before: None,
            after: String::new(),
            issued: Vec::new(),
            revoked: Vec::new(),
        };
        let unknown = self.signed(owner, vec![Operation::RevocationEntry(unknown)]);
        let mut large = owner.content();
        large.also_known_as = vec![format!("a:{}", "b".repeat(9_000))];
        let large = owner.update(&network, 2, large);
        self.block(&[unknown, large]);
        for content in contents(owner) {
            let refused = owner.update(&network, 2, content);
            self.block(&[refused]);
        }
        let more: Vec<_> = (0..=ROOM)
            .map(|_| self.signed(owner, vec![list_of(owner)]))
            .collect();
        self.block(&more);
    }

    /// Adds documents with keys of every type, and shows which key types may sign.
    fn keys(&mut self, owner: &mut Actor) {
        let network = self.world.network().clone();
        let own = [KeyType::Ed25519, KeyType::P256].map(|kind| PrivateKey::generate(kind).unwrap());
        let mut publics = own
            .each_ref()
            .map(|private| private.public().clone())
            .to_vec();
        publics.extend(others());
        let mut content = owner.content();
        for (n, public) in publics.iter().enumerate() {
            let key = key(&format!("k{n}"), public.clone(), Uses::SIGNING);
            content.keys.push(key);
        }
        let all = owner.update(&network, 2, content);
        let signed: Vec<_> = (0..publics.len())
            .map(|n| {
                owner.nonce += 1;
                let unsigned =
                    UnsignedTransaction::new(&network, owner.id, owner.nonce, list_of(owner));
                // The private keys of the other types are unknown; those types may not sign transactions anyway.
                let private = own.get(n).unwrap_or(&own[0]);
                let signature = private.sign(unsigned.signing_bytes()).unwrap();
                unsigned.signed(&format!("k{n}"), &signature).unwrap()
            })
            .collect();
        self.block(&[all]);
        self.block(&signed);
    }

    /// Adds signatures that are almost valid, or valid in another encoding.
    fn signatures(&mut self, [edwards, weierstrass]: [&mut Actor; 2]) {
        let network = self.world.network().clone();
        let create = [&mut *edwards, &mut *weierstrass].map(|actor| actor.create(&network));
        self.block(&create);
        let (l, n) = (order(ED25519_ORDER), order(P256_ORDER));
        let zero = [0; 32];
        let edwards = [
            resigned(edwards, &network, |(r, s)| [r, sum(s, l)]),
            resigned(edwards, &network, |(_, s)| [zero, s]),
            resigned(edwards, &network, |(r, _)| [r, zero]),
            resigned(edwards, &network, |(_, _)| [[0xff; 32]; 2]),
        ];
        self.block(&edwards);
        let weierstrass = [
            resigned(weierstrass, &network, |(r, s)| [r, difference(n, s)]),
            resigned(weierstrass, &network, |(_, s)| [zero, s]),
            resigned(weierstrass, &network, |(r, _)| [r, zero]),
            resigned(weierstrass, &network, |(_, s)| [n, s]),
            resigned(weierstrass, &network, |(r, _)| [r, n]),
        ];
        self.block(&weierstrass);
    }

    /// Adds transactions that are accepted as a whole or refused as a whole.
    fn batches(&mut self, [owner, other]: [&mut Actor; 2]) {
        let delegation = |name: &str| {
            Operation::Delegate(Delegation {
                name: name.to_owned(),
                to: owner.id,
                scope: vec!["T".to_owned()],
                action: Action::Revoke,
                until: self.world.time.plus(1_000),
            })
        };
        let create = Operation::CreateDid(other.content());
        let (list, end) = (list_of(other), Operation::DeactivateDid { version: 2 });
        let late = vec![
            create.clone(),
            list.clone(),
            delegation("a"),
            delegation("a"),
        ];
        let out_of_order = vec![list.clone(), create.clone()];
        let after_the_end = vec![create.clone(), end.clone(), list.clone()];
        let whole = vec![create, list, delegation("a"), delegation("b")];
        let withdrawn = Operation::WithdrawDelegation {
            name: "a".to_owned(),
        };
        let ends = vec![withdrawn.clone(), end];
        let (twice, many) = (vec![withdrawn.clone(), withdrawn], vec![list_of(owner); 2]);
        for operations in [late, out_of_order, after_the_end, whole, twice, ends] {
            let transaction = self.signed(other, operations);
            self.block(&[transaction]);
        }
        let many = self.signed(owner, many);
        self.block(&[many]);
    }
}

/// Keys of types that cannot sign transactions: the base points of P-384 and secp256k1 (SEC 2), and an RSA modulus.
fn others() -> [PublicKey; 3] {
    let p384 = "03aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7";
    let secp256k1 = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    let rsa = format!("3082010a0282010100{}0203010001", "c5".repeat(256));
    let types = [
        (KeyType::P384, p384),
        (KeyType::Secp256k1, secp256k1),
        (KeyType::Rsa, &rsa),
    ];
    types.map(|(key_type, hex)| PublicKey::from_raw(key_type, &hex_decode(hex).unwrap()).unwrap())
}

/// Contents of the owner's DID document that are refused, each for one reason.
fn contents(owner: &Actor) -> Vec<Content> {
    let with = |change: &dyn Fn(&mut Content)| {
        let mut content = owner.content();
        change(&mut content);
        content
    };
    let add = |id: &str, public: &PublicKey, uses| {
        with(&|content| content.keys.push(key(id, public.clone(), uses)))
    };
    let serve = |id: &str, kind: &str, endpoint: &str| {
        with(&|content| {
            content.services.push(Service {
                id: id.to_owned(),
                kind: kind.to_owned(),
                endpoint: endpoint.to_owned(),
            });
        })
    };
    let public = owner.key.public();
    let edwards = PrivateKey::generate(KeyType::Ed25519).unwrap();
    vec![
        with(&|content| content.keys.clear()),
        with(&|content| content.keys[0].uses = Uses::AUTHENTICATION),
        add("a b", public, Uses::SIGNING),
        add("key-1", public, Uses::SIGNING),
        add("agreement", edwards.public(), Uses::AGREEMENT),
        add("no-point", &no_point(), Uses::SIGNING),
        serve("s", "", "https://a.example/"),
        serve("s", "T", "a"),
        with(&|content| content.also_known_as = vec!["a:\"".to_owned()]),
        with(&|content| content.also_known_as = vec!["a:b".to_owned(); 11]),
        with(&|content| content.also_known_as = vec![format!("a:{}", "b".repeat(512))]),
        with(&|content| {
            content.keys = (0..21)
                .map(|n| key(&format!("k{n}"), public.clone(), Uses::SIGNING))
                .collect();
        }),
    ]
}

fn made() -> String {
    let (mut world, _) = World::governed(Mode::Open);
    let rules = Rules {
        max_block_transactions: ROOM,
        max_transaction_bytes: 8 * 1024,
        ..Rules::default()
    };
    let genesis = world.machine.genesis().clone();
    let (time, validators) = (genesis.time(), genesis.validators().clone());
    world = World::of(selfsame_registry::Genesis::new("test", time, validators, rules).unwrap());
    let mut chain = Chain::begin(world);
    let mut actors = [
        KeyType::P256,
        KeyType::Ed25519,
        KeyType::Ed25519,
        KeyType::P256,
    ]
    .map(Actor::new);
    let [owner, other, edwards, weierstrass] = &mut actors;
    chain.refusals([&mut *owner, &mut *other]);
    chain.keys(owner);
    chain.signatures([edwards, weierstrass]);
    chain.batches([owner, other]);
    chain.made
}

/// To be run only for a machine that no network uses yet.
#[test]
#[ignore = "writes the vector"]
fn write_the_vector_of_the_second_golden_chain() {
    std::fs::write(path(), made()).unwrap();
}

#[test]
fn the_second_golden_chain_comes_to_what_it_came_to_when_it_was_made() {
    comes_to_the_same(&path());
}

/// Byte strings that are not transactions, each with the reason.
fn made_malformed() -> String {
    let mut made = MALFORMED_HEADER.to_owned();
    let world = World::new();
    let mut actor = Actor::new(KeyType::Ed25519);
    let good = actor.create(world.network()).to_bytes();
    let with = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        bytes
    };
    let mut all: Vec<_> = edges()
        .into_iter()
        .map(|edge| of_edge(world.network(), edge, 1))
        .collect();
    all.push(Vec::new());
    all.push(with(&|bytes| bytes.push(0)));
    all.extend((0..8).map(|at| with(&|bytes| bytes.truncate(bytes.len() - 1 - at * 20))));
    // Each byte changed once: most of the results are still transactions, with another meaning or signature.
    all.extend((0..good.len()).map(|at| with(&|bytes| bytes[at] ^= 0x81)));
    for bytes in all {
        let Err(why) = Transaction::from_bytes(&bytes) else {
            continue;
        };
        made.push_str(&format!("{} {why}\n", hex_encode(&bytes)));
    }
    made
}

/// To be run only for a machine that no network uses yet.
#[test]
#[ignore = "writes the vector"]
fn write_the_vector_of_what_is_no_transaction() {
    std::fs::write(file(MALFORMED), made_malformed()).unwrap();
}

#[test]
fn what_machine_1_refused_to_read_as_a_transaction_is_still_refused() {
    let kept = std::fs::read_to_string(file(MALFORMED)).unwrap();
    let (_, lines) = kept.split_once("----\n").unwrap();
    for line in lines.lines() {
        let (hex, why) = line.split_once(' ').unwrap_or(("", line.trim_start()));
        let read = Transaction::from_bytes(&hex_decode(hex).unwrap());
        assert_eq!(read.unwrap_err().to_string(), why, "{hex}");
    }
    assert!(lines.lines().count() > 50);
}
