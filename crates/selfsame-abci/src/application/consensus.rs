//! The engine's consensus connection: one request at a time, from the first block to the last.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use selfsame_catalogue::english;
use selfsame_crypto::hash::sha256;
use selfsame_driver::Error;
use selfsame_ledger::{Ledger, refused};
use selfsame_proof::read::Handover;
use selfsame_proof::validators::{STATE_KEY, ValidatorSet};
use selfsame_registry::refusal::{ApplyError, ReadError};
use selfsame_registry::{Applied, Block, Operation, Receipt, Refusal, Transaction};
use tendermint::AppHash;
use tendermint::abci::types::{ExecTxResult, Misbehavior};
use tendermint::abci::{request, response};
use tendermint::v0_38::abci::request::FinalizeBlock;
use tendermint::validator::Update;

use super::answers::{app_hash, executed, height, seconds};
use super::validators::{changed, engine_takes, powers, updates};
use super::{Application, Halt};
use crate::files::{app_state, extended_from};
use crate::notes::Address;

/// The maximum number of transactions in a proposal: with more, the other validators would wait while they are judged.
const PROPOSED_MAX: usize = 1_024;
/// The overhead of a transaction in a block, in bytes: a tag and a length.
const FRAME_BYTES: usize = 6;
/// The engine's blocks are pruned once in this many blocks.
const PRUNING_STEP: u64 = 10;
/// The minimum of retained blocks: those that a node needs after a snapshot, with some time to fetch them.
const RETAINED_MIN: u64 = 50;
/// The length of an Ed25519 signature, which is the whole vote extension.
const SIGNATURE_BYTES: usize = 64;

/// A decided block that is not stored yet.
struct Decided {
    transactions: Vec<Transaction>,
    /// The digests of their bytes.
    digests: Vec<[u8; 32]>,
    applied: Applied,
    /// The validators after the block, if it changed them.
    validators: Option<ValidatorSet>,
    /// The misbehaviour of validators that the engine found.
    misbehaviour: Vec<Misbehavior>,
}

/// The consensus connection's part of the application.
pub(crate) struct Consensus {
    application: Arc<Application>,
    /// The validators in the state, which vote from the height after the next on.
    validators: ValidatorSet,
    /// The height of the last block that changed the validators.
    changed_at: u64,
    decided: Option<Decided>,
    /// Checks whether the engine accepts a change of its validators.
    engine_takes: EngineRule,
}

type EngineRule = fn(&ValidatorSet, &[Update]) -> Result<(), Halt>;

impl Consensus {
    /// Creates the consensus part of an application.
    pub(crate) fn new(application: Arc<Application>) -> selfsame_driver::Result<Self> {
        let ledger = &application.ledger;
        let validators = ledger.machine().validators(ledger);
        let changes = ledger.machine().validator_changes(ledger, 1);
        let changes = changes.map_err(Error::internal)?;
        Ok(Self {
            validators: validators.map_err(Error::internal)?,
            changed_at: changes.last().map_or(0, |change| change.receipt.height),
            application,
            decided: None,
            engine_takes,
        })
    }

    /// Makes the engine accept fewer changes than the machine does, which its own rule never does.
    #[cfg(test)]
    pub(super) fn with_engine(&mut self, engine_takes: EngineRule) {
        self.engine_takes = engine_takes;
    }

    /// Starts the network. The engine's genesis must have been made from ours.
    pub(crate) fn init(&self, request: &request::InitChain) -> Result<response::InitChain, Halt> {
        let genesis = self.application.ledger.genesis();
        if request.app_state_bytes != app_state(genesis).into_bytes() {
            return Err(Halt(
                "the registry's genesis in the engine's genesis differs from this node's"
                    .to_owned(),
            ));
        }
        let (head, begins_after) = (self.application.head(), self.application.begins_after);
        if head.height != begins_after {
            return Err(Halt(format!(
                "the engine begins after height {begins_after}, but the ledger is at height {}; the engine's data folder was lost",
                head.height
            )));
        }
        let first = extended_from(begins_after);
        let extended = request.consensus_params.abci.vote_extensions_enable_height;
        if extended.map(|height| height.value()) != Some(first) {
            return Err(Halt(format!(
                "the engine's genesis does not enable vote extensions from height {first}"
            )));
        }
        self.has_our_validators(request)?;
        // If the hash of the first block differs from this one, the engine makes a second block at once. So the new
        // validators sign the ledger that was carried over without waiting for a transaction.
        let app_hash = match begins_after {
            0 => app_hash(&head)?,
            _ => AppHash::default(),
        };
        Ok(response::InitChain {
            consensus_params: None,
            validators: Vec::new(),
            app_hash,
        })
    }

