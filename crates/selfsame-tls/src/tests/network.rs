//! A registry in memory with one validator, citizens with DIDs in it, and their staples.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::selfsame::Network as NetworkName;
use selfsame_did::{Did, Options, Resolution};
use selfsame_proof::client::Client;
use selfsame_proof::read::{Bundle, ReadPolicy, TrustRoot};
use selfsame_proof::tree;
use selfsame_proof::validators::{Validator, ValidatorSet};
use selfsame_registry::{
    Block, Content, Genesis, Head, Identifier, Operation, Rules, StateError, StateMachine,
    StateRead, UnsignedTransaction, Writes,
};

use super::ssi::Subject;
use crate::SigningKey;
use crate::codec::Staple;
use crate::identity::{
    KnownState, Ledger, ListAnchor, NetworkRules, SsiIdentity, StaplePolicy, Stapling,
};
use crate::testing::NOW;

/// A network whose blocks are made and signed by one validator.
pub(super) struct Network {
    pub(super) machine: StateMachine,
    validator: PrivateKey,
    head: Head,
    state: Writes,
    nodes: BTreeMap<Vec<u8>, Vec<u8>>,
    nonce: u64,
}

/// A citizen with a DID of the network.
pub(super) struct Citizen {
    pub(super) subject: Subject,
    private: PrivateKey,
    version: u64,
}

impl Network {
    pub(super) fn new() -> Self {
        let validator = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let set = ValidatorSet::new(vec![Validator {
            name: "one".to_owned(),
            key: validator.public().clone(),
            power: 1,
            consensus: None,
        }]);
        let start = NOW.minus(86_400);
        let genesis = Genesis::new("test", start, set.unwrap(), Rules::default()).unwrap();
        let machine = StateMachine::new(genesis);
        Self {
            validator,
            head: Head::of_genesis(machine.genesis()),
            state: machine.first_objects().clone(),
            nodes: BTreeMap::new(),
            nonce: 0,
            machine,
        }
    }

    /// Makes a block at the time of the last one, with one operation signed by `author` with `key`.
    fn act(&mut self, (author, key): (Identifier, (&str, &PrivateKey)), operation: Operation) {
        self.nonce += 1;
        let network = self.machine.network().clone();
        let unsigned = UnsignedTransaction::new(&network, author, self.nonce, operation);
        let signature = key.1.sign(unsigned.signing_bytes()).unwrap();
        let transaction = unsigned.signed(key.0, &signature).unwrap();
        let results = self.block(self.head.time, &[transaction]);
        assert!(results.iter().all(Result::is_ok), "{results:?}");
    }

    /// Makes a block without transactions: a new checkpoint of the same state.
    pub(super) fn rest_until(&mut self, time: UnixTime) {
        self.block(time, &[]);
    }

    fn block(
        &mut self,
        time: UnixTime,
        transactions: &[selfsame_registry::Transaction],
    ) -> Vec<Result<selfsame_registry::Receipt, selfsame_registry::Refusal>> {
        let block = Block { time, transactions };
        let (state, nodes) = (&self.state, &self.nodes);
        let applied = self.machine.apply(&self.head, &block, state, nodes);
        let applied = applied.unwrap();
        for key in applied.objects.keys() {
            self.nodes.insert(sha256(key).to_vec(), key.clone());
        }
        self.state.extend(applied.objects);
        self.state.extend(applied.marks);
        self.nodes.extend(applied.tree.nodes);
        self.head = applied.head;
        applied.results
    }

    /// Registers a new DID.
    pub(super) fn citizen(&mut self) -> Citizen {
        let (private, key) = keys();
        let author = Identifier::of_key(private.public()).unwrap();
        let content = Content::of_key("key-1", private.public().clone());
        self.act((author, ("key-1", &private)), Operation::CreateDid(content));
        Citizen {
            subject: Subject {
                did: self.machine.did(author).unwrap(),
                public: private.public().clone(),
                key,
            },
            private,
            version: 1,
        }
    }

    fn id(&self, did: &Did) -> Identifier {
        Identifier::of_did(did, self.machine.network()).unwrap()
    }

    /// Replaces the DID's key with a new one.
    pub(super) fn rotate(&mut self, citizen: &mut Citizen) {
        let (private, key) = keys();
        let name = format!("key-{}", citizen.version);
        citizen.version += 1;
        let next = format!("key-{}", citizen.version);
        let operation = Operation::UpdateDid {
            version: citizen.version,
            content: Content::of_key(&next, private.public().clone()),
        };
        let author = self.id(&citizen.subject.did);
        self.act((author, (&name, &citizen.private)), operation);
        citizen.subject.public = private.public().clone();
        (citizen.subject.key, citizen.private) = (key, private);
    }

