//! A client with a DID, which signs transactions.

use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::Did;
use selfsame_driver::clock::Clock;
use selfsame_registry::single_use::{Action, Consume, Delegation};
use selfsame_registry::transaction::Body;
use selfsame_registry::{
    Content, Genesis, Identifier, Operation, Rules, Transaction, UnsignedTransaction,
};

use crate::cluster::{Cluster, until};

/// A client with a DID.
pub struct Actor {
    pub did: Did,
    network: selfsame_did::selfsame::Network,
    id: Identifier,
    key: PrivateKey,
}

impl Actor {
    pub fn new(genesis: &Genesis) -> Self {
        Self::of(genesis, PrivateKey::generate(KeyType::Ed25519).unwrap())
    }

    pub fn of(genesis: &Genesis, key: PrivateKey) -> Self {
        let network = genesis.network();
        let id = Identifier::of_key(key.public()).unwrap();
        Self {
            did: selfsame_did::selfsame::create(&network, key.public()),
            network,
            id,
            key,
        }
    }

    /// The state key with the DID's current version.
    pub fn state_key(&self) -> Vec<u8> {
        format!("did/{}", self.id).into_bytes()
    }

    /// Waits until every node proves the DID, that is until enough validators have signed a state with it.
    pub async fn is_proven_on_all(&self, cluster: &Cluster) {
        let key = self.state_key();
        for node in cluster.alive() {
            let proven = async || node.proves(&cluster.genesis, &key).await.is_some();
            until("it is proven", proven).await;
        }
    }

    pub fn create(&self) -> Transaction {
        self.signed(0, self.creation(), &self.key)
    }

    pub fn deactivate(&self, nonce: u64) -> Transaction {
        self.signed(nonce, Operation::DeactivateDid { version: 2 }, &self.key)
    }

    pub fn remove_validator(&self, nonce: u64, name: &str) -> Transaction {
        let operation = Operation::ChangeValidators {
            add: Vec::new(),
            remove: vec![name.to_owned()],
        };
        self.signed(nonce, operation, &self.key)
    }

    /// Creates the DID, and lets these delegates consume its credentials.
    pub fn begin_with_delegates(&self, delegates: &[&Self]) -> Transaction {
        let until = Clock::default().now().plus(86_400);
        let delegate = |(n, to): (usize, &&Self)| {
            Operation::Delegate(Delegation {
                name: format!("d{n}"),
                to: to.id,
                scope: vec!["T".to_owned()],
                action: Action::Consume,
                until,
            })
        };
        let mut operations = vec![self.creation()];
        operations.extend(delegates.iter().enumerate().map(delegate));
        self.sign(Body::new(&self.network, self.id, 0, operations), &self.key)
    }

    /// Consumes another's credential, by the delegation of that number.
    pub fn consume(&self, nonce: u64, (issuer, handle, n): (&Self, u8, usize)) -> Transaction {
        let operation = Operation::Consume(Consume {
            issuer: issuer.id,
            kind: "T".to_owned(),
            handle: [handle; 32],
            action: Action::Consume,
            delegation: Some(format!("d{n}")),
        });
        self.signed(nonce, operation, &self.key)
    }

    /// Makes the network switch to a machine version at a height.
    pub fn go_over(&self, nonce: u64, (machine_version, from_height): (u64, u64)) -> Transaction {
        let rules = Rules {
            machine_version,
            ..Rules::default()
        };
        let operation = Operation::ChangeRules { from_height, rules };
        self.signed(nonce, operation, &self.key)
    }

    /// A transaction that would be allowed with a signature, without the signature.
    pub fn unsigned(&self) -> Vec<u8> {
        let unsigned = UnsignedTransaction::new(&self.network, self.id, 0, self.creation());
        unsigned.signing_bytes().to_vec()
    }

    /// A creation that contains a service address of this many bytes.
    pub fn create_with(&self, bytes: usize) -> Transaction {
        let mut content = Content::of_key("key-1", self.key.public().clone());
        content.also_known_as = vec![format!("https://example.org/{}", "a".repeat(bytes))];
        self.signed(0, Operation::CreateDid(content), &self.key)
    }

    pub fn signed_by_another(&self) -> Transaction {
        let another = PrivateKey::generate(KeyType::Ed25519).unwrap();
        self.signed(7, Operation::DeactivateDid { version: 2 }, &another)
    }

    fn creation(&self) -> Operation {
        Operation::CreateDid(Content::of_key("key-1", self.key.public().clone()))
    }

    fn signed(&self, nonce: u64, operation: Operation, key: &PrivateKey) -> Transaction {
        self.sign(
            Body::new(&self.network, self.id, nonce, vec![operation]),
            key,
        )
    }

    fn sign(&self, body: Body, key: &PrivateKey) -> Transaction {
        let unsigned = UnsignedTransaction::of(body);
        let signature = key.sign(unsigned.signing_bytes()).unwrap();
        unsigned.signed("key-1", &signature).unwrap()
    }
}
