//! The machine: the same blocks in the same order give the same state, log and digests on every computer. The modules
//! below read each kind of object from the state.

mod agreement;
mod anoncreds;
mod consumption;
mod delegation;
mod fate;
mod governance;
mod member;
mod resolve;
mod resource;
mod status;

use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_did::Did;
use selfsame_did::selfsame::{Network, prefix};
use selfsame_proof::cbor::{CborItem as _, Malformed};
use selfsame_proof::log::{Frontier, Kept, leaf_hash};
use selfsame_proof::tree::{self, NodeRead};

use crate::authority::Role;
use crate::content::Content;
use crate::did::DidVersion;
use crate::genesis::Genesis;
use crate::governance::ValidatorChange;
use crate::head::Head;
use crate::history::PresentVersion;
use crate::identifier::Identifier;
use crate::judge::{Admission, Situation};
use crate::member::{Count, Membership};
use crate::operation::{Operation, Since};
use crate::proven::ProvenSignatures;
use crate::receipt::Receipt;
use crate::refusal::{ApplyError, CheckError, ReadError, Refusal};
use crate::rules::{MACHINE_VERSION, Rules, Schedule};
use crate::state::{
    Overlay, StateError, StateKey, StateRead, Writes, divide, is_mark, never_changes, read,
};
use crate::transaction::Transaction;

/// A network's rules, applied. Holds no state of its own; it only remembers which signatures it found good.
#[derive(Clone, Debug)]
pub struct StateMachine {
    genesis: Genesis,
    network: Network,
    first: Writes,
    proven: ProvenSignatures,
    known: u64,
    since: Since,
}

/// A state together with the genesis's objects. The first block writes these, and they hold before it too. Records are
/// never removed from the state, so a record that is missing below has not changed since.
struct Begun<'a> {
    first: &'a Writes,
    below: &'a dyn StateRead,
}

impl StateRead for Begun<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        match self.below.get(key)? {
            Some(value) => Ok(Some(value)),
            None => Ok(self.first.get(key).cloned()),
        }
    }
}

/// Transactions in the order the sequencer gives them, at its time.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The block's time, not before the head's.
    pub time: UnixTime,
    /// Its transactions, in order.
    pub transactions: &'a [Transaction],
}

/// The result of applying a block. None of it holds before it is stored.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Applied {
    /// The new head.
    pub head: Head,
    /// One answer for each transaction, in their order.
    pub results: Vec<Result<Receipt, Refusal>>,
    /// Which of the transactions enter the log, by index; the others were refused or known.
    pub logged: Vec<usize>,
    /// Changes of the state's objects, which are authenticated.
    pub objects: Writes,
    /// Changes of its marks, nonces and quotas, which follow from the log alone.
    pub marks: Writes,
    /// Changes of the tree over the objects.
    pub tree: tree::Changes,
    /// Roots of the log's subtrees of 256, 256², … entries that this block completes, for proofs.
    pub subtrees: Vec<Kept>,
}

/// A block's transactions one after the other, before the tree.
struct JudgedBlock {
    height: u64,
    results: Vec<Result<Receipt, Refusal>>,
    logged: Vec<usize>,
    writes: Writes,
    log: Frontier,
    subtrees: Vec<Kept>,
}

impl StateMachine {
    /// The machine of a network.
    pub fn new(genesis: Genesis) -> Self {
        let network = genesis.network();
        let first = first_objects(&genesis);
        Self {
            genesis,
            network,
            first,
            proven: ProvenSignatures::default(),
            known: MACHINE_VERSION,
            since: Operation::since,
        }
    }

    /// This machine in an older or a newer program: one that has machines up to `known`.
    #[must_use]
    pub fn of_program(self, known: u64) -> Self {
        Self { known, ..self }
    }

    /// This machine in a program with newer operations: `since` gives the machine that each operation came with.
    #[must_use]
    pub fn with_operations_since(self, since: Since) -> Self {
        Self { since, ..self }
    }

    /// Reads a transaction as every program of the network reads it for the block of a height: one with an operation
    /// that the machine in force there does not have is malformed, as it is to a program that never had it.
    pub fn read(
        &self,
        bytes: &[u8],
        height: u64,
        state: &dyn StateRead,
    ) -> Result<Transaction, ReadError> {
        let transaction = Transaction::from_bytes(bytes)?;
        let needed = transaction.since(self.since);
        // Every network has the first machine in force, so the rules are seldom read.
        if needed > 1 && self.rules(state, height)?.machine_version < needed {
            return Err(Malformed("an unknown operation").into());
        }
        Ok(transaction)
    }

