//! Nodes as processes of their own, so that they can be killed, and people who write to them.

use std::collections::HashMap;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use selfsame_abci::{Addresses, Beginning, Member, Network};
use selfsame_app::clock::Clock;
use selfsame_app::registry::trust_root;
use selfsame_crypto::encoding::{hex_decode, hex_encode};
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_did::Did;
use selfsame_proof::read::{Bundle, Outcome, Policy, Question, TrustRoot, judge};
use selfsame_registry::{
    Content, Genesis, Identifier, Operation, Rules, Transaction, Unsigned, network,
};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::oneshot;

/// How long anything may take that is not a fault.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A network whose nodes can be started and killed.
pub struct Cluster {
    folder: TempDir,
    members: Vec<Member>,
    pub genesis: Genesis,
    /// Who may change the validators.
    pub trustee: Actor,
    nodes: Vec<Option<NodeProcess>>,
}

impl Cluster {
    /// A new network, its nodes started.
    pub async fn start(count: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let members: Vec<Member> = free_addresses(count)
            .into_iter()
            .zip(1..)
            .map(|(addresses, n)| Member {
                name: format!("node-{n}"),
                addresses,
            })
            .collect();
        let trustee = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let beginning = Beginning {
            name: "test".to_owned(),
            time: Clock::default().now(),
            rules: Rules::default(),
            authorities: vec![network::Member {
                key: trustee.public().clone(),
                role: network::Role::Trustee,
            }],
        };
        let network = Network::create(folder.path(), beginning, &members).unwrap();
        let mut cluster = Self {
            folder,
            members,
            trustee: Actor::of(network.genesis(), trustee),
            genesis: network.genesis().clone(),
            nodes: (0..count).map(|_| None).collect(),
        };
        for n in 0..count {
            cluster.restart(n).await;
        }
        cluster
    }

    pub async fn restart(&mut self, n: usize) {
        assert!(self.nodes[n].is_none(), "it runs");
        self.nodes[n] = Some(NodeProcess::start(&self.home(n)).await);
    }

    /// SIGKILL, as a machine that loses its power.
    pub async fn kill(&mut self, n: usize) {
        let mut node = self.nodes[n].take().unwrap();
        node.child.start_kill().unwrap();
        node.child.wait().await.unwrap();
    }

    /// Stops all that run, one after the other.
    pub async fn stop(mut self) {
        for node in self.nodes.iter_mut().filter_map(Option::take) {
            node.stop().await;
        }
    }

    pub fn node(&self, n: usize) -> &NodeProcess {
        self.nodes[n].as_ref().unwrap()
    }

    pub fn alive(&self) -> impl Iterator<Item = &NodeProcess> {
        self.nodes.iter().flatten()
    }

    pub fn home(&self, n: usize) -> PathBuf {
        self.folder.path().join(&self.members[n].name)
    }

    pub fn rpc(&self, n: usize) -> SocketAddr {
        self.members[n].addresses.rpc
    }

    /// SIGKILL to the engine of a node alone, found by the folder it was started with.
    pub fn kill_engine(&self, n: usize) {
        let home = self.home(n).join("engine").display().to_string();
        let mut killed = 0;
        for process in std::fs::read_dir("/proc").unwrap().flatten() {
            let Ok(line) = std::fs::read(process.path().join("cmdline")) else {
                continue;
            };
            let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
            // The keeper is a shell with the same arguments behind its own.
            if words.first() != Some(&b"sh".as_slice()) && words.contains(&home.as_bytes()) {
                let id = process.file_name().into_string().unwrap();
                let status = std::process::Command::new("kill")
                    .args(["-KILL", &id])
                    .status();
                assert!(status.unwrap().success());
                killed += 1;
            }
        }
        assert_eq!(killed, 1);
    }

    /// Until all that run stand at the same place, and that is it.
    pub async fn agree(&self) -> String {
        let begun = tokio::time::Instant::now();
        loop {
            let mut heads = Vec::new();
            for node in self.alive() {
                heads.push(node.ask("head").await.unwrap());
            }
            if heads.windows(2).all(|pair| pair[0] == pair[1]) {
                return heads.remove(0);
            }
            assert!(begun.elapsed() < PATIENCE, "they do not agree: {heads:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// The hashes of the log, as one node has it.
    pub async fn log(&self, n: usize) -> Vec<String> {
        let mut hashes = Vec::new();
        loop {
            let page = format!("log {} 200", hashes.len() + 1);
            let page = self.node(n).ask(&page).await.unwrap();
            if page.is_empty() {
                return hashes;
            }
            hashes.extend(page.split(' ').map(str::to_owned));
        }
    }
}

type Answers = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<String, String>>>>>;

/// A node's process.
pub struct NodeProcess {
    child: Child,
    input: tokio::sync::Mutex<ChildStdin>,
    answers: Answers,
    last: AtomicU64,
}

impl NodeProcess {
    async fn start(home: &Path) -> Self {
        let mut child = Command::new(program())
            .arg(home)
            .arg(engine())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the example `node` is built with all targets: cargo test -p selfsame-abci");
        let input = tokio::sync::Mutex::new(child.stdin.take().unwrap());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let answers = Answers::default();
        let ready = enter(&answers, 0);
        let told = answers.clone();
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let (id, answer) = line.split_once(' ').unwrap();
                let answer = match answer.split_once(' ').unwrap() {
                    ("ok", answer) => Ok(answer.to_owned()),
                    (_, reason) => Err(reason.to_owned()),
                };
                let waiting = told.lock().unwrap().remove(&id.parse().unwrap());
                let _ = waiting.unwrap().send(answer);
            }
            told.lock().unwrap().clear();
        });
        let ready = tokio::time::timeout(PATIENCE, ready).await;
        ready
            .expect("the node starts in time")
            .expect("the node starts")
            .unwrap();
        Self {
            child,
            input,
            answers,
            last: AtomicU64::new(0),
        }
    }

