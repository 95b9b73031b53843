//! The sequencer: whatever waits becomes the next block, and the block is durable before anybody is answered.

use selfsame_registry::{Applied, Block, Head, Receipt, Refusal, Transaction};
use tokio::sync::{mpsc, oneshot};

use super::Ledger;
use super::times::Times;
use crate::error::{Error, ErrorKind, Result};
use crate::registry::refused;

/// So many transactions make a block at most, so that the first ones do not wait for the judging of too many others.
const BLOCK_MAX: usize = 1_024;

/// Where transactions wait for the next block.
pub(super) struct Queue(mpsc::Sender<Waiting>);

struct Waiting {
    transaction: Transaction,
    answer: oneshot::Sender<Result<Receipt>>,
}

impl Queue {
    /// Waits until the transaction is in a durable block, or refused.
    pub(super) async fn submit(&self, transaction: Transaction) -> Result<Receipt> {
        let (answer, answered) = oneshot::channel();
        match self.0.try_send(Waiting {
            transaction,
            answer,
        }) {
            Ok(()) => answered.await.unwrap_or_else(|_| Err(unavailable())),
            Err(mpsc::error::TrySendError::Full(_)) => {
                let kind = ErrorKind::TooMany { retry_after: 1 };
                Err(Error::new(
                    kind,
                    "too many transactions wait for the registry",
                ))
            }
            Err(mpsc::error::TrySendError::Closed(_)) => Err(unavailable()),
        }
    }
}

/// The one that makes blocks.
pub(super) struct Sequencer {
    ledger: Ledger,
    head: Head,
    times: Times,
    queue: mpsc::Receiver<Waiting>,
}

impl Sequencer {
    /// Starts a sequencer that goes on from `head` and stops when the queue is dropped.
    pub(super) fn start(ledger: Ledger, head: Head, (times, waiting_max): (Times, usize)) -> Queue {
        let (sender, queue) = mpsc::channel(waiting_max.max(1));
        let sequencer = Self {
            ledger,
            head,
            times,
            queue,
        };
        tokio::spawn(sequencer.run());
        Queue(sender)
    }

    async fn run(mut self) {
        let mut next = Vec::new();
        loop {
            if next.is_empty() {
                if self.queue.recv_many(&mut next, BLOCK_MAX).await == 0 {
                    return;
                }
            } else {
                // What did not fit the last block comes first.
                while next.len() < BLOCK_MAX {
                    let Ok(waiting) = self.queue.try_recv() else {
                        break;
                    };
                    next.push(waiting);
                }
            }
            next = self.block(next).await;
        }
    }

    /// Makes one block, answers, and gives back what did not fit.
    async fn block(&mut self, waiting: Vec<Waiting>) -> Vec<Waiting> {
        let (transactions, answers): (Vec<_>, Vec<_>) = waiting
            .into_iter()
            .map(|waiting| (waiting.transaction, waiting.answer))
            .unzip();
        let (transactions, made) = self.make(transactions).await;
        let Made { results, grew } = match made {
            Ok(made) => made,
            Err(error) => {
                for answer in answers {
                    // Who went away needs no answer.
                    let _ = answer.send(Err(error.clone()));
                }
                return Vec::new();
            }
        };
        let mut left = Vec::new();
        for ((transaction, answer), result) in transactions.into_iter().zip(answers).zip(results) {
            match result {
                // One that does not even fit an empty block is refused.
                Err(Refusal::BlockFull) if grew => left.push(Waiting {
                    transaction,
                    answer,
                }),
                result => {
                    let _ = answer.send(result.map_err(|refusal| refused(&refusal)));
                }
            }
        }
        left
    }

    /// Judges the transactions and stores what is accepted of them.
    async fn make(&mut self, transactions: Vec<Transaction>) -> (Vec<Transaction>, Result<Made>) {
        let made = self.judge_and_store(transactions).await;
        self.times.end_block();
        made
    }

    async fn judge_and_store(
        &mut self,
        transactions: Vec<Transaction>,
    ) -> (Vec<Transaction>, Result<Made>) {
        let (ledger, head) = (self.ledger.clone(), self.head.clone());
        let time = self.times.begin_block(head.time);
        // Signatures take their time and the ledger's reads wait for the disk: not on a thread that serves.
        let judging = tokio::task::spawn_blocking(move || {
            let block = Block {
                time,
                transactions: &transactions,
            };
            let applied = ledger.machine().apply(&head, &block, (&ledger, &ledger));
            (transactions, applied)
        });
        let (transactions, applied) = match judging.await {
            Ok((transactions, Ok(applied))) => (transactions, applied),
            Ok((transactions, Err(error))) => return (transactions, Err(Error::internal(error))),
            Err(error) => return (Vec::new(), Err(Error::internal(error))),
        };
        let stored = self.store(&transactions, &applied).await;
        let made = Made {
            grew: !applied.logged.is_empty(),
            results: applied.results,
        };
        (transactions, stored.map(|()| made))
    }

    async fn store(&mut self, transactions: &[Transaction], applied: &Applied) -> Result<()> {
        if applied.logged.is_empty() {
            return Ok(());
        }
        match self.ledger.append(transactions, applied).await {
            Ok(()) => {
                self.head = applied.head.clone();
                Ok(())
            }
            Err(error) => {
                tracing::error!(%error, height = applied.head.height, "a block could not be stored");
                // It may have been stored all the same; what is in the ledger is what holds.
                if let Ok(head) = self.ledger.head() {
                    self.head = head;
                }
                Err(unavailable())
            }
        }
    }
}

/// What a block came to.
struct Made {
    results: Vec<std::result::Result<Receipt, Refusal>>,
    /// Whether anything was written.
    grew: bool,
}

fn unavailable() -> Error {
    let kind = ErrorKind::Unavailable { retry_after: 1 };
    Error::new(kind, "the registry can't write at this moment")
        .with_hint("send the same transaction again; if it was written, its receipt is the answer")
}