    /// The network's identifier.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The network's genesis.
    pub fn genesis(&self) -> &Genesis {
        &self.genesis
    }

    /// The DID of a registered subject.
    pub fn did(&self, id: Identifier) -> Option<Did> {
        Did::parse(&(prefix(self.network.as_str()) + &id.to_string())).ok()
    }

    /// Whether a key of the state is the key of a mark: a nonce or a quota.
    pub fn is_mark(key: &[u8]) -> bool {
        is_mark(key)
    }

    /// Whether the record under a key of the state never changes.
    pub fn never_changes(key: &[u8]) -> bool {
        never_changes(key)
    }

    /// Whether the object under a key leads to others: it holds the number of the present version.
    pub fn leads_further(key: &[u8]) -> bool {
        let parts = key.split(|byte| *byte == b'/').count();
        (key.starts_with(b"did/") && parts == 2) || (key.starts_with(b"status/") && parts == 3)
    }

    /// The keys that the reader of an object asks for next: those of its present version and its first. Empty for an
    /// object that does not lead to others.
    pub fn further(key: &[u8], object: &[u8]) -> Vec<Vec<u8>> {
        let present = PresentVersion::from_cbor(object);
        let Some(present) = present.ok().filter(|_| Self::leads_further(key)) else {
            return Vec::new();
        };
        let mut versions = vec![present.version, 1];
        versions.dedup();
        let at = |number: u64| [key, format!("/v/{number}").as_bytes()].concat();
        versions.into_iter().map(at).collect()
    }

    /// The objects that the genesis puts into the state; the first block writes them.
    pub fn first_objects(&self) -> &Writes {
        &self.first
    }

    /// Whether a transaction would be accepted in the next block, alone and at this time. Returns its receipt if it was
    /// accepted before, otherwise `None`.
    pub fn check(
        &self,
        tx: &Transaction,
        head: &Head,
        time: UnixTime,
        state: &dyn StateRead,
    ) -> Result<Option<Receipt>, CheckError> {
        if let Some(refusal) = self.is_unready_for(tx) {
            return Err(refusal.into());
        }
        let state = self.begun(state);
        let situation = self.situation(head, time.max(head.time), &state)?;
        match situation.judge(tx)? {
            Admission::Known(receipt) => Ok(Some(receipt)),
            Admission::New(..) => Ok(None),
        }
    }

    /// Applies the block after `head` to `state`. `nodes` holds the tree over the state's objects. Neither is changed.
    pub fn apply(
        &self,
        head: &Head,
        block: &Block<'_>,
        state: &dyn StateRead,
        nodes: &dyn NodeRead,
    ) -> Result<Applied, ApplyError> {
        let JudgedBlock {
            height,
            results,
            logged,
            writes,
            log,
            subtrees,
        } = self.judge(head, block, state)?;
        let (objects, marks) = divide(writes);
        let puts = objects.iter().map(|(k, v)| (&**k, Some(&**v)));
        let tree = tree::update(nodes, head.tree, height, puts)?;
        Ok(Applied {
            head: Head {
                height,
                time: block.time,
                tree: tree.root,
                log,
            },
            results,
            logged,
            objects,
            marks,
            tree,
            subtrees,
        })
    }

    /// The transactions of a block that would enter the log, by index, as in [`Applied::logged`].
    pub fn accepted(
        &self,
        head: &Head,
        block: &Block<'_>,
        state: &dyn StateRead,
    ) -> Result<Vec<usize>, ApplyError> {
        Ok(self.judge(head, block, state)?.logged)
    }

