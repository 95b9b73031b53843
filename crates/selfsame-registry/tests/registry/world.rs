//! A network in memory, and actors that write to it.

use std::path::{Path, PathBuf};

use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey, PublicKey};
use selfsame_did::Did;
use selfsame_did::selfsame::Network;
use selfsame_proof::validators::{Validator, ValidatorSet};
use selfsame_registry::network::{Member, Mode, Role};
use selfsame_registry::refusal::CheckError;
use selfsame_registry::transaction::{Body, Signature};
use selfsame_registry::{
    Applied, Block, Content, Genesis, Head, Identifier, Operation, Receipt, Refusal, Rules,
    StateError, StateMachine, StateRead, Transaction, UnsignedTransaction, Writes,
};

pub const START: UnixTime = UnixTime(1_750_000_000);

pub struct World {
    pub machine: StateMachine,
    pub head: Head,
    pub state: Writes,
    pub nodes: Writes,
    pub time: UnixTime,
}

/// One validator of power 1.
pub fn validators() -> ValidatorSet {
    ValidatorSet::new(vec![validator("one", 1)]).unwrap()
}

pub fn validator(name: &str, power: u64) -> Validator {
    let key = || {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        key.public().clone()
    };
    Validator {
        name: name.to_owned(),
        key: key(),
        power,
        consensus: Some(key()),
    }
}

/// Checks that a file of this package equals the test's output.
pub fn is_kept(path: &str, made: &str) {
    let kept = std::fs::read_to_string(file(path)).unwrap();
    let differs = kept.lines().zip(made.lines()).find(|(a, b)| a != b);
    assert_eq!(differs, None, "{path}");
    assert!(kept == made, "{path} is longer or shorter");
}

/// Writes the test's output to a file, so that a person can review the difference.
pub fn keep(path: &str, made: &str) {
    std::fs::write(file(path), made).unwrap();
}

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// An Ed25519 key that can be parsed but is not a point of the curve: y = 2.
pub fn no_point() -> PublicKey {
    let mut bytes = [0; 32];
    bytes[0] = 2;
    PublicKey::from_raw(KeyType::Ed25519, &bytes).unwrap()
}

pub type Answer = Result<Receipt, Refusal>;

impl World {
    pub fn new() -> Self {
        Self::with_rules(Rules::default())
    }

    pub fn with_rules(rules: Rules) -> Self {
        Self::of(Genesis::new("test", START, validators(), rules).unwrap())
    }

    pub fn of(genesis: Genesis) -> Self {
        let head = Head::of_genesis(&genesis);
        let machine = StateMachine::new(genesis);
        // The first block writes them as well, so a refusal in that block must not change the state either.
        let state = machine.first_objects().clone();
        Self {
            machine,
            head,
            state,
            nodes: Writes::new(),
            time: START,
        }
    }

    /// A network with a trustee, a steward and an endorser; their actors are returned in this order.
    pub fn governed(mode: Mode) -> (Self, [Actor; 3]) {
        let rules = Rules {
            mode,
            ..Rules::default()
        };
        let actors = [(); 3].map(|()| Actor::new(KeyType::Ed25519));
        let roles = [Role::Trustee, Role::Steward, Role::Endorser];
        let member = |(actor, role): (&Actor, Role)| Member {
            key: actor.key.public().clone(),
            role,
        };
        let members = actors.iter().zip(roles).map(member).collect();
        let genesis = Genesis::new("test", START, validators(), rules).unwrap();
        (Self::of(genesis.with_members(members).unwrap()), actors)
    }

    /// Submits an actor's operations as one transaction.
    pub fn act(&mut self, actor: &mut Actor, operations: Vec<Operation>) -> Answer {
        let network = self.network().clone();
        let body = actor.body(&network, operations);
        let tx = actor.transaction(body, None);
        self.submit(tx)
    }

    /// Submits an actor's operations as one transaction with an endorser's signature.
    pub fn act_endorsed(
        &mut self,
        actor: &mut Actor,
        endorser: &Actor,
        operations: Vec<Operation>,
    ) -> Answer {
        let network = self.network().clone();
        let mut body = actor.body(&network, operations);
        body.endorser = Some(endorser.id);
        let tx = actor.transaction(body, Some(endorser));
        self.submit(tx)
    }

    pub fn network(&self) -> &Network {
        self.machine.network()
    }

    pub fn did(&self, actor: &Actor) -> Did {
        self.machine.did(actor.id).unwrap()
    }

