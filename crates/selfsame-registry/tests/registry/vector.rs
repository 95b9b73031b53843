//! The example of docs/did-method.md: fixed keys must give these bytes on every machine, permanently.

use selfsame_crypto::encoding::{hex_decode, hex_encode};
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{PrivateKey, PublicKey};
use selfsame_proof::validators::{Validator, ValidatorSet};
use selfsame_registry::{
    Content, Genesis, Identifier, Operation, Rules, Transaction, UnsignedTransaction, Writes,
};

use crate::world::{World, is_kept, keep};

const FILE: &str = "../../docs/did-method.md";
const SPECIFICATION: &str = include_str!("../../../../docs/did-method.md");

/// RFC 8032 §7.1, tests 1 and 2.
const AUTHOR: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
const CHECKPOINT: &str = "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb";

/// RFC 8410 §7: an Ed25519 seed as PKCS#8.
fn key(seed: &str) -> PrivateKey {
    let pkcs8 = format!("302e020100300506032b657004220420{seed}");
    PrivateKey::from_pkcs8(&hex_decode(&pkcs8).unwrap()).unwrap()
}

fn genesis(checkpoint: &PublicKey) -> Genesis {
    let rules = Rules::default();
    let validators = ValidatorSet::new(vec![Validator {
        name: "one".to_owned(),
        key: checkpoint.clone(),
        power: 1,
        consensus: None,
    }]);
    let time = UnixTime(1_750_000_000);
    Genesis::new("example", time, validators.unwrap(), rules).unwrap()
}

/// Hex in lines, as the specification prints it.
fn lines(bytes: &[u8]) -> String {
    let hex = hex_encode(bytes);
    let chunks: Vec<&str> = (0..hex.len())
        .step_by(80)
        .map(|at| &hex[at..hex.len().min(at + 80)])
        .collect();
    chunks.join("\n")
}

fn example() -> Vec<(&'static str, String)> {
    let (author, checkpoint) = (key(AUTHOR), key(CHECKPOINT));
    let genesis = genesis(checkpoint.public());
    let mut world = World::of(genesis.clone());
    let id = Identifier::of_key(author.public()).unwrap();
    let content = Content::of_key("key-1", author.public().clone());
    let unsigned = UnsignedTransaction::new(world.network(), id, 1, Operation::CreateDid(content));
    let signature = author.sign(unsigned.signing_bytes()).unwrap();
    let tx = unsigned.signed("key-1", &signature).unwrap();
    world.submit(tx.clone()).unwrap();
    let state = |state: &Writes| -> String {
        let line = |(key, value): (&Vec<u8>, &Vec<u8>)| {
            format!(
                "{}\n{}",
                String::from_utf8(key.clone()).unwrap(),
                lines(value)
            )
        };
        state.iter().map(line).collect::<Vec<_>>().join("\n")
    };
    vec![
        ("Genesis", lines(&genesis.to_bytes())),
        ("DID", world.machine.did(id).unwrap().to_string()),
        ("CreateDid, nonce 1", lines(&tx.to_bytes())),
        ("Its hash", lines(&tx.hash())),
        (
            "State after a block with it at the time of the genesis",
            state(&world.state),
        ),
        ("Log root", lines(&world.head.log.root())),
        ("State root", lines(&world.head.tree.hash)),
        ("App hash", lines(&world.head.app_hash())),
    ]
}

fn specification() -> String {
    let text: Vec<String> = example()
        .into_iter()
        .map(|(title, value)| format!("{title}:\n\n```\n{value}\n```\n"))
        .collect();
    let marker = "test 1, the checkpoint's that of test 2.\n\n";
    let (before, _) = SPECIFICATION.split_once(marker).unwrap();
    [before, marker, &text.join("\n")].concat()
}

#[test]
fn the_example_of_the_specification_is_what_the_machine_makes() {
    is_kept(FILE, &specification());
}

#[test]
#[ignore = "writes the example"]
fn write_the_vector_of_the_specification() {
    keep(FILE, &specification());
}

#[test]
fn the_transaction_of_the_specification_reads() {
    let (_, rest) = SPECIFICATION
        .split_once("CreateDid, nonce 1:\n\n```\n")
        .unwrap();
    let (hex, _) = rest.split_once("\n```").unwrap();
    let tx = Transaction::from_bytes(&hex_decode(&hex.replace('\n', "")).unwrap()).unwrap();
    assert_eq!(tx.signatures()[0].key, "key-1");
}
