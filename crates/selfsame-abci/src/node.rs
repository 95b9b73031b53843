//! A node: its half of the registry and its engine, run together.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Options, Resolution};
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_ledger::view::{
    NodeHealth, RegistryDelegation, RegistryEntry, RegistryStatus, RegistryUse,
};
use selfsame_ledger::{Ledger, LocalRegistry, Registry, ServedRegistry};
use selfsame_proof::log::Hash;
use selfsame_proof::read::Bundle;
use selfsame_proof::reads::ProvenReads;
use selfsame_proof::tree::Root;
use selfsame_registry::network::MACHINE_VERSION;
use selfsame_registry::refusal::CheckError;
use selfsame_registry::{Receipt, StateMachine, Transaction};
use selfsame_store::ledger::LedgerStore;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::application::{ApplicationParts, WAY_OUT};
use crate::engine::Engine;
use crate::files::{Home, Peers};
use crate::light::LightCall;
use crate::misbehaviour::Misbehaviours;
use crate::notes::{Noted, Notes};
use crate::process_pair::ProcessParts;
use crate::rpc::{Rpc, TakenTransaction, unavailable};
use crate::signer::{CheckpointKey, signers};
use crate::waiting::{WaitingPlace, WaitingSubmitters};

/// The maximum number of waiting transactions; further submitters get an error with the time to retry.
const WAITING_MAX: usize = 8_192;
/// The maximum time that a transaction waits for its block.
const DEADLINE: Duration = Duration::from_secs(10);
/// The number of blocks for which evidence of a double vote is accepted.
const RETAINED_BLOCKS: u64 = 100_000;
/// The delay before a retry if the engine does not answer.
const AGAIN: Duration = Duration::from_millis(100);
/// The maximum time that a read waits for the signatures of a block that was just stored.
const SIGNING: Duration = Duration::from_secs(2);

/// The parts and limits of a node.
pub struct Setup {
    /// The node's folder.
    pub home: Home,
    /// The engine's program.
    pub engine: Engine,
    /// The store of the log and the state.
    pub ledger: Arc<dyn LedgerStore>,
    /// The signer of the node's checkpoints.
    pub signer: CheckpointKey,
    /// The time at which transactions are checked; blocks have the network's time.
    pub clock: Clock,
    /// The maximum number of waiting transactions.
    pub waiting_max: usize,
    /// The maximum time that each transaction waits.
    pub deadline: Duration,
    /// The number of newest blocks that the engine keeps for nodes that were away. The ledger keeps all transactions.
    pub retained_blocks: u64,
    /// The newest machine version that the node supports: this program's, unless it plays another one.
    pub machine_version: u64,
}

impl Setup {
    /// A node with the default limits.
    #[must_use]
    pub fn new(
        home: Home,
        engine: Engine,
        ledger: Arc<dyn LedgerStore>,
        signer: CheckpointKey,
        clock: Clock,
    ) -> Self {
        Self {
            home,
            engine,
            ledger,
            signer,
            clock,
            waiting_max: WAITING_MAX,
            deadline: DEADLINE,
            retained_blocks: RETAINED_BLOCKS,
            machine_version: MACHINE_VERSION,
        }
    }
}

/// A running node. [`Node::stop`] stops it and waits until it has stopped. A dropped node stops by itself.
pub struct Node {
    ledger: Ledger,
    waiting: WaitingSubmitters,
    notes: Arc<Notes>,
    misbehaviours: Arc<Misbehaviours>,
    rpc: Rpc,
    signer: CheckpointKey,
    deadline: Duration,
    /// Why the halves are not running.
    trouble: watch::Sender<Option<String>>,
    stop: watch::Sender<bool>,
    running: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

impl Node {
    /// Starts both halves. Reads work at once; writes work when the engine has found enough of the other nodes.
    ///
    /// # Errors
    /// `BadRequest` if the folder can't be used, `Internal` if the ledger belongs to another network.
    pub async fn start(setup: Setup) -> Result<Self> {
        let machine = StateMachine::new(setup.home.genesis().clone());
        let machine = Arc::new(machine.of_program(setup.machine_version));
        let ledger = Ledger::open(setup.ledger.clone(), machine)?.lagging();
        let head = ledger.head()?;
        if head.height < setup.home.begins_after() {
            return Err(Error::bad_request("ledger-before-network")
                .with("begin", &setup.home.begins_after())
                .with("height", &head.height));
        }
        setup.home.asks_who_speaks()?;
        tracing::info!(network = %ledger.machine().network(), node = setup.home.name(), height = head.height, size = head.log.size(), "registry opened");
        let sound = ledger.has_the_roots_of_its_head();
        sound.map_err(|error| {
            Error::new(error.kind, "ledger-unsound")
                .because(error.reason)
                .with("advice", WAY_OUT)
        })?;
        let set = signers(&ledger, &head)?;
        let notes = Notes::new(ledger.genesis(), head, set)?.kept_in(setup.home.note(), &ledger);
        let node = Self {
            rpc: Rpc::new(setup.home.rpc(), setup.waiting_max)?,
            waiting: WaitingSubmitters::new(setup.waiting_max),
            notes: Arc::new(notes),
            misbehaviours: Arc::new(Misbehaviours::kept_in(setup.home.misbehaviour())),
            signer: setup.signer.clone(),
            deadline: setup.deadline,
            trouble: watch::Sender::new(None),
            stop: watch::Sender::new(false),
            running: tokio::sync::Mutex::default(),
            ledger,
        };
        let pair = ProcessParts {
            socket: setup.home.socket()?,
            parts: node.parts(&setup),
            engine: setup.engine,
            home: setup.home,
            trouble: node.trouble.clone(),
        };
        // Waits for the first start, so that a setup that can't work is reported at once.
        let socket = pair.listen()?;
        let running = tokio::spawn(pair.run(socket, node.stop.subscribe()));
        *node.running.lock().await = Some(running);
        Ok(node)
    }

