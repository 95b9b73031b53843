//! Properties of the registry's inputs from outside: transactions and geneses.

use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PublicKey, hash};
use selfsame_proof::cbor::CborItem as _;
use selfsame_proof::validators::{Validator, ValidatorSet};
use selfsame_registry::network::{Member, Role};
use selfsame_registry::transaction::Body;
use selfsame_registry::{
    Block, Content, Genesis, Head, Identifier, Operation, Rules, StateMachine, Transaction,
    UnsignedTransaction, Writes,
};

const VECTORS: &str = include_str!("../../../selfsame-registry/vectors/operations.txt");
/// RFC 8032 §7.1, test 1: the public key.
const KEY: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
const START: UnixTime = UnixTime(1_750_000_000);

/// Transactions: each has exactly one encoding. The machine judges it without failing, before a block as in a block,
/// and a refused transaction changes nothing.
pub fn transaction(data: &[u8]) -> bool {
    let Ok(transaction) = Transaction::from_bytes(data) else {
        return false;
    };
    assert_eq!(transaction.to_bytes(), data, "a transaction has one form");
    assert_eq!(
        transaction.hash(),
        hash::sha256(transaction.unsigned_bytes())
    );
    let genesis = genesis_of_one();
    let (head, machine) = (Head::of_genesis(&genesis), StateMachine::new(genesis));
    let state = Writes::new();
    let checked = machine.check(&transaction, &head, START, &state);
    let block = Block {
        time: START,
        transactions: &[transaction],
    };
    let applied = machine
        .apply(&head, &block, &state, &state)
        .expect("a block after the genesis");
    let accepted = !applied.logged.is_empty();
    assert_eq!(checked.is_ok(), accepted, "checking and applying agree");
    if !accepted {
        assert_eq!(&applied.objects, machine.first_objects());
        assert!(
            applied.marks.is_empty(),
            "a refused transaction leaves no mark"
        );
    }
    true
}

/// Geneses: each has exactly one encoding, and a machine can start from it.
pub fn genesis(data: &[u8]) -> bool {
    let Ok(genesis) = Genesis::from_bytes(data) else {
        return false;
    };
    assert_eq!(genesis.to_bytes(), data, "a genesis has one form");
    let state = Writes::new();
    let machine = StateMachine::new(genesis.clone());
    let rules = machine.rules(&state, 1).expect("a network has rules");
    assert_eq!(rules, *genesis.rules());
    let validators = machine
        .validators(&state)
        .expect("a network has validators");
    assert_eq!(validators, *genesis.validators());
    for member in genesis.members() {
        let did = member
            .id()
            .and_then(|id| machine.did(id))
            .expect("a member has a DID");
        assert_eq!(machine.role(&state, &did), Ok(Some(member.role)));
    }
    true
}

fn key() -> PublicKey {
    let bytes = selfsame_crypto::encoding::hex_decode(KEY).expect("hex");
    PublicKey::from_raw(KeyType::Ed25519, &bytes).expect("a key")
}

fn genesis_of_one() -> Genesis {
    let validator = Validator {
        name: "one".to_owned(),
        key: key(),
        power: 1,
        consensus: None,
    };
    let validators = ValidatorSet::new(vec![validator]).expect("a set of one");
    let genesis = Genesis::new("fuzz", START, validators, Rules::default()).expect("a genesis");
    let member = Member {
        key: key(),
        role: Role::Trustee,
    };
    genesis.with_members(vec![member]).expect("a trustee")
}

pub(super) fn genesis_seeds() -> Vec<Vec<u8>> {
    vec![genesis_of_one().to_bytes()]
}

/// One transaction for each operation, one with all operations, and one that creates a DID. No signature is valid.
pub(super) fn transaction_seeds() -> Vec<Vec<u8>> {
    let network = genesis_of_one().network();
    let author = Identifier::of_key(&key()).expect("an identifier");
    let (_, vectors) = VECTORS.split_once("----\n").expect("vectors");
    let mut operations: Vec<Operation> = vectors
        .lines()
        .filter_map(|line| selfsame_crypto::encoding::hex_decode(line.split_once(": ")?.1).ok())
        .filter_map(|bytes| Operation::from_cbor(&bytes).ok())
        .collect();
    operations.push(Operation::CreateDid(Content::of_key("key-1", key())));
    let bodies = operations
        .iter()
        .map(|operation| Body::new(&network, author, 1, vec![operation.clone()]));
    let all = Body::new(&network, author, 2, operations.clone());
    bodies
        .chain([all])
        .filter_map(|body| UnsignedTransaction::of(body).signed("key-1", &[0; 64]).ok())
        .map(|transaction| transaction.to_bytes())
        .collect()
}