    fn judge(
        &self,
        head: &Head,
        block: &Block<'_>,
        state: &dyn StateRead,
    ) -> Result<JudgedBlock, ApplyError> {
        if block.time < head.time {
            return Err(ApplyError::Time);
        }
        let state = self.begun(state);
        let start = self.situation(head, block.time, &state)?;
        let mut room = BlockRoom::of(&start.rules);
        let mut overlay = Overlay::new(&state);
        if head.height == 0 {
            overlay.writes.clone_from(&self.first);
        }
        let (mut log, mut subtrees) = (head.log.clone(), Vec::new());
        let (mut results, mut logged) = (Vec::with_capacity(block.transactions.len()), Vec::new());
        for (index, tx) in block.transactions.iter().enumerate() {
            let bytes = tx.to_bytes();
            let situation = Situation {
                seq_no: log.size().saturating_add(1),
                state: &overlay,
                ..start
            };
            let result = match situation.judge(tx) {
                Err(CheckError::State(error)) => return Err(error.into()),
                Err(CheckError::Refused(refusal)) => Err(refusal),
                Ok(Admission::Known(receipt)) => Ok(receipt),
                Ok(Admission::New(..)) if !room.takes(bytes.len()) => Err(Refusal::BlockFull),
                Ok(Admission::New(receipt, writes)) => {
                    log.append_and(leaf_hash(&bytes), |kept| {
                        if kept.level > 0 {
                            subtrees.push(kept);
                        }
                    });
                    overlay.writes.extend(writes);
                    logged.push(index);
                    Ok(receipt)
                }
            };
            results.push(result);
        }
        Ok(JudgedBlock {
            height: start.height,
            results,
            logged,
            writes: overlay.writes,
            log,
            subtrees,
        })
    }

    /// The state together with the genesis's objects.
    fn begun<'a>(&'a self, below: &'a dyn StateRead) -> Begun<'a> {
        Begun {
            first: &self.first,
            below,
        }
    }

    fn situation<'a>(
        &'a self,
        head: &Head,
        time: UnixTime,
        state: &'a dyn StateRead,
    ) -> Result<Situation<'a>, StateError> {
        let height = head.height.saturating_add(1);
        let schedule: Schedule = read(state, &StateKey::Rules)?.unwrap_or_default();
        let situation = Situation {
            rules: schedule.at(height).unwrap_or(*self.genesis.rules()),
            known: self.known,
            since: self.since,
            network: self.network.as_str(),
            height,
            agreement: Ok(()),
            time,
            seq_no: head.log.size().saturating_add(1),
            proven: &self.proven,
            state,
        };
        situation.knows(&situation.rules)?;
        Ok(situation)
    }
}

/// The objects of the genesis: rules, validators, members with their DIDs and roles.
fn first_objects(genesis: &Genesis) -> Writes {
    let nothing = Writes::new();
    let mut to = Overlay::new(&nothing);
    let receipt = Receipt {
        seq_no: 0,
        height: 0,
        time: genesis.time(),
        tx_hash: sha256(&genesis.to_bytes()),
    };
    let change = ValidatorChange {
        set: genesis.validators().clone(),
        receipt,
    };
    to.put(&StateKey::Rules, &Schedule::of(*genesis.rules()));
    to.put(&StateKey::Validators, &change.set);
    to.put_version(
        &StateKey::ValidatorChanges,
        PresentVersion::open(1),
        &change,
    );
    let trustees = genesis.members().iter();
    let trustees = trustees.filter(|member| member.role == Role::Trustee);
    let trustees = u64::try_from(trustees.count()).unwrap_or(u64::MAX);
    to.put(&StateKey::Trustees, &Count(trustees));
    for member in genesis.members() {
        let Some(id) = member.id() else { continue };
        let membership = Membership {
            role: Some(member.role),
            by: None,
            receipt,
        };
        to.put_version(&StateKey::Role(id), PresentVersion::open(1), &membership);
        let version = DidVersion {
            content: Some(Content::of_key("key-1", member.key.clone())),
            receipt,
        };
        to.put_version(&StateKey::Did(id), PresentVersion::open(1), &version);
    }
    to.writes
}

/// The room left in a block.
struct BlockRoom {
    transactions: u64,
    bytes: u64,
}

impl BlockRoom {
    fn of(rules: &Rules) -> Self {
        Self {
            transactions: rules.max_block_transactions,
            bytes: rules.max_block_bytes,
        }
    }

    /// Takes the room for a transaction; returns false, and takes nothing, if there is too little.
    fn takes(&mut self, length: usize) -> bool {
        let bytes = u64::try_from(length)
            .ok()
            .and_then(|length| self.bytes.checked_sub(length));
        match (self.transactions.checked_sub(1), bytes) {
            (Some(transactions), Some(bytes)) => {
                *self = Self {
                    transactions,
                    bytes,
                };
                true
            }
            _ => false,
        }
    }
}