    /// Stops both halves, after the decided block is stored.
    pub async fn stop(&self) {
        self.stop.send_replace(true);
        if let Some(running) = self.running.lock().await.take() {
            // The task ends by itself, or has ended.
            let _ = running.await;
        }
    }

    /// The newest checkpoint that enough validators have signed, as far as this node knows.
    #[must_use]
    pub fn noted(&self) -> Option<Arc<Noted>> {
        self.notes.newest()
    }

    /// The ledger, for reads with proofs.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Why this node does not take part at the moment, for its operator: the reason for which the halves last ended. It
    /// is kept until they have run again for some seconds.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.trouble.borrow().clone()
    }

    /// What the operator should do, if the ledger was found damaged.
    fn damage(&self) -> Option<String> {
        let damaged = self.ledger.damage().is_found();
        damaged.then(|| WAY_OUT.to_owned())
    }

    /// The error for a transaction that was not put into a block in time.
    fn late(&self) -> Error {
        if self.trouble().is_some() {
            return unavailable(
                "this node can't write at the moment; its operator can see the reason",
            );
        }
        unavailable(
            "the network has not included the transaction in a block in time; too few validators may be reachable",
        )
    }

    fn parts(&self, setup: &Setup) -> ApplicationParts {
        ApplicationParts {
            ledger: self.ledger.clone(),
            waiting: self.waiting.clone(),
            notes: self.notes.clone(),
            misbehaviours: self.misbehaviours.clone(),
            peers: Arc::new(Peers::of(&setup.home)),
            signer: self.signer.clone(),
            clock: setup.clock.clone(),
            retained_blocks: setup.retained_blocks,
            begins_after: setup.home.begins_after(),
        }
    }

    /// Submits a transaction, retries while the engine does not answer, and waits for its block.
    async fn order(
        &self,
        place: &mut WaitingPlace,
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
            TakenTransaction::Waits => place
                .answer()
                .await
                .unwrap_or_else(|| Err(unavailable("the registry was stopped"))),
            // The check that refused it has sent the reason, unless it checked a copy with another signature.
            TakenTransaction::NotLetIn => place
                .answered()
                .unwrap_or_else(|| refusal(&self.ledger, transaction)),
        }
    }

    fn unsigned(&self) -> Error {
        let empty = self.ledger.head().is_ok_and(|head| head.height == 0);
        let kind = ErrorKind::Unavailable { retry_after: 1 };
        match empty {
            true => Error::new(kind, "node-without-blocks"),
            false => Error::new(kind, "state-unsigned"),
        }
    }

    /// An object under the newest checkpoint that enough validators signed, and the root of the tree that contains it.
    async fn proved(&self, key: &[u8], trusted_height: u64) -> Result<(Bundle, Root)> {
        let mut news = self.notes.subscribe();
        // An author often reads a write at once. The votes for the next block bring the signatures.
        let up_to_date = async {
            let (head, begun) = self.notes.last();
            let signed = |noted: &Option<Arc<Noted>>| {
                noted.as_ref().is_some_and(|noted| {
                    noted.head.app_hash() == head.app_hash() || noted.head.height > head.height
                })
            };
            let waited = tokio::time::timeout_at(begun + SIGNING, news.wait_for(signed));
            drop(waited.await);
        };
        up_to_date.await;
        let noted = self.noted().ok_or_else(|| self.unsigned())?;
        let proven = self.ledger.prove(key, noted.head.tree, &noted.text)?;
        let handovers = self.ledger.handovers(trusted_height, noted.head.height)?;
        let proven = proven.map(|bundle| Bundle {
            handovers,
            ..bundle
        });
        let bundle = proven.ok_or_else(|| self.unsigned())?;
        Ok((bundle, noted.head.tree))
    }
}

/// The machine's verdict on a transaction that the engine did not accept. It reads the ledger as of one moment: the
/// transaction's own block may be stored meanwhile, and what it wrote must not speak against it.
pub(crate) fn refusal(ledger: &Ledger, transaction: &Transaction) -> Result<Receipt> {
    let head = ledger.head()?;
    match ledger.check(transaction, &head, head.time) {
        Ok(Some(receipt)) => Ok(receipt),
        Ok(None) => Err(unavailable("the registry did not accept the transaction")),
        Err(CheckError::Refused(refusal)) => Err(selfsame_ledger::refused(&refusal)),
        Err(CheckError::State(error)) => Err(Error::internal(error)),
    }
}