    /// Lets the node stop by itself.
    pub async fn stop(self) {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        let status = tokio::time::timeout(PATIENCE, child.wait()).await;
        assert!(status.expect("it stops in time").unwrap().success());
    }

    /// Asks the node; an error also where it is gone.
    pub async fn ask(&self, request: &str) -> Result<String, String> {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let answer = enter(&self.answers, id);
        let line = format!("{id} {request}\n");
        let written = self.input.lock().await.write_all(line.as_bytes()).await;
        written.map_err(|error| error.to_string())?;
        answer.await.map_err(|_| "the node is gone".to_owned())?
    }

    pub async fn submit(&self, transaction: &Transaction) -> Result<String, String> {
        let bytes = hex_encode(&transaction.to_bytes());
        self.ask(&format!("submit {bytes}")).await
    }

    /// As a client does: again while it is told to come back.
    pub async fn write(&self, transaction: &Transaction) -> String {
        loop {
            match self.submit(transaction).await {
                Ok(receipt) => return receipt,
                Err(reason) if reason.starts_with("Unavailable") => {}
                Err(reason) => panic!("{reason}"),
            }
        }
    }

    /// What the node answers for a key of the state, as a reader judges it who has the genesis alone.
    pub async fn proves(&self, genesis: &Genesis, key: &[u8]) -> Option<Vec<u8>> {
        self.reads(key, &trust_root(genesis)).await.0
    }

    /// The same for a reader with this trust; and the trust the answer leads to.
    pub async fn reads(&self, key: &[u8], trust: &TrustRoot) -> (Option<Vec<u8>>, TrustRoot) {
        let bundle = self
            .ask(&format!("read {}", hex_encode(key)))
            .await
            .unwrap();
        let bundle = Bundle::from_bytes(&hex_decode(&bundle).unwrap()).unwrap();
        let policy = Policy {
            max_age: Some(120),
            skew: 5,
            witnesses: Vec::new(),
            witnesses_needed: 0,
        };
        let question = Question {
            key,
            policy: &policy,
            now: Clock::default().now(),
        };
        let report = judge(&bundle, &question, trust);
        assert_eq!(report.outcome, Outcome::Verified, "{:?}", report.rules);
        (bundle.value, report.trust.unwrap())
    }

    pub async fn resolves(&self, did: &Did) -> bool {
        self.ask(&format!("resolve {did}")).await.unwrap() == "found"
    }

    /// The newest complete note.
    pub async fn note(&self) -> Option<String> {
        let note = self.ask("note").await.unwrap();
        let note = String::from_utf8(hex_decode(&note).unwrap()).unwrap();
        (!note.is_empty()).then_some(note)
    }
}

fn enter(answers: &Answers, id: u64) -> oneshot::Receiver<Result<String, String>> {
    let (sender, receiver) = oneshot::channel();
    answers.lock().unwrap().insert(id, sender);
    receiver
}

/// The example `node`, beside this test.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors()
        .nth(2)
        .unwrap()
        .join("examples")
        .join("node")
}

/// CometBFT: where xtask says, or where it puts it.
#[allow(
    clippy::disallowed_methods,
    reason = "xtask tells the tests where the engine is"
)]
pub fn engine() -> PathBuf {
    let built = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/cometbft/cometbft"
    );
    let engine = std::env::var_os("SELFSAME_COMETBFT").map_or_else(|| built.into(), PathBuf::from);
    assert!(
        engine.is_file(),
        "CometBFT is missing; build it: cargo xtask cometbft"
    );
    engine
}

fn free_addresses(count: usize) -> Vec<Addresses> {
    let held: Vec<TcpListener> = (0..2 * count)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    held.chunks(2)
        .map(|pair| Addresses {
            p2p: pair[0].local_addr().unwrap(),
            rpc: pair[1].local_addr().unwrap(),
        })
        .collect()
}

/// Somebody with a DID.
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

    fn of(genesis: &Genesis, key: PrivateKey) -> Self {
        let network = genesis.network();
        let id = Identifier::of_key(key.public()).unwrap();
        Self {
            did: selfsame_did::selfsame::create(&network, key.public()),
            network,
            id,
            key,
        }
    }

    /// Where the state says which version of the DID is the present one.
    pub fn state_key(&self) -> Vec<u8> {
        format!("did/{}", self.id).into_bytes()
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

    pub fn signed_by_another(&self) -> Transaction {
        let another = PrivateKey::generate(KeyType::Ed25519).unwrap();
        self.signed(7, Operation::DeactivateDid { version: 2 }, &another)
    }

    fn creation(&self) -> Operation {
        Operation::CreateDid(Content::of_key("key-1", self.key.public().clone()))
    }

    fn signed(&self, nonce: u64, operation: Operation, key: &PrivateKey) -> Transaction {
        let unsigned = Unsigned::new(&self.network, self.id, nonce, operation);
        let signature = key.sign(unsigned.signing_bytes()).unwrap();
        unsigned.signed("key-1", &signature).unwrap()
    }
}
