//! A simulated network of four validators: histories they sign, and nodes that show one over HTTP, or lie.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use selfsame_crypto::encoding::base64url_decode;
use selfsame_crypto::seal::SealingKey;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::Did;
use selfsame_driver::clock::Clock;
use selfsame_ledger::config::{Pin, RegistryNode, WitnessQuorum};
use selfsame_ledger::remote::{Remote, RemoteSetup};
use selfsame_ledger::{Ledger, log_origin};
use selfsame_net::{Net, Settings};
use selfsame_proof::checkpoint::{Checkpoint, Standing};
use selfsame_proof::entries::{ProvenEntries, ProvenEntry};
use selfsame_proof::log::inclusion;
use selfsame_proof::note::VerifierKey;
use selfsame_proof::read::Bundle;
use selfsame_proof::reads::ProvenReads;
use selfsame_proof::tree::Proof;
use selfsame_proof::validators::{STATE_KEY, Validator, ValidatorSet};
use selfsame_registry::{
    Block, Content, Genesis, Head, Identifier, Operation, Receipt, Rules, StateMachine,
    Transaction, UnsignedTransaction,
};
use selfsame_store::ledger::MemoryLedger;
use selfsame_store::{Memory, Store, Vault};
use selfsame_testkit::fake_server::{FakeServer, ReceivedRequest, Reply};
use url::Url;

/// The seconds to wait that a busy node asks for.
pub const BUSY_FOR: u64 = 60;

/// The validators and their genesis.
pub struct Paper {
    pub genesis: Genesis,
    keys: Vec<PrivateKey>,
    /// The registered DIDs, with their keys.
    people: Mutex<Vec<(Did, PrivateKey)>>,
    pub clock: Clock,
}

/// The blocks that the validators agreed on and signed.
pub struct History {
    paper: Arc<Paper>,
    ledger: Ledger,
    heads: Vec<Head>,
}

/// The fault of a node.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Lie {
    None,
    Value,
    Proof,
    Absence,
    /// Another object than the state contains is sent along with the genuine one.
    Further,
    StaleCheckpoint,
    ForgedCheckpoint,
    StrangersCheckpoint,
    /// Genuine, with the network's last signature: from the time of the last block.
    Still,
    /// Like `Still`, with another transaction in the log than was signed.
    StillValue,
    /// Like `Still`, with proofs of transactions that lead elsewhere.
    StillProof,
    /// Genuine, but from the block before.
    Behind,
    /// It does not prove that its log extends another's.
    NoConsistency,
    /// It acknowledges a transaction it has not written: with the number of another one, or with one beyond its log.
    Acknowledges,
    AcknowledgesBeyond,
    /// It refuses all transactions, for a reason that the state could prove, or for one that it could not.
    RefusesVersion,
    RefusesUse,
    RefusesSignature,
    RefusesNonce,
    /// It refuses, and also hides the state that would prove it.
    RefusesAndHides,
    /// It answers all reads as if a transaction were refused.
    RefusesReads,
    Busy,
    Down,
    /// Genuine, but an older version that reads one object at a time.
    Former,
    /// It does not answer reads of the state while a test runs.
    Silent,
}

impl Lie {
    /// The lies that the proof of an object exposes.
    pub const ABOUT_OBJECTS: [Self; 7] = [
        Self::Value,
        Self::Proof,
        Self::Absence,
        Self::Further,
        Self::StaleCheckpoint,
        Self::ForgedCheckpoint,
        Self::StrangersCheckpoint,
    ];
}

/// A node that shows a history over HTTP.
pub struct PaperNode {
    late: FakeServer,
    lie: Arc<Mutex<Lie>>,
    asked: Arc<AtomicUsize>,
}

impl Paper {
    pub fn new() -> Arc<Self> {
        let keys: Vec<_> = (0..4)
            .map(|_| PrivateKey::generate(KeyType::Ed25519).unwrap())
            .collect();
        let validators = keys.iter().zip(1..).map(|(key, n)| Validator {
            name: format!("v{n}"),
            key: key.public().clone(),
            power: 1,
            consensus: None,
        });
        let set = ValidatorSet::new(validators.collect()).unwrap();
        let clock = Clock::default();
        let began = clock.now().minus(10_000);
        let genesis = Genesis::new("paper", began, set, Rules::default()).unwrap();
        Arc::new(Self {
            genesis,
            keys,
            people: Mutex::default(),
            clock,
        })
    }

