//! The engine's requests to the machine, in the engine's types. A thin layer: it decides nothing itself except limits.

mod answers;
mod consensus;
mod doubts;
mod replay;
mod snapshots;
mod validators;

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use selfsame_catalogue::english;
use selfsame_crypto::hash::sha256;
use selfsame_driver::clock::Clock;
use selfsame_driver::{Error, Result};
use selfsame_ledger::{Ledger, refused};
use selfsame_registry::refusal::{CheckError, ReadError};
use selfsame_registry::{Head, Transaction};
use tendermint::abci::request::CheckTxKind;
use tendermint::abci::response;
use tendermint::v0_38::abci::request;

use crate::files::Peers;
use crate::misbehaviour::Misbehaviours;
use crate::notes::Notes;
use crate::signer::{CheckpointKey, signers};
use crate::waiting::WaitingSubmitters;
use answers::{Code, checked, not_checked};
pub(crate) use consensus::Consensus;
use doubts::Doubts;
use snapshots::Snapshots;

/// What the operator of a node with a damaged ledger should do.
pub(crate) const WAY_OUT: &str = "the node's ledger is damaged: stop the node and find the damage with `selfsame check --data FOLDER`; if its log is complete, --rebuild-ledger repairs it, otherwise replace the node with a new one: `selfsame registry join` (docs/network.md)";
/// The path of the engine's query about a peer; the peer's name follows.
const PEER: &str = "/p2p/filter/id/";

/// The engine cannot continue with this node; the reason, for the operator.
#[derive(Debug)]
pub(crate) struct Halt(pub(crate) String);

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self(english(&error.reason))
    }
}

/// The state that all connections of the engine share.
pub(crate) struct Application {
    ledger: Ledger,
    /// The submitters that wait for this node's answer.
    waiting: WaitingSubmitters,
    notes: Arc<Notes>,
    misbehaviours: Arc<Misbehaviours>,
    peers: Arc<Peers>,
    signer: CheckpointKey,
    clock: Clock,
    retained_blocks: u64,
    /// The height that the ledger had before the network's first block.
    begins_after: u64,
    /// The head after the last block. The store has it too, but every check needs it.
    head: Mutex<Arc<Head>>,
    doubts: Doubts,
    snapshots: Snapshots,
}

/// The parts of an application.
#[derive(Clone)]
pub(crate) struct ApplicationParts {
    pub(crate) ledger: Ledger,
    pub(crate) waiting: WaitingSubmitters,
    pub(crate) notes: Arc<Notes>,
    pub(crate) misbehaviours: Arc<Misbehaviours>,
    pub(crate) peers: Arc<Peers>,
    pub(crate) signer: CheckpointKey,
    pub(crate) clock: Clock,
    pub(crate) retained_blocks: u64,
    /// The height that the ledger had before the network's first block.
    pub(crate) begins_after: u64,
}

impl Application {
    /// Continues from the ledger's current head.
    pub(crate) fn new(parts: ApplicationParts) -> Result<Self> {
        let head = parts.ledger.head()?;
        parts
            .notes
            .begin(head.clone(), signers(&parts.ledger, &head)?)?;
        Ok(Self {
            ledger: parts.ledger,
            waiting: parts.waiting,
            notes: parts.notes,
            misbehaviours: parts.misbehaviours,
            peers: parts.peers,
            signer: parts.signer,
            clock: parts.clock,
            retained_blocks: parts.retained_blocks,
            begins_after: parts.begins_after,
            head: Mutex::new(Arc::new(head)),
            doubts: Doubts::default(),
            snapshots: Snapshots::default(),
        })
    }

    /// This node's height, after which the engine sends blocks. For a ledger that was carried over from another
    /// network, the engine sees the height of the network's beginning.
    pub(crate) fn info(&self) -> std::result::Result<response::Info, Halt> {
        let head = self.head();
        let height = match head.height == self.begins_after {
            true => 0,
            false => head.height,
        };
        Ok(response::Info {
            data: self.ledger.machine().network().to_string(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            app_version: 0,
            last_block_height: answers::height(height)?,
            last_block_app_hash: answers::app_hash(&head)?,
        })
    }

    /// Answers the engine's queries: whether it may connect to a peer. Reads have an interface of their own, which
    /// returns proofs too.
    pub(crate) fn query(&self, request: &request::Query) -> response::Query {
        let admitted = match request.path.strip_prefix(PEER) {
            Some(name) => self.peers.admits(name, self.clock.now()),
            // An address does not identify a node: any node may be behind it.
            None => true,
        };
        match admitted {
            true => response::Query::default(),
            false => response::Query {
                code: Code::Refused.into(),
                log: "this node is not admitted".to_owned(),
                ..response::Query::default()
            },
        }
    }

    /// Whether a transaction may wait for a block. A transaction that already waits is judged again only if the last
    /// block may have changed the answer.
    pub(crate) fn check(&self, request: &request::CheckTx) -> response::CheckTx {
        let transaction = match self.read(&request.tx) {
            Ok(transaction) => transaction,
            Err(ReadError::Malformed(malformed)) => {
                return not_checked(Code::Malformed, "malformed", malformed.to_string());
            }
            Err(ReadError::State(error)) => {
                return not_checked(Code::Failed, "state", error.to_string());
            }
        };
        let waits_already = request.kind == CheckTxKind::Recheck;
        if waits_already && !self.doubts.about(&transaction) {
            return checked();
        }
        self.judge(&transaction, &request.tx)
    }

    /// Parses a transaction for the next block.
    fn read(&self, bytes: &[u8]) -> std::result::Result<Transaction, ReadError> {
        let (ledger, next) = (&self.ledger, self.head().height.saturating_add(1));
        ledger.machine().read(bytes, next, ledger)
    }

    /// The machine's verdict on a transaction now. A refusal is also sent to the submitters that wait with the same
    /// bytes.
    fn judge(&self, transaction: &Transaction, bytes: &Bytes) -> response::CheckTx {
        let (head, now) = (self.head(), self.clock.now());
        let checked_now = self.ledger.check(transaction, &head, now);
        match checked_now {
            Ok(None) => {
                self.doubts.settle(transaction);
                checked()
            }
            Ok(Some(receipt)) => {
                self.waiting.logged(&receipt);
                not_checked(
                    Code::Known,
                    "known",
                    "the transaction is already in the log".to_owned(),
                )
            }
            Err(CheckError::Refused(refusal)) => {
                self.refuse(transaction, bytes, &refused(&refusal));
                not_checked(Code::Refused, refusal.code(), refusal.to_string())
            }
            Err(CheckError::State(error)) => {
                self.refuse(transaction, bytes, &Error::internal(&error));
                not_checked(Code::Failed, "state", error.to_string())
            }
        }
    }

    fn refuse(&self, transaction: &Transaction, bytes: &Bytes, error: &Error) {
        if !self.waiting.is_empty() {
            self.waiting
                .refused(&transaction.hash(), &sha256(bytes), error);
        }
    }

    fn head(&self) -> Arc<Head> {
        self.head
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn stands_at(&self, head: Head) {
        *self.head.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(head);
    }
}

#[cfg(test)]
mod tests;
