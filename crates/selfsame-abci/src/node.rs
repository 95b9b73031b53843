//! A node: its half of the registry and its engine, kept running together.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use selfsame_app::clock::Clock;
use selfsame_app::keys::Keys;
use selfsame_app::registry::Registry;
use selfsame_app::registry::ledger::Ledger;
use selfsame_app::view::registry::{RegistryEntry, RegistryStatus};
use selfsame_app::{Error, ErrorKind, Result};
use selfsame_crypto::KeyHandle;
use selfsame_crypto::hash::sha256;
use selfsame_did::{Did, Options, Resolution};
use selfsame_registry::{Machine, Receipt, Transaction};
use selfsame_store::TenantId;
use selfsame_store::ledger::LedgerStore;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::application::{Application, Parts};
use crate::engine::Engine;
use crate::files::Home;
use crate::notes::{Noted, Notes};
use crate::rpc::{Rpc, Taken, unavailable};
use crate::service::Socket;
use crate::supervisor::Process;
use crate::waiting::{Place, Waiting};

/// So many transactions wait at most; who comes then is told when to come back.
const WAITING_MAX: usize = 8_192;
/// How long a transaction waits for its block.
const DEADLINE: Duration = Duration::from_secs(10);
/// An engine that does not answer is asked again after this long.
const AGAIN: Duration = Duration::from_millis(100);
/// How long both halves rest before they are started again, at first and at most.
const REST: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));
/// A pair that ran this long was healthy: it is started again at once.
const HEALTHY: Duration = Duration::from_secs(60);

/// Who signs this node's checkpoints.
#[derive(Clone)]
pub struct Signer {
    /// The validator's name.
    pub name: String,
    /// The key store.
    pub keys: Keys,
    /// Whose the key is.
    pub tenant: TenantId,
    /// The key.
    pub key: KeyHandle,
}

impl Signer {
    pub(crate) async fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        self.keys.sign(&self.tenant, &self.key, bytes).await
    }
}

/// What a node is made of.
pub struct Setup {
    /// Its folder.
    pub home: Home,
    /// The engine's program.
    pub engine: Engine,
    /// The log and the state.
    pub ledger: Arc<dyn LedgerStore>,
    /// The key of its checkpoints.
    pub signer: Signer,
    /// The time transactions are checked at; blocks have the network's.
    pub clock: Clock,
    /// So many transactions may wait.
    pub waiting_max: usize,
    /// How long each may wait.
    pub deadline: Duration,
}

impl Setup {
    /// A node with the limits it has unless told otherwise.
    #[must_use]
    pub fn new(
        (home, engine): (Home, Engine),
        ledger: Arc<dyn LedgerStore>,
        (signer, clock): (Signer, Clock),
    ) -> Self {
        Self {
            home,
            engine,
            ledger,
            signer,
            clock,
            waiting_max: WAITING_MAX,
            deadline: DEADLINE,
        }
    }
}

/// A running node. [`Node::stop`] stops it and waits for that; dropped, it stops by itself.
pub struct Node {
    ledger: Ledger,
    waiting: Waiting,
    notes: Arc<Notes>,
    rpc: Rpc,
    signer: Signer,
    deadline: Duration,
    stop: watch::Sender<bool>,
    running: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

impl Node {
    /// Starts both halves. Reads work from the start, writes as soon as the engine has found enough of the others.
    ///
    /// # Errors
    /// `BadRequest` if the folder can't be used, `Internal` if the ledger belongs to another network.
    pub async fn start(setup: Setup) -> Result<Self> {
        let machine = Arc::new(Machine::new(setup.home.genesis().clone()));
        let ledger = Ledger::open(setup.ledger, machine)?;
        let head = ledger.head()?;
        tracing::info!(network = %ledger.machine().network(), node = setup.home.name(), height = head.height, size = head.log.size(), "registry opened");
        let notes = Notes::new(ledger.genesis(), head, setup.home.validators().clone())?;
        let node = Self {
            rpc: Rpc::new(setup.home.rpc(), setup.waiting_max)?,
            waiting: Waiting::new(setup.waiting_max),
            notes: Arc::new(notes),
            signer: setup.signer.clone(),
            deadline: setup.deadline,
            stop: watch::Sender::new(false),
            running: tokio::sync::Mutex::default(),
            ledger,
        };
        let pair = Pair {
            socket: setup.home.socket()?,
            engine: setup.engine,
            parts: node.parts(&setup.home, &setup.clock),
            home: setup.home,
        };
        // The first start is waited for, so that what can't work is said at once.
        let socket = pair.listen()?;
        let running = tokio::spawn(pair.run(socket, node.stop.subscribe()));
        *node.running.lock().await = Some(running);
        Ok(node)
    }

    /// Stops both halves; what was decided is stored before.
    pub async fn stop(&self) {
        self.stop.send_replace(true);
        if let Some(running) = self.running.lock().await.take() {
            // It ends by itself or has ended.
            let _ = running.await;
        }
    }

    /// The newest checkpoint that enough validators have signed, as far as this node has seen since it was started.
    #[must_use]
    pub fn noted(&self) -> Option<Noted> {
        self.notes.newest()
    }

    /// The ledger, for reads that come with proofs.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn parts(&self, home: &Home, clock: &Clock) -> Parts {
        Parts {
            ledger: self.ledger.clone(),
            waiting: self.waiting.clone(),
            notes: self.notes.clone(),
            signer: self.signer.clone(),
            clock: clock.clone(),
            validators: home.validators().clone(),
        }
    }