    /// A history with one new DID in each block, the last block made now; also returns the DIDs.
    pub async fn history(self: &Arc<Self>, blocks: u64) -> (Arc<History>, Vec<Did>) {
        let made = (0..blocks).map(|_| self.newcomer());
        let (dids, creations): (Vec<_>, Vec<_>) = made.unzip();
        (self.history_of(&creations).await, dids)
    }

    /// A history with one of these transactions in each block, the last block made now.
    pub async fn history_of(self: &Arc<Self>, transactions: &[Transaction]) -> Arc<History> {
        let machine = Arc::new(StateMachine::new(self.genesis.clone()));
        let ledger = Ledger::open(Arc::new(MemoryLedger::new()), machine.clone()).unwrap();
        let mut heads = vec![Head::of_genesis(&self.genesis)];
        let count = transactions.len() as u64;
        for (left, transaction) in (0..count).rev().zip(transactions) {
            let block = Block {
                time: self.clock.now().minus(left * Self::seconds_apart(count)),
                transactions: std::slice::from_ref(transaction),
            };
            let head = heads.last().unwrap();
            let applied = machine.apply(head, &block, &ledger, &ledger).unwrap();
            assert_eq!(applied.logged, [0]);
            ledger.append(block.transactions, &applied).await.unwrap();
            heads.push(applied.head);
        }
        let history = History {
            paper: self.clone(),
            ledger,
            heads,
        };
        Arc::new(history)
    }

    /// Seconds between two of so many blocks, all of them after the genesis.
    pub fn seconds_apart(count: u64) -> u64 {
        (9_000 / count.max(1)).min(1_000)
    }

    /// A transaction signed with the DID's first key.
    pub fn signed(&self, did: &Did, nonce: u64, operation: Operation) -> Transaction {
        let people = self.people.lock().unwrap();
        let (_, key) = people.iter().find(|(of, _)| of == did).unwrap();
        let network = self.genesis.network();
        let id = Identifier::of_key(key.public()).unwrap();
        let unsigned = UnsignedTransaction::new(&network, id, nonce, operation);
        let signature = key.sign(unsigned.signing_bytes()).unwrap();
        unsigned.signed("key-1", &signature).unwrap()
    }

    pub fn newcomer(&self) -> (Did, Transaction) {
        let key = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let network = self.genesis.network();
        let id = Identifier::of_key(key.public()).unwrap();
        let operation = Operation::CreateDid(Content::of_key("key-1", key.public().clone()));
        let unsigned = UnsignedTransaction::new(&network, id, 0, operation);
        let signature = key.sign(unsigned.signing_bytes()).unwrap();
        let creation = unsigned.signed("key-1", &signature).unwrap();
        let did = selfsame_did::selfsame::create(&network, key.public());
        self.people.lock().unwrap().push((did.clone(), key));
        (did, creation)
    }

    /// The first key of a DID in a history, in PKCS #8.
    pub fn key_of(&self, did: &Did) -> Vec<u8> {
        let people = self.people.lock().unwrap();
        let (_, key) = people.iter().find(|(of, _)| of == did).unwrap();
        key.to_pkcs8().unwrap().expose().to_vec()
    }

    fn note(&self, standing: &Standing, keys: &[PrivateKey]) -> String {
        let origin = log_origin(&self.genesis.network());
        let mut note = Checkpoint::of_block(&origin, standing).to_note().unwrap();
        for (key, validator) in keys.iter().zip(1..) {
            let verifier = VerifierKey::new(&format!("{origin}/v{validator}"), key.public());
            let signature = key.sign(note.signing_bytes()).unwrap();
            note.sign(&verifier.unwrap(), signature).unwrap();
        }
        note.to_string()
    }
}

impl History {
    fn at(&self, back: usize, time: Option<UnixTime>) -> (&Head, String) {
        let head = &self.heads[self.heads.len() - 1 - back];
        let time = time.unwrap_or(head.time);
        let standing = Standing {
            time,
            ..head.standing()
        };
        (head, self.paper.note(&standing, &self.paper.keys))
    }