    /// Applies a block and stores it, as a sequencer does.
    pub fn block(&mut self, transactions: &[Transaction]) -> Applied {
        let block = Block {
            time: self.time,
            transactions,
        };
        let applied = self
            .machine
            .apply(&self.head, &block, &self.state, &self.nodes)
            .unwrap();
        self.state.extend(applied.objects.clone());
        self.state.extend(applied.marks.clone());
        self.nodes.extend(applied.tree.nodes.clone());
        for stale in &applied.tree.stale {
            self.nodes.remove(stale);
        }
        self.head = applied.head.clone();
        applied
    }

    /// Applies one transaction in a block of its own; `check` must give the same result beforehand.
    pub fn submit(&mut self, tx: Transaction) -> Answer {
        let checked = self.machine.check(&tx, &self.head, self.time, &self.state);
        let before = (self.state.clone(), self.head.log.clone());
        let applied = self.block(&[tx]);
        let answer = applied.results[0];
        match (checked, answer) {
            (Ok(None), Ok(_)) => assert_eq!(applied.logged, [0]),
            (Ok(Some(known)), Ok(receipt)) => assert_eq!(known, receipt),
            (Err(CheckError::Refused(checked)), Err(refusal)) => assert_eq!(checked, refusal),
            other => panic!("check and apply disagree: {other:?}"),
        }
        if applied.logged.is_empty() {
            assert_eq!(
                (&self.state, &self.head.log),
                (&before.0, &before.1),
                "nothing changed"
            );
        }
        answer
    }

    pub fn registered(&mut self, key_type: KeyType) -> Actor {
        let mut actor = Actor::new(key_type);
        let create = actor.create(self.network());
        self.submit(create).unwrap();
        actor
    }
}

pub struct Actor {
    pub id: Identifier,
    pub key: PrivateKey,
    pub key_id: String,
    pub nonce: u64,
}

impl Actor {
    pub fn new(key_type: KeyType) -> Self {
        let key = PrivateKey::generate(key_type).unwrap();
        let id = Identifier::of_key(key.public()).unwrap();
        Self {
            id,
            key,
            key_id: "key-1".to_owned(),
            nonce: 0,
        }
    }

    pub fn content(&self) -> Content {
        Content::of_key(&self.key_id, self.key.public().clone())
    }

    pub fn sign(&mut self, network: &Network, operation: Operation) -> Transaction {
        self.nonce += 1;
        self.sign_with_nonce(network, self.nonce, operation)
    }

    pub fn sign_with_nonce(
        &self,
        network: &Network,
        nonce: u64,
        operation: Operation,
    ) -> Transaction {
        let unsigned = UnsignedTransaction::new(network, self.id, nonce, operation);
        let signature = self.key.sign(unsigned.signing_bytes()).unwrap();
        unsigned.signed(&self.key_id, &signature).unwrap()
    }

    /// A body with the next nonce.
    pub fn body(&mut self, network: &Network, operations: Vec<Operation>) -> Body {
        self.nonce += 1;
        Body::new(network, self.id, self.nonce, operations)
    }

    pub fn transaction(&self, body: Body, endorser: Option<&Actor>) -> Transaction {
        let unsigned = UnsignedTransaction::of(body);
        let sign = |actor: &Actor| {
            let signature = actor.key.sign(unsigned.signing_bytes()).unwrap();
            vec![Signature::new(&actor.key_id, &signature).unwrap()]
        };
        let (own, others) = (sign(self), endorser.map(sign).unwrap_or_default());
        unsigned.endorsed_by(own, others).unwrap()
    }

    pub fn create(&mut self, network: &Network) -> Transaction {
        let content = self.content();
        self.sign(network, Operation::CreateDid(content))
    }

    pub fn update(&mut self, network: &Network, version: u64, content: Content) -> Transaction {
        self.sign(network, Operation::UpdateDid { version, content })
    }

    /// Replaces the present key with a new one, signed by the present key.
    pub fn rotate(&mut self, network: &Network, version: u64) -> Transaction {
        let next = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let key_id = format!("key-{version}");
        let content = Content::of_key(&key_id, next.public().clone());
        let tx = self.update(network, version, content);
        (self.key, self.key_id) = (next, key_id);
        tx
    }

    pub fn deactivate(&mut self, network: &Network, version: u64) -> Transaction {
        self.sign(network, Operation::DeactivateDid { version })
    }

    pub fn anchor(&mut self, network: &Network, list: &str, issued: UnixTime) -> Transaction {
        let digest = [issued.0 as u8; 32];
        self.sign(
            network,
            Operation::AnchorStatus {
                list: list.to_owned(),
                digest,
                issued,
            },
        )
    }
}

/// A state that cannot be read.
pub struct Broken;

impl StateRead for Broken {
    fn get(&self, _: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        Err(StateError("disk on fire".to_owned()))
    }
}