/// The error for a transaction that was not included in time. If the machine refuses it now, that is the answer:
/// another transaction may have come first. Otherwise it is late, perhaps because of other nodes.
fn overdue(judged: Result<Receipt>, late: impl FnOnce() -> Error) -> Result<Receipt> {
    match judged {
        Err(error) if !error.is_refusal() => Err(late()),
        answer => answer,
    }
}

#[async_trait]
impl LocalRegistry for Node {
    fn ledger(&self) -> Option<&Ledger> {
        Some(&self.ledger)
    }

    async fn light(&self, call: &[u8]) -> Result<Vec<u8>> {
        self.rpc.light(&LightCall::read(call)?).await
    }

    fn health(&self) -> Result<Option<NodeHealth>> {
        Ok(Some(NodeHealth {
            name: self.signer.name.clone(),
            height: self.ledger.head()?.height,
            trouble: self.trouble().or_else(|| self.damage()),
            misbehaviour: self.misbehaviours.all(),
        }))
    }
}

#[async_trait]
impl ServedRegistry for Node {
    async fn status(&self) -> Result<RegistryStatus> {
        let noted = self.notes.newest().ok_or_else(|| self.unsigned())?;
        // A node that does not validate, or not yet, names another validator that signed.
        let mut names = std::iter::once(&self.signer.name).chain(&noted.signers);
        let verifier = names
            .find_map(|name| self.notes.verifier(name))
            .ok_or_else(|| self.unsigned())?;
        Ok(RegistryStatus {
            network: self.ledger.machine().network().to_string(),
            height: noted.head.height,
            transactions: noted.head.log.size(),
            checkpoint: noted.text.clone(),
            verifier_key: verifier.to_string(),
        })
    }

    async fn read(&self, key: &[u8], trusted_height: u64) -> Result<Bundle> {
        Ok(self.proved(key, trusted_height).await?.0)
    }

    async fn reads(&self, key: &[u8], trusted_height: u64) -> Result<ProvenReads> {
        let (bundle, tree) = self.proved(key, trusted_height).await?;
        self.ledger.prove_further(bundle, tree)
    }

    async fn consistency(&self, old: u64, new: u64) -> Result<Vec<Hash>> {
        self.ledger.consistency(old, new)
    }

    async fn entries(&self, first: u64, count: usize) -> Result<Vec<RegistryEntry>> {
        self.ledger.entries(first, count)
    }
}

#[async_trait]
impl Registry for Node {
    async fn genesis(&self) -> Result<Vec<u8>> {
        Ok(self.ledger.genesis().to_bytes())
    }

    async fn submit(&self, transaction: &Transaction) -> Result<Receipt> {
        let (bytes, hash) = (transaction.to_bytes(), transaction.hash());
        // The place is taken before the ledger is read, so that no block can come in between.
        let mut place = self.waiting.enter(hash, sha256(&bytes))?;
        if let Some(receipt) = self.ledger.receipt(&hash)? {
            return Ok(receipt);
        }
        let waited =
            tokio::time::timeout(self.deadline, self.order(&mut place, transaction, &bytes));
        match waited.await {
            Ok(answer) => answer,
            Err(_) => overdue(refusal(&self.ledger, transaction), || self.late()),
        }
    }

    async fn resolve(&self, did: &Did, options: &Options) -> Resolution {
        self.ledger.resolve(did, options)
    }

    async fn history(&self, did: &Did) -> Result<Vec<RegistryEntry>> {
        self.ledger.history(did)
    }

    async fn used(
        &self,
        issuer: &Did,
        digest: &[u8; 32],
    ) -> Result<(Option<RegistryUse>, UnixTime)> {
        // Other nodes may be ahead of this node.
        let as_of = self.ledger.head()?.time;
        Ok((self.ledger.used(issuer, digest)?, as_of))
    }

    async fn delegation(&self, issuer: &Did, name: &str) -> Result<Option<RegistryDelegation>> {
        self.ledger.delegation(issuer, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_lost_a_race_is_told_that_and_not_that_the_network_is_late() {
        let late = || unavailable("too few validators");
        let receipt = Receipt {
            seq_no: 1,
            height: 1,
            time: UnixTime(1),
            tx_hash: [1; 32],
        };
        assert_eq!(overdue(Ok(receipt), late), Ok(receipt));
        let used = selfsame_registry::Refusal::Used { receipt };
        let lost = selfsame_ledger::refused(&used);
        assert_eq!(overdue(Err(lost.clone()), late), Err(lost));
        // The machine would still accept it.
        let taken = unavailable("the registry did not accept the transaction");
        assert_eq!(overdue(Err(taken), late), Err(late()));
        let broken = Error::internal("the state cannot be read");
        assert_eq!(overdue(Err(broken), late), Err(late()));
    }
}