    fn read(&self, key: &[u8], lie: Lie) -> Bundle {
        let now = self.paper.clock.now();
        let (head, note) = match lie {
            Lie::StaleCheckpoint => self.at(1, None),
            Lie::Still | Lie::StillValue | Lie::StillProof => self.at(0, None),
            // Signed before the next block was made.
            Lie::Behind => self.at(1, self.heads.last().map(|last| last.time.minus(1))),
            _ => self.at(0, Some(now)),
        };
        let mut bundle = self.ledger.prove(key, head.tree, &note).unwrap().unwrap();
        match lie {
            Lie::Value => bundle.value = bundle.value.map(|value| [value, vec![0]].concat()),
            Lie::Absence => bundle.value = None,
            Lie::Proof => {
                let mut bytes = bundle.proof.to_bytes();
                *bytes.last_mut().unwrap() ^= 1;
                bundle.proof = Proof::from_bytes(&bytes).unwrap();
            }
            Lie::ForgedCheckpoint => {
                let (from, to) = (head.height, head.height + 1);
                let [from, to] = [from, to].map(|height| format!("height {height}\n"));
                bundle.note = bundle.note.replace(&from, &to);
            }
            Lie::StrangersCheckpoint => {
                let strangers = Paper::new();
                let standing = Standing {
                    time: now,
                    ..head.standing()
                };
                bundle.note = self.paper.note(&standing, &strangers.keys);
            }
            _ => {}
        }
        bundle
    }

    /// An object and the further objects that belong to it.
    fn reads(&self, key: &[u8], lie: Lie) -> ProvenReads {
        let (head, _) = match lie {
            Lie::StaleCheckpoint | Lie::Behind => self.at(1, None),
            _ => self.at(0, None),
        };
        let honest = self.read(key, Lie::None);
        let mut reads = self.ledger.prove_further(honest, head.tree).unwrap();
        reads.bundle = self.read(key, lie);
        if let (Lie::Further, Some(read)) = (lie, reads.further.first_mut()) {
            read.value = read.value.take().map(|value| [value, vec![0]].concat());
        }
        reads
    }

    pub fn log(&self, numbers: &[u64], lie: Lie) -> ProvenEntries {
        let size = self.heads.last().unwrap().log.size();
        let logged = numbers.iter().filter(|number| **number <= size);
        let entries = logged.map(|number| {
            let placed = self.ledger.transactions(*number, 1).unwrap().remove(0);
            ProvenEntry {
                seq_no: *number,
                height: placed.height,
                time: self.paper.clock.now(),
                transaction: placed.entry.bytes,
                path: inclusion(number - 1, size, &self.ledger).unwrap(),
            }
        });
        let mut entries: Vec<_> = entries.collect();
        match lie {
            // Another transaction, with a valid signature of its own.
            Lie::Value | Lie::StillValue => {
                entries[0].transaction = self.paper.newcomer().1.to_bytes()
            }
            Lie::Proof | Lie::StillProof => {
                entries[0].path.iter_mut().for_each(|hash| hash[0] ^= 1)
            }
            Lie::Absence => drop(entries.pop()),
            _ => {}
        }
        let read = match lie {
            Lie::Value | Lie::Proof | Lie::Absence => Lie::None,
            other => other,
        };
        ProvenEntries {
            bundle: self.read(STATE_KEY, read),
            entries,
        }
    }

    /// A node that shows this history.
    pub async fn node(self: &Arc<Self>, lie: Lie) -> PaperNode {
        let (lie, asked) = (Arc::new(Mutex::new(lie)), Arc::new(AtomicUsize::new(0)));
        let (history, says, counted) = (self.clone(), lie.clone(), asked.clone());
        let late = FakeServer::start(move |asked| {
            counted.fetch_add(1, Ordering::SeqCst);
            history.answer(asked, *says.lock().unwrap())
        });
        PaperNode {
            late: late.await.unwrap(),
            lie,
            asked,
        }
    }

    fn answer(&self, asked: &ReceivedRequest, lie: Lie) -> Reply {
        let query: Vec<_> =
            url::form_urlencoded::parse(asked.query.as_deref().unwrap_or("").as_bytes())
                .into_owned()
                .collect();
        let of = |name: &str| &query.iter().find(|(key, _)| key == name).unwrap().1;
        let body = match (lie, asked.path.as_str()) {
            (Lie::RefusesReads, path) if path != "/registry/transactions" => {
                return refused("did_exists");
            }
            (Lie::Down, _) | (Lie::RefusesAndHides, "/registry/read" | "/registry/reads") => {
                return Reply::default();
            }
            (Lie::Former, "/registry/reads") => {
                return Reply {
                    status: 404,
                    ..Reply::default()
                };
            }
            (Lie::Busy, _) => {
                return Reply {
                    status: 429,
                    retry_after: Some(BUSY_FOR),
                    ..Reply::default()
                };
            }
            (_, "/registry/genesis") => self.paper.genesis.to_bytes(),
            (_, "/registry/read") => self
                .read(&base64url_decode(of("key")).unwrap(), lie)
                .to_bytes(),
            (_, "/registry/reads") => self
                .reads(&base64url_decode(of("key")).unwrap(), lie)
                .to_bytes(),
            (_, "/registry/log") => {
                let numbers = of("numbers").split(',').map(|n| n.parse().unwrap());
                let numbers: Vec<u64> = numbers.collect();
                self.log(&numbers, lie).to_bytes()
            }
            (_, "/registry/transactions") => return self.receipt(&asked.body, lie),
            (Lie::NoConsistency, "/registry/consistency") => vec![7; 32],
            (_, "/registry/consistency") => {
                let [old, new] = ["old", "new"].map(|size| of(size).parse().unwrap());
                self.ledger.consistency(old, new).unwrap().concat()
            }
            (_, other) => panic!("an unexpected request for {other}"),
        };
        let is_late = lie == Lie::Silent && asked.path.starts_with("/registry/read");
        Reply {
            status: 200,
            content_type: "application/cbor",
            body,
            after: Duration::from_secs(if is_late { 3_600 } else { 0 }),
            ..Reply::default()
        }
    }
}