    /// Hands a transaction in, again while the engine does not answer, and waits for its block.
    async fn order(
        &self,
        place: &mut Place,
        transaction: &Transaction,
        bytes: &[u8],
    ) -> Result<Receipt> {
        let taken = loop {
            match self.rpc.broadcast(bytes).await {
                Err(error) if matches!(error.kind, ErrorKind::Unavailable { .. }) => {
                    tokio::time::sleep(AGAIN).await;
                }
                taken => break taken?,
            }
        };
        match taken {
            Taken::Waits => place
                .answer()
                .await
                .unwrap_or_else(|| Err(unavailable("the registry was stopped"))),
            // The check that did not let it in has left its reason, but for a copy that was signed differently.
            Taken::NotLetIn => place
                .answered()
                .unwrap_or_else(|| self.refusal(transaction)),
        }
    }

    /// The machine's own words about a transaction the engine did not let in.
    fn refusal(&self, transaction: &Transaction) -> Result<Receipt> {
        use selfsame_registry::refusal::CheckError;
        let head = self.ledger.head()?;
        let at = (&head, head.time);
        match self.ledger.machine().check(transaction, at, &self.ledger) {
            Ok(Some(receipt)) => Ok(receipt),
            Ok(None) => Err(unavailable("the registry did not take the transaction")),
            Err(CheckError::Refused(refusal)) => Err(selfsame_app::registry::refused(&refusal)),
            Err(CheckError::State(error)) => Err(Error::internal(error)),
        }
    }
}

#[async_trait]
impl Registry for Node {
    async fn genesis(&self) -> Result<Vec<u8>> {
        Ok(self.ledger.genesis().to_bytes())
    }

    async fn submit(&self, transaction: &Transaction) -> Result<Receipt> {
        let (bytes, hash) = (transaction.to_bytes(), transaction.hash());
        // The place is taken before the ledger is looked into, so that no block can slip between.
        let mut place = self.waiting.enter(hash, sha256(&bytes))?;
        if let Some(receipt) = self.ledger.receipt(&hash)? {
            return Ok(receipt);
        }
        let waited =
            tokio::time::timeout(self.deadline, self.order(&mut place, transaction, &bytes));
        waited.await.unwrap_or_else(|_| {
            Err(unavailable(
                "the network has not put the transaction into a block in time; too few validators may be reachable",
            ))
        })
    }

    async fn resolve(&self, did: &Did, options: &Options) -> Resolution {
        self.ledger.resolve(did, options)
    }

    async fn status(&self) -> Result<RegistryStatus> {
        let noted = self
            .notes
            .newest()
            .ok_or_else(|| unavailable("this node has not seen a signed checkpoint yet"))?;
        let verifier = self
            .notes
            .verifier(&self.signer.name)
            .ok_or_else(|| Error::internal("this node is no validator"))?;
        Ok(RegistryStatus {
            network: self.ledger.machine().network().to_string(),
            height: noted.head.height,
            transactions: noted.head.log.size(),
            checkpoint: noted.text,
            verifier_key: verifier.to_string(),
        })
    }

    async fn entries(&self, first: u64, count: usize) -> Result<Vec<RegistryEntry>> {
        self.ledger.entries(first, count)
    }

    async fn history(&self, did: &Did) -> Result<Vec<RegistryEntry>> {
        self.ledger.history(did)
    }
}

/// Both halves, started and stopped together.
struct Pair {
    home: Home,
    engine: Engine,
    socket: std::path::PathBuf,
    parts: Parts,
}

impl Pair {
    fn listen(&self) -> Result<Socket> {
        Socket::listen(&self.socket, Application::new(self.parts.clone())?)
    }

    async fn run(self, socket: Socket, mut stop: watch::Receiver<bool>) {
        let mut rest = REST.0;
        let mut listening: Result<Socket> = Ok(socket);
        loop {
            let began = tokio::time::Instant::now();
            let ended = match listening {
                Ok(socket) => self.once(socket, &mut stop).await,
                Err(error) => Some(error.reason),
            };
            let Some(reason) = ended else {
                return;
            };
            tracing::error!(%reason, "both halves of the node stopped and are started again");
            if began.elapsed() > HEALTHY {
                rest = REST.0;
            }
            tokio::select! {
                () = tokio::time::sleep(rest) => {}
                () = asked_to(&mut stop) => return,
            }
            rest = rest.saturating_mul(2).min(REST.1);
            listening = self.listen();
        }
    }

    /// Runs both until one ends, then ends the other. None if they were asked to stop.
    async fn once(&self, mut socket: Socket, stop: &mut watch::Receiver<bool>) -> Option<String> {
        let mut engine = match Process::start(&self.engine, &self.home.engine(), &self.socket) {
            Ok(engine) => engine,
            Err(error) => {
                socket.stop().await;
                return Some(error.reason);
            }
        };
        let ended = tokio::select! {
            halt = socket.halted() => {
                engine.kill().await;
                Some(halt.0)
            }
            ended = engine.ended() => Some(ended),
            () = asked_to(stop) => {
                engine.stop().await;
                None
            }
        };
        socket.stop().await;
        ended
    }
}

/// Until both halves are to stop, or nobody is left who could say so.
async fn asked_to(stop: &mut watch::Receiver<bool>) {
    drop(stop.wait_for(|stop| *stop).await);
}