    fn has_our_validators(&self, request: &request::InitChain) -> Result<(), Halt> {
        let theirs = request.validators.iter();
        let theirs: BTreeMap<Vec<u8>, u64> = theirs
            .map(|update| (update.pub_key.to_bytes(), update.power.value()))
            .collect();
        let ours = powers(&self.validators);
        if ours == theirs {
            return Ok(());
        }
        Err(Halt(
            "the validators in the engine's genesis differ from the registry's".to_owned(),
        ))
    }

    /// Chooses the waiting transactions that fit, and that the machine would accept in this order at this time.
    pub(crate) fn prepare(&self, request: request::PrepareProposal) -> Vec<Bytes> {
        let mut room = usize::try_from(request.max_tx_bytes).unwrap_or(0);
        let mut chosen = Vec::new();
        for bytes in request.txs.into_iter().take(PROPOSED_MAX) {
            let Some(left) = room.checked_sub(bytes.len().saturating_add(FRAME_BYTES)) else {
                break;
            };
            let Ok(transaction) = self.application.read(&bytes) else {
                continue;
            };
            if self.unready(&transaction).is_none() {
                room = left;
                chosen.push((bytes, transaction));
            }
        }
        let (bytes, transactions): (Vec<Bytes>, Vec<Transaction>) = chosen.into_iter().unzip();
        let proposed = match self.accepted(&transactions, request.time) {
            Ok(accepted) => accepted,
            Err(halt) => {
                tracing::error!(reason = halt.0, "no block can be proposed");
                return Vec::new();
            }
        };
        let all = bytes.into_iter().zip(&transactions).enumerate();
        all.filter_map(|(index, (bytes, transaction))| {
            let proposed = proposed.binary_search(&index).is_ok();
            if !proposed {
                self.application.doubts.left_out(transaction);
            }
            proposed.then_some(bytes)
        })
        .collect()
    }

    /// Accepts a proposal if all its transactions can be parsed and the engine can continue after it. Whether a
    /// transaction counts, the machine decides in the decided block.
    pub(crate) fn process(&self, request: &request::ProcessProposal) -> response::ProcessProposal {
        let read = request.txs.iter();
        let read: Result<Vec<Transaction>, _> =
            read.map(|bytes| self.application.read(bytes)).collect();
        let why = match read {
            Ok(transactions) => match self.is_sound(&transactions, request.time) {
                Ok(()) => return response::ProcessProposal::Accept,
                Err(Halt(why)) => why,
            },
            Err(ReadError::Malformed(_)) => {
                "it contains something that is not a transaction".to_owned()
            }
            Err(ReadError::State(error)) => error.to_string(),
        };
        tracing::warn!(height = %request.height, proposer = %request.proposer_address, why, "a proposal is rejected");
        response::ProcessProposal::Reject
    }

    /// Whether the network can continue after a block of these transactions: this program has the machine version that
    /// the block switches to, and the engine accepts the validators.
    fn is_sound(&self, transactions: &[Transaction], time: tendermint::Time) -> Result<(), Halt> {
        match transactions.iter().find_map(|tx| self.unready(tx)) {
            Some(refusal) => Err(Halt(refusal.to_string())),
            None => self.leaves_an_engine(transactions, time),
        }
    }

    fn unready(&self, transaction: &Transaction) -> Option<Refusal> {
        let machine = self.application.ledger.machine();
        machine.is_unready_for(transaction)
    }

    /// The indexes, ascending, of the transactions that a block of them would log.
    fn accepted(
        &self,
        transactions: &[Transaction],
        time: tendermint::Time,
    ) -> Result<Vec<usize>, Halt> {
        let (ledger, head) = (&self.application.ledger, self.application.head());
        let block = Block {
            time: seconds(time).max(head.time),
            transactions,
        };
        let accepted = ledger.accepted(&head, &block);
        let mut accepted = accepted.map_err(|error| halted(ledger, &error))?;
        let logged = accepted
            .iter()
            .filter_map(|index| transactions.get(*index).cloned());
        let logged: Vec<Transaction> = logged.collect();
        if let Err(Halt(why)) = self.leaves_an_engine(&logged, time) {
            tracing::error!(why, "the proposal leaves out changes of the validators");
            accepted.retain(|index| transactions.get(*index).is_none_or(|tx| !validates(tx)));
        }
        Ok(accepted)
    }