impl History {
    /// Its newest checkpoint, signed now.
    pub fn standing(&self) -> Standing {
        let head = self.heads.last().unwrap();
        Standing {
            time: self.paper.clock.now(),
            ..head.standing()
        }
    }

    /// The transaction with this number.
    pub fn transaction(&self, number: u64) -> Transaction {
        let placed = self.ledger.transactions(number, 1).unwrap().remove(0);
        Transaction::from_bytes(&placed.entry.bytes).unwrap()
    }

    /// The answer to a submitted transaction; nothing is ever written.
    fn receipt(&self, bytes: &[u8], lie: Lie) -> Reply {
        let transaction = Transaction::from_bytes(bytes).unwrap();
        let code = match lie {
            Lie::RefusesVersion => Some("wrong_version"),
            Lie::RefusesUse => Some("already_used"),
            Lie::RefusesSignature | Lie::RefusesAndHides => Some("bad_signature"),
            Lie::RefusesNonce => Some("nonce_used"),
            _ => None,
        };
        if let Some(code) = code {
            return refused(code);
        }
        let claimed = |seq_no, height| Receipt {
            seq_no,
            height,
            time: self.paper.clock.now(),
            tx_hash: transaction.hash(),
        };
        let receipt = match lie {
            Lie::Acknowledges => Some(claimed(1, 1)),
            Lie::AcknowledgesBeyond => Some(claimed(99, u64::MAX)),
            _ => self.ledger.receipt(&transaction.hash()).unwrap(),
        };
        let status = if receipt.is_some() { 200 } else { 503 };
        Reply {
            status,
            content_type: "application/json",
            body: serde_json::to_vec(&receipt).unwrap(),
            ..Reply::default()
        }
    }
}

/// A node's answer that refuses a transaction with this code.
pub fn refused(code: &str) -> Reply {
    let body = serde_json::json!({ "code": code, "detail": "it says so" });
    Reply {
        status: 409,
        content_type: "application/json",
        body: body.to_string().into_bytes(),
        ..Reply::default()
    }
}

impl PaperNode {
    pub fn origin(&self) -> String {
        self.late.address().trim_end_matches('/').to_owned()
    }

    pub fn does(&self, lie: Lie) {
        *self.lie.lock().unwrap() = lie;
    }

    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// Records that persist beyond one reader.
pub async fn store() -> Store {
    let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
    Store::open(Arc::new(Memory::new()), vault).await.unwrap()
}

/// A reader of these nodes, in this order.
pub fn reader(nodes: &[&PaperNode], given: (&Store, &Clock, Option<Pin>)) -> Remote {
    patient_reader(nodes, given, 0)
}

/// A reader that accepts a newest checkpoint of this age in seconds while the network stands still.
pub fn patient_reader(
    nodes: &[&PaperNode],
    (store, clock, pin): (&Store, &Clock, Option<Pin>),
    standstill: u64,
) -> Remote {
    let origins: Vec<Url> = nodes
        .iter()
        .map(|node| node.late.address().parse().unwrap())
        .collect();
    let net = Net::new(Settings {
        own_origins: origins.iter().map(Url::origin).collect(),
        ..Settings::default()
    });
    Remote::new(RemoteSetup {
        net: net.unwrap(),
        clock: clock.clone(),
        store: store.clone(),
        nodes: origins
            .into_iter()
            .map(|origin| RegistryNode {
                origin,
                token: "unused".to_owned().into(),
            })
            .collect(),
        pin,
        standstill,
        witnesses: WitnessQuorum::default(),
    })
}
