//! The machine of uses: the registry is called until it answers, and its answer is kept.

use std::sync::Arc;

use selfsame_core::Shared;
use selfsame_core::dids::{Author, Dids};
use selfsame_core::events::EventKind;
use selfsame_core::machine::{Call, CallAnswer, Calling, Machine, Next, Round};
use selfsame_credential::evidence::Step;
use selfsame_driver::record::RecordCache;
use selfsame_driver::{Error, Reason, Result};
use selfsame_registry::{Operation, Transaction};
use selfsame_store::NewOutbox;

use super::record::{USE, UseProgress, UseRecord, UsedUp};

/// The machine of uses.
pub(crate) struct Uses {
    shared: Arc<Shared>,
    dids: Dids,
    records: RecordCache<UseRecord>,
}

impl Uses {
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            dids: Dids::new(shared.clone()),
            shared,
            records: RecordCache::default(),
        }
    }

    /// The transaction of one operation, signed by this author.
    pub async fn signed(&self, author: &Author, operation: Operation) -> Result<Transaction> {
        self.dids.signed_together(author, vec![operation]).await
    }

    /// The outbox entry that calls the registry, in order with the author's other writes.
    pub fn entry(&self, id: &str, author: &Author, transaction: &Transaction) -> Result<NewOutbox> {
        let (call, now) = (Call::registry(transaction), self.shared.clock.now());
        call.entry(USE, id, author.did.as_str(), now)
    }
}

impl Machine for Uses {
    const KIND: &'static str = USE;
    type Record = UseRecord;
    type Input = CallAnswer;
    type Reply = ();

    fn records(&self) -> &RecordCache<UseRecord> {
        &self.records
    }

    fn step(
        &self,
        kept: &mut UseRecord,
        answer: &CallAnswer,
        round: &Round<'_>,
    ) -> Result<Step<Next<()>>> {
        let progress = match answer {
            CallAnswer::Accepted(receipt) => UseProgress::Done(UsedUp {
                at: receipt.time,
                seq_no: receipt.seq_no,
            }),
            CallAnswer::Refused(error) => UseProgress::Refused {
                reason: error.reason.clone(),
            },
            _ => return Err(Error::internal("a registry accepts or refuses")),
        };
        let mut next = Next::written(round, ());
        if let UseProgress::Done(used) = &progress {
            next = next.tell(EventKind::Anchored, used.seq_no.to_string());
        }
        if kept.is_of(round) {
            kept.progress = progress;
        }
        Ok(Step::Done(next))
    }
}

impl Calling for Uses {
    fn given_up(
        &self,
        kept: Option<&mut UseRecord>,
        error: Option<&Error>,
        round: &Round<'_>,
    ) -> Result<Next<()>> {
        let (Some(kept), Some(error)) = (kept, error) else {
            return Ok(Next::unchanged(round, ()));
        };
        if kept.is_of(round) {
            // Whether the registry accepted it is unknown.
            let reason = Reason::new("given-up").because(error.reason.clone());
            kept.progress = UseProgress::Refused { reason };
        }
        Ok(Next::written(round, ()))
    }
}

impl UseRecord {
    /// Whether the call of this round is the one whose answer it awaits.
    fn is_of(&self, round: &Round<'_>) -> bool {
        match round.entry.map(|entry| &entry.call) {
            Some(Call::Registry(transaction)) => self.awaits(transaction),
            _ => false,
        }
    }
}