    /// Whether the engine accepts the validators that a block of these transactions leaves. The block is applied only
    /// if it may change them.
    fn leaves_an_engine(
        &self,
        transactions: &[Transaction],
        time: tendermint::Time,
    ) -> Result<(), Halt> {
        if !transactions.iter().any(validates) {
            return Ok(());
        }
        match changed(&self.apply(transactions, time)?)? {
            Some(after) => {
                let updates = updates(&self.validators, &after)?;
                (self.engine_takes)(&self.validators, &updates)
            }
            None => Ok(()),
        }
    }

    /// Applies a decided block. It is stored only when the engine asks for that.
    pub(crate) fn finalize(
        &mut self,
        request: &FinalizeBlock,
    ) -> Result<response::FinalizeBlock, Halt> {
        let next = self.application.head().height.saturating_add(1);
        if request.height.value() != next {
            return Err(Halt(format!(
                "the engine decided height {}, but height {next} follows in the ledger",
                request.height
            )));
        }
        // Two thirds of the validators accepted the proposal, so all transactions can be parsed. If one cannot, all
        // validators skip it alike.
        let read = request
            .txs
            .iter()
            .map(|bytes| match self.application.read(bytes) {
                Ok(transaction) => Ok(Some((transaction, sha256(bytes)))),
                Err(ReadError::Malformed(_)) => Ok(None),
                Err(ReadError::State(error)) => Err(Halt(error.to_string())),
            });
        let read: Vec<Option<_>> = read.collect::<Result<_, _>>()?;
        let readable: Vec<bool> = read.iter().map(Option::is_some).collect();
        let (transactions, digests): (Vec<_>, Vec<_>) = read.into_iter().flatten().unzip();
        let applied = self.apply(&transactions, request.time)?;
        let tx_results = results(&readable, &applied);
        let app_hash = app_hash(&applied.head)?;
        let validators = changed(&applied)?;
        let validator_updates = match &validators {
            Some(after) => updates(&self.validators, after)?,
            None => Vec::new(),
        };
        self.decided = Some(Decided {
            transactions,
            digests,
            applied,
            validators,
            misbehaviour: request.misbehavior.clone(),
        });
        Ok(response::FinalizeBlock {
            events: Vec::new(),
            tx_results,
            validator_updates,
            consensus_param_updates: None,
            app_hash,
        })
    }

    fn apply(&self, transactions: &[Transaction], time: tendermint::Time) -> Result<Applied, Halt> {
        let (ledger, head) = (&self.application.ledger, self.application.head());
        let block = Block {
            time: seconds(time).max(head.time),
            transactions,
        };
        let applied = ledger.apply(&head, &block);
        applied.map_err(|error| halted(ledger, &error))
    }

    /// Stores the decided block, then answers those that wait for its transactions.
    pub(crate) async fn commit(&mut self) -> Result<response::Commit, Halt> {
        let Some(decided) = self.decided.take() else {
            return Err(Halt(
                "the engine asks to store a block that it has not decided".to_owned(),
            ));
        };
        let Decided {
            transactions,
            digests,
            applied,
            validators,
            misbehaviour,
        } = decided;
        let application = self.application.clone();
        let handover = self.handover()?;
        let stored = application
            .ledger
            .append_and(&transactions, &applied, handover.as_ref());
        let stored = stored.await;
        stored.map_err(|error| {
            Halt(format!(
                "block {} could not be stored (is the disk full?): {}",
                applied.head.height,
                english(&error.reason)
            ))
        })?;
        let signers = self.validators.clone();
        let stored_at = applied.head.height;
        let misbehaviours = &application.misbehaviours;
        misbehaviours.in_block(stored_at, &misbehaviour, &application.ledger);
        let noted = application.notes.begin(applied.head.clone(), signers);
        noted.map_err(Halt::from)?;
        if let Some(validators) = validators {
            if validators != self.validators {
                self.changed_at = stored_at;
            }
            self.validators = validators;
        }
        application.stands_at(applied.head);
        application.snapshots.after(application.notes.newest());
        let logged = applied.logged.iter();
        let logged = logged.filter_map(|index| transactions.get(*index));
        let validates = application.signer.is_one_of(&self.validators);
        application.doubts.after(logged, !validates);
        for ((transaction, digest), result) in
            transactions.iter().zip(&digests).zip(&applied.results)
        {
            self.tell(&transaction.hash(), digest, result);
        }
        Ok(response::Commit {
            data: Bytes::new(),
            retain_height: height(self.retain_height(stored_at))?,
        })
    }

