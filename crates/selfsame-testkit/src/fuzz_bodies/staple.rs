//! Properties of a staple: proofs from a registry that a peer sends in its TLS handshake.

use std::sync::{Arc, LazyLock, Mutex};

use selfsame_crypto::PrivateKey;
use selfsame_crypto::encoding::hex_decode;
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_ledger::MachineRules;
use selfsame_proof::cbor::CborItem;
use selfsame_proof::client::Client;
use selfsame_proof::read::{Bundle, ReadPolicy, TrustRoot};
use selfsame_proof::tree;
use selfsame_proof::validators::{Validator, ValidatorSet};
use selfsame_registry::{
    Block, Content, Genesis, Head, Identifier, Operation, Rules, StateMachine, UnsignedTransaction,
    Writes,
};
use selfsame_tls::identity::staple::{self, Reads};
use selfsame_tls::identity::{Ledger, Staple, StaplePolicy, Stapling};

use super::tls::KEY;

const NOW: UnixTime = UnixTime(1_790_000_000);

/// A staple: it has exactly one encoding. A staple that proves a DID of the network contains only what the network
/// signed.
pub fn tls_staple(data: &[u8]) -> bool {
    let Ok(reads) = Reads::from_cbor(data) else {
        return false;
    };
    assert_eq!(reads.to_cbor(), data, "a staple has one form");
    let network = &*NETWORK;
    let stapled = StaplePolicy::new(network.ledger());
    let staple = Staple {
        kind: staple::READS,
        body: data.to_vec(),
    };
    if staple::judge(&stapled, &staple, &network.did, NOW).is_ok() {
        let genuine = |read| network.genuine.reads.contains(read);
        assert!(reads.reads.iter().all(genuine), "nothing else was signed");
        assert_eq!(reads.note, network.genuine.note);
    }
    true
}

/// A staple that proves a DID.
pub(super) fn staple_seeds() -> Vec<Vec<u8>> {
    vec![NETWORK.genuine.to_cbor()]
}

/// A network of one validator with one DID, and its genuine staple.
struct StapleNetwork {
    genesis: Genesis,
    did: Did,
    genuine: Reads,
}

impl StapleNetwork {
    fn ledger(&self) -> Ledger {
        let origin = format!("selfsame/{}", self.genesis.network());
        let trust = TrustRoot::of_genesis(&origin, self.genesis.validators().clone());
        let policy = ReadPolicy::genuine(0);
        let client = Client::new(trust, policy, 1 << 16);
        let rules = MachineRules(Arc::new(StateMachine::new(self.genesis.clone())));
        Ledger::new(Arc::new(rules), Arc::new(Mutex::new(client)))
    }
}

static NETWORK: LazyLock<StapleNetwork> = LazyLock::new(|| {
    let key = PrivateKey::from_pkcs8(&hex_decode(KEY).expect("hex")).expect("a key");
    let validator = Validator {
        name: "one".to_owned(),
        key: key.public().clone(),
        power: 1,
        consensus: None,
    };
    let set = ValidatorSet::new(vec![validator]).expect("a set of one");
    let genesis = Genesis::new("fuzz", NOW, set, Rules::default()).expect("a genesis");
    let machine = Arc::new(StateMachine::new(genesis.clone()));
    let author = Identifier::of_key(key.public()).expect("an identifier");
    let content = Content::of_key("key-1", key.public().clone());
    let creation =
        UnsignedTransaction::new(machine.network(), author, 1, Operation::CreateDid(content));
    let signature = key.sign(creation.signing_bytes()).expect("a signature");
    let creation = creation.signed("key-1", &signature).expect("a transaction");
    let (state, nodes) = (machine.first_objects().clone(), Writes::new());
    let block = Block {
        time: NOW,
        transactions: &[creation],
    };
    let head = Head::of_genesis(&genesis);
    let applied = machine.apply(&head, &block, &state, &nodes);
    let applied = applied.expect("a block");
    let tree: Writes = applied.tree.nodes.iter().cloned().collect();

    let origin = format!("selfsame/{}", machine.network());
    let verifier = genesis.validators().validators()[0].verifier_key(&origin);
    let mut note = applied.head.checkpoint(&origin).to_note().expect("a note");
    let signature = key.sign(note.signing_bytes()).expect("a signature");
    note.sign(&verifier.expect("a key"), signature)
        .expect("a signed note");
    let did = machine.did(author).expect("a DID");
    let rules = MachineRules(Arc::clone(&machine));
    let mut stapling = Stapling::new(&rules, vec![did.clone()], Vec::new());
    while let Some(key) = stapling.missing() {
        stapling.add(Bundle {
            note: note.to_string(),
            value: applied.objects.get(&key).cloned(),
            proof: tree::prove(&tree, applied.head.tree, &key).expect("a proof"),
            key,
            handovers: Vec::new(),
        });
    }
    let staple = stapling.staples().pop().expect("a staple");
    let genuine = Reads::from_cbor(&staple.body).expect("it is read");
    StapleNetwork {
        genesis,
        did,
        genuine,
    }
});
