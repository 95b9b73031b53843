//! Replays the blocks of a snapshot, one after the other.

use selfsame_catalogue::english;
use selfsame_driver::Error;
use selfsame_ledger::{Ledger, log_origin};
use selfsame_proof::checkpoint::{Checkpoint, Standing};
use selfsame_proof::note::SignedNote;
use selfsame_proof::read::Handover;
use selfsame_proof::validators::STATE_KEY;
use selfsame_registry::{Block, Head, Transaction};

use super::Halt;
use crate::signer::signers;
use crate::snapshot::Stored;

/// Why a snapshot is refused.
#[derive(Debug)]
pub(super) struct RefusedSnapshot(pub(super) String);

/// A ledger that is rebuilt block by block.
pub(super) struct Replay {
    pub(super) ledger: Ledger,
    pub(super) head: Head,
}

impl Replay {
    /// Continues from the ledger's current head.
    pub(super) fn new(ledger: Ledger) -> Result<Self, Halt> {
        let head = ledger.head().map_err(Halt::from)?;
        Ok(Self { ledger, head })
    }

    /// Applies a block. All its transactions must be accepted, as they were when the block was made.
    pub(super) async fn add(&mut self, stored: &Stored) -> Result<(), RefusedSnapshot> {
        let read = |bytes: &Vec<u8>| Transaction::from_bytes(bytes);
        let transactions: Result<Vec<_>, _> = stored.transactions.iter().map(read).collect();
        let transactions =
            transactions.map_err(|malformed| RefusedSnapshot(malformed.to_string()))?;
        let block = Block {
            time: stored.time,
            transactions: &transactions,
        };
        let applied = self
            .ledger
            .apply(&self.head, &block)
            .map_err(|error| RefusedSnapshot(error.to_string()))?;
        if applied.logged.len() != transactions.len() {
            return Err(RefusedSnapshot(
                "one of its transactions is refused".to_owned(),
            ));
        }
        let handover = match &stored.handover {
            Some(note) => Some(self.handover(note)?),
            None => None,
        };
        let appended = self
            .ledger
            .append_and(&transactions, &applied, handover.as_ref());
        appended.await.map_err(refused)?;
        self.head = applied.head;
        Ok(())
    }

    /// The handover of readers to the validators of the last block.
    fn handover(&self, note: &str) -> Result<Handover, RefusedSnapshot> {
        self.signed(note)?;
        let machine = self.ledger.machine();
        let set = machine.validators(&self.ledger);
        let proven = self.ledger.prove(STATE_KEY, self.head.tree, note);
        let none = || RefusedSnapshot("the validators can't be proven".to_owned());
        Ok(Handover {
            note: note.to_owned(),
            set: set.map_err(|error| RefusedSnapshot(error.to_string()))?,
            proof: proven.map_err(refused)?.ok_or_else(none)?.proof,
        })
    }

    /// Whether the ledger has reached this state, and enough of its validators signed the note.
    pub(super) fn is_at(&self, standing: &Standing, note: &str) -> Result<(), RefusedSnapshot> {
        if self.head.standing() != *standing {
            return Err(RefusedSnapshot(
                "its blocks lead to another state than its checkpoint".to_owned(),
            ));
        }
        self.signed(note)
    }

    /// Whether the note is the complete checkpoint of the last block.
    fn signed(&self, note: &str) -> Result<(), RefusedSnapshot> {
        let origin = log_origin(&self.ledger.genesis().network());
        let set = signers(&self.ledger, &self.head).map_err(refused)?;
        let agreed = SignedNote::parse(note)
            .and_then(|note| Checkpoint::agreed(&note, &origin, &set))
            .map_err(|error| RefusedSnapshot(error.to_string()))?;
        if agreed.standing == self.head.standing() {
            return Ok(());
        }
        Err(RefusedSnapshot(
            "a checkpoint is of another state".to_owned(),
        ))
    }
}

fn refused(error: Error) -> RefusedSnapshot {
    RefusedSnapshot(english(&error.reason))
}