    /// The first block that the engine keeps, 0 for no change. It advances in steps, so that not every block costs a
    /// pruning. A node that was away for longer catches up with a snapshot of the ledger.
    fn retain_height(&self, stored_at: u64) -> u64 {
        let retained = self.application.retained_blocks.max(RETAINED_MIN);
        match stored_at.checked_sub(retained) {
            Some(first) if stored_at.is_multiple_of(PRUNING_STEP) => first,
            _ => 0,
        }
    }

    /// The handover, if the last block changed the validators: its checkpoint, which the previous validators signed in
    /// the votes for the next block, and the proof that it contains the new ones.
    fn handover(&self) -> Result<Option<Handover>, Halt> {
        let application = &self.application;
        let Some(noted) = application.notes.newest() else {
            return Ok(None);
        };
        let height = application.head().height;
        if height == 0 || self.changed_at != height || noted.head.height != height {
            return Ok(None);
        }
        let proven = application
            .ledger
            .prove(STATE_KEY, noted.head.tree, &noted.text);
        let proven = proven.map_err(Halt::from)?;
        Ok(proven.map(|bundle| Handover {
            note: bundle.note,
            set: self.validators.clone(),
            proof: bundle.proof,
        }))
    }

    fn tell(&self, hash: &[u8; 32], digest: &[u8; 32], result: &Result<Receipt, Refusal>) {
        match result {
            Ok(receipt) => self.application.waiting.logged(receipt),
            Err(refusal) => self
                .application
                .waiting
                .refused(hash, digest, &refused(refusal)),
        }
    }

    /// Signs the checkpoint of the block before the one that is voted on.
    pub(crate) async fn extend(
        &self,
        request: &request::ExtendVote,
    ) -> Result<response::ExtendVote, Halt> {
        let (before, bytes) = self.application.notes.to_sign();
        if request.height.value() != before.saturating_add(1) {
            return Err(Halt(format!(
                "the engine votes for height {}, but the ledger is at {before}",
                request.height
            )));
        }
        let signer = &self.application.signer;
        let signature = signer.sign(&bytes).await;
        let signature = signature.map_err(Halt::from)?;
        if !self.application.notes.add_own(&signer.name, &signature) {
            return Err(Halt(format!(
                "this node's key is not the checkpoint key of validator {}",
                signer.name
            )));
        }
        Ok(response::ExtendVote {
            vote_extension: signature.into(),
        })
    }

    /// Checks a peer's signature of the same checkpoint; a vote with a wrong signature does not count.
    pub(crate) fn verify(
        &self,
        request: &request::VerifyVoteExtension,
    ) -> response::VerifyVoteExtension {
        let notes = &self.application.notes;
        let (before, _) = notes.to_sign();
        let signature = &request.vote_extension;
        let address: Option<Address> = request.validator_address.as_bytes().try_into().ok();
        let good = request.height.value() == before.saturating_add(1)
            && signature.len() == SIGNATURE_BYTES
            && address.is_some_and(|address| notes.add(&address, signature));
        if good {
            return response::VerifyVoteExtension::Accept;
        }
        tracing::warn!(height = %request.height, validator = %request.validator_address, "a vote does not contain its validator's signature of the checkpoint");
        response::VerifyVoteExtension::Reject
    }
}

/// Why a block cannot be applied, and, if the ledger is damaged, what its operator should do.
fn halted(ledger: &Ledger, error: &ApplyError) -> Halt {
    match ledger.damage().is_found() {
        true => Halt(format!("{error}; {}", super::WAY_OUT)),
        false => Halt(error.to_string()),
    }
}

/// Whether a transaction changes the validators if it is accepted.
fn validates(transaction: &Transaction) -> bool {
    let mut operations = transaction.body().operations.iter();
    operations.any(|operation| matches!(operation, Operation::ChangeValidators { .. }))
}

/// One result for each transaction of the block, in the block's order.
fn results(readable: &[bool], applied: &Applied) -> Vec<ExecTxResult> {
    let mut judged = applied.results.iter();
    readable
        .iter()
        .map(|readable| executed(if *readable { judged.next() } else { None }))
        .collect()
}