    pub(super) fn deactivate(&mut self, citizen: &mut Citizen) {
        let name = format!("key-{}", citizen.version);
        citizen.version += 1;
        let operation = Operation::DeactivateDid {
            version: citizen.version,
        };
        let author = self.id(&citizen.subject.did);
        self.act((author, (&name, &citizen.private)), operation);
    }

    pub(super) fn anchor(&mut self, citizen: &Citizen, list: &str, digest: [u8; 32]) {
        let name = format!("key-{}", citizen.version);
        let operation = Operation::AnchorStatus {
            list: list.to_owned(),
            digest,
            issued: self.head.time,
        };
        let author = self.id(&citizen.subject.did);
        self.act((author, (&name, &citizen.private)), operation);
    }

    /// A node's answer to a read.
    pub(super) fn read(&self, key: &[u8]) -> Bundle {
        let origin = self.origin();
        let mut note = self.head.checkpoint(&origin).to_note().unwrap();
        let signature = self.validator.sign(note.signing_bytes()).unwrap();
        let set = self.machine.genesis().validators();
        let verifier = set.validators()[0].verifier_key(&origin).unwrap();
        note.sign(&verifier, signature).unwrap();
        Bundle {
            note: note.to_string(),
            key: key.to_owned(),
            value: self.state.get(key).cloned(),
            proof: tree::prove(&self.nodes, self.head.tree, key).unwrap(),
            handovers: Vec::new(),
        }
    }

    fn origin(&self) -> String {
        format!("selfsame/{}", self.machine.network())
    }

    /// The staples that this DID can have now.
    pub(super) fn staples(&self, did: &Did) -> Vec<Staple> {
        self.staples_with(did, Vec::new())
    }

    pub(super) fn staples_with(&self, did: &Did, anchors: Vec<(Did, String)>) -> Vec<Staple> {
        let mut stapling = Stapling::new(&self.machine, vec![did.clone()], anchors);
        while let Some(key) = stapling.missing() {
            stapling.add(self.read(&key));
        }
        stapling.staples()
    }

    /// A client that knows the genesis.
    fn reader(&self) -> Arc<Mutex<Client>> {
        self.reader_of(self.machine.genesis().validators().clone())
    }

    fn reader_of(&self, set: ValidatorSet) -> Arc<Mutex<Client>> {
        let trust = TrustRoot::of_genesis(&self.origin(), set);
        let policy = ReadPolicy::genuine(60);
        Arc::new(Mutex::new(Client::new(trust, policy, 1 << 20)))
    }

    /// A policy that requires staples, with a ledger that knows only the genesis.
    pub(super) fn required(&self) -> StaplePolicy {
        StaplePolicy {
            required: true,
            ..StaplePolicy::new(self.ledger())
        }
    }

    pub(super) fn state(&self) -> &Writes {
        &self.state
    }

    /// A ledger that has pinned other validators' keys for this network.
    pub(super) fn ledger_with_other_validators(&self) -> Ledger {
        let other = Self::new();
        let set = other.machine.genesis().validators().clone();
        Ledger::new(self.rules(), self.reader_of(set))
    }

    fn rules(&self) -> Arc<StateMachine> {
        Arc::new(StateMachine::new(self.machine.genesis().clone()))
    }

    pub(super) fn ledger(&self) -> Ledger {
        Ledger::new(self.rules(), self.reader())
    }
}

impl Citizen {
    /// The citizen's identity by DID, with these staples.
    pub(super) fn with(&self, staples: Vec<Staple>) -> SsiIdentity {
        SsiIdentity {
            staples: staples.into(),
            ..self.subject.as_did()
        }
    }
}

/// A key for both the registry and TLS.
fn keys() -> (PrivateKey, SigningKey) {
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let der = pair.serialize_der();
    (
        PrivateKey::from_pkcs8(&der).unwrap(),
        SigningKey::from_pkcs8(&der).unwrap(),
    )
}

impl NetworkRules for StateMachine {
    fn network(&self) -> &NetworkName {
        self.network()
    }

    fn resolve(&self, state: &dyn KnownState, did: &Did) -> Resolution {
        self.resolve(&Known(state), did, &Options::default())
    }

    fn anchor(&self, state: &dyn KnownState, issuer: &Did, list: &str) -> Option<ListAnchor> {
        let anchor = self.status_anchor(&Known(state), issuer, list).ok()??;
        Some(ListAnchor {
            digest: anchor.digest,
            issued: anchor.issued,
        })
    }

    fn never_changes(&self, key: &[u8]) -> bool {
        Self::never_changes(key)
    }
}

struct Known<'a>(&'a dyn KnownState);

impl StateRead for Known<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        let known = self.0.get(key);
        known.ok_or_else(|| StateError("the value is not known".to_owned()))
    }
}
