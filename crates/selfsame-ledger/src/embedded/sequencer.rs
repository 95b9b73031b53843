//! The sequencer: waiting transactions become the next block, which is durable before their senders get an answer.
//! While one block is stored, the next is validated on top of it.

use std::pin::pin;
use std::sync::Arc;

use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_registry::{Applied, Block, Head, Receipt, Refusal, Transaction};
use selfsame_store::Store;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::Ledger;
use super::signer::CheckpointSigner;
use crate::refusal::refused;
use crate::times::Times;

/// Maximum number of transactions in a block, so that the first ones do not wait while too many others are validated.
const BLOCK_MAX: usize = 1_024;

/// The queue of transactions that wait for the next block.
pub(super) struct Queue {
    queue: mpsc::UnboundedSender<WaitingTransaction>,
    /// One permit for each transaction that may wait.
    places: Arc<Semaphore>,
}

struct WaitingTransaction {
    transaction: Transaction,
    sender: Sender,
}

/// The sender of a transaction, who waits for an answer.
struct Sender {
    answer: oneshot::Sender<Result<Receipt>>,
    /// Released when the block is about to be stored.
    _place: OwnedSemaphorePermit,
}

impl Queue {
    /// Waits until the transaction is in a durable block or is refused.
    pub(super) async fn submit(&self, transaction: Transaction) -> Result<Receipt> {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            let kind = ErrorKind::TooMany { retry_after: 1 };
            return Err(Error::new(kind, "transactions-waiting"));
        };
        let (answer, answered) = oneshot::channel();
        let waiting = WaitingTransaction {
            transaction,
            sender: Sender {
                answer,
                _place: place,
            },
        };
        match self.queue.send(waiting) {
            Ok(()) => answered.await.unwrap_or_else(|_| Err(unavailable())),
            Err(_) => Err(unavailable()),
        }
    }
}

/// The task that makes blocks.
pub(super) struct Sequencer {
    ledger: Ledger,
    head: Head,
    times: Times,
    /// Shows each head to the witnesses, if there are any.
    shown: Option<Arc<CheckpointSigner>>,
    store: Store,
    queue: mpsc::UnboundedReceiver<WaitingTransaction>,
}

/// What a sequencer needs besides its ledger.
pub(super) struct Beside {
    pub(super) times: Times,
    /// Shows each head to the witnesses, if there are any.
    pub(super) shown: Option<Arc<CheckpointSigner>>,
    /// The store whose generation each block notes.
    pub(super) store: Store,
}

/// Transactions with the machine's results, or the error that prevented them.
struct JudgedTransactions {
    transactions: Vec<Transaction>,
    senders: Vec<Sender>,
    applied: Result<Applied>,
}

/// The block to store next.
struct Due {
    transactions: Vec<Transaction>,
    /// `None` for a transaction that goes into a later block.
    senders: Vec<Option<Sender>>,
    applied: Arc<Applied>,
}

/// What the next block follows.
enum After {
    Stored(Head),
    Due(Arc<Applied>),
}

impl Sequencer {
    /// Starts a sequencer that continues from `head` and stops when the queue is dropped.
    pub(super) fn start(ledger: Ledger, head: Head, beside: Beside, waiting_max: usize) -> Queue {
        let (sender, queue) = mpsc::unbounded_channel();
        let sequencer = Self {
            ledger,
            head,
            times: beside.times,
            shown: beside.shown,
            store: beside.store,
            queue,
        };
        tokio::spawn(sequencer.run());
        Queue {
            queue: sender,
            places: Arc::new(Semaphore::new(waiting_max.clamp(1, Semaphore::MAX_PERMITS))),
        }
    }

    async fn run(mut self) {
        let (mut next, mut due) = (Vec::new(), None);
        loop {
            // Transactions that did not fit the last block or must be validated again come first.
            while next.len() < BLOCK_MAX {
                let Ok(waiting) = self.queue.try_recv() else {
                    break;
                };
                next.push(waiting);
            }
            (next, due) = match due {
                Some(due) => self.store_and_judge(due, next).await,
                None => {
                    if next.is_empty() && self.queue.recv_many(&mut next, BLOCK_MAX).await == 0 {
                        return;
                    }
                    let time = self.times.begin_block(self.head.time);
                    let after = After::Stored(self.head.clone());
                    let judged = judge(self.ledger.clone(), after, time, next).await;
                    self.take(judged)
                }
            };
        }
    }

    /// Stores a block and answers its senders. Meanwhile validates the transactions that wait or arrive. Returns the
    /// transactions to validate next and the block to store next.
    async fn store_and_judge(
        &mut self,
        due: Due,
        mut next: Vec<WaitingTransaction>,
    ) -> (Vec<WaitingTransaction>, Option<Due>) {
        let Due {
            transactions,
            senders,
            applied,
        } = due;
        // Frees their places for others.
        let answer = |sender: Sender| sender.answer;
        let answers: Vec<_> = senders
            .into_iter()
            .map(|sender| sender.map(answer))
            .collect();
        if let Some(generation) = self.store.generation() {
            self.ledger.store().note_store(generation);
        }
        let (stored, judged) = {
            let (ledger, times, queue) = (&self.ledger, &self.times, &mut self.queue);
            let mut storing = pin!(ledger.append(&transactions, &applied));
            let some = async {
                if next.is_empty() {
                    queue.recv_many(&mut next, BLOCK_MAX).await;
                }
            };
            // Storing starts first, so that validating the next block does not delay it.
            let stored = tokio::select! {
                biased;
                stored = &mut storing => Some(stored),
                () = some => None,
            };
            match stored {
                Some(stored) => (stored, None),
                None if next.is_empty() => (storing.await, None),
                None => {
                    let time = times.begin_block(applied.head.time);
                    let after = After::Due(applied.clone());
                    let judging = judge(ledger.clone(), after, time, std::mem::take(&mut next));
                    let (stored, judged) = tokio::join!(storing, judging);
                    (stored, Some(judged))
                }
            }
        };
        match stored {
            Ok(()) => {
                self.head = applied.head.clone();
                self.times.end_block();
                tell(answers, &applied);
                if let Some(signer) = &self.shown {
                    show(signer, &self.head).await;
                }
                judged.map_or((next, None), |judged| self.take(judged))
            }
            Err(error) => {
                self.lost(&error, applied.head.height);
                let full = error.kind == ErrorKind::Full;
                for answer in answers.into_iter().flatten() {
                    let error = if full { error.clone() } else { unavailable() };
                    // A sender that has gone away needs no answer.
                    let _ = answer.send(Err(error));
                }
                // Transactions that were validated on top of the lost block are validated again.
                let again = judged.map(JudgedTransactions::into_waiting);
                (again.unwrap_or(next), None)
            }
        }
    }

    /// Continues from the ledger's head after storing a block failed: the block may have been stored all the same.
    fn lost(&mut self, error: &Error, height: u64) {
        tracing::error!(%error, height, "a block could not be stored");
        if let Ok(head) = self.ledger.head() {
            self.head = head;
        }
        self.times.end_all();
    }

    /// The transactions that did not fit the block, and the block to store next. Without a transaction to store, answers
    /// the senders and returns no block.
    fn take(&self, judged: JudgedTransactions) -> (Vec<WaitingTransaction>, Option<Due>) {
        let JudgedTransactions {
            transactions,
            senders,
            applied,
        } = judged;
        let applied = match applied {
            Ok(applied) => applied,
            Err(error) => {
                self.times.give_up();
                for sender in senders {
                    let _ = sender.answer.send(Err(error.clone()));
                }
                return (Vec::new(), None);
            }
        };
        if applied.logged.is_empty() {
            self.times.give_up();
            // A transaction that does not fit even an empty block is refused.
            let answers = senders.into_iter().map(|sender| Some(sender.answer));
            tell(answers.collect(), &applied);
            return (Vec::new(), None);
        }
        let mut left = Vec::new();
        let sorted = senders.into_iter().zip(&applied.results).enumerate();
        let senders = sorted.map(|(index, (sender, result))| {
            let full = matches!(result, Err(Refusal::BlockFull));
            match transactions.get(index).filter(|_| full).cloned() {
                Some(transaction) => {
                    left.push(WaitingTransaction {
                        transaction,
                        sender,
                    });
                    None
                }
                None => Some(sender),
            }
        });
        let senders = senders.collect();
        let due = Due {
            transactions,
            senders,
            applied: Arc::new(applied),
        };
        (left, Some(due))
    }
}

/// Shows a head to the witnesses before another replaces it, so that some heads are cosigned under steady writes too.
async fn show(signer: &CheckpointSigner, head: &Head) {
    if let Err(error) = signer.checkpoint(head).await {
        tracing::error!(%error, height = head.height, "a checkpoint could not be signed");
    }
}

impl JudgedTransactions {
    fn into_waiting(self) -> Vec<WaitingTransaction> {
        let all = self.transactions.into_iter().zip(self.senders);
        let waiting = |(transaction, sender)| WaitingTransaction {
            transaction,
            sender,
        };
        all.map(waiting).collect()
    }
}

/// Validates transactions as the next block, on a thread where this delays nothing else: verifying signatures takes
/// time, and reads of the ledger wait for the disk.
async fn judge(
    ledger: Ledger,
    after: After,
    time: UnixTime,
    waiting: Vec<WaitingTransaction>,
) -> JudgedTransactions {
    let (transactions, senders): (Vec<_>, Vec<_>) = waiting
        .into_iter()
        .map(|waiting| (waiting.transaction, waiting.sender))
        .unzip();
    let judging = tokio::task::spawn_blocking(move || {
        let block = Block {
            time,
            transactions: &transactions,
        };
        let applied = match &after {
            After::Stored(head) => ledger.apply(head, &block),
            After::Due(before) => ledger.apply_after(before, &block),
        };
        let applied = applied.map_err(|error| match error {
            error if ledger.damage().is_found() => Error::damaged(error),
            other => Error::internal(other),
        });
        (transactions, applied)
    });
    let (transactions, applied) = match judging.await {
        Ok(judged) => judged,
        Err(error) => (Vec::new(), Err(Error::internal(error))),
    };
    JudgedTransactions {
        transactions,
        senders,
        applied,
    }
}

fn tell(answers: Vec<Option<oneshot::Sender<Result<Receipt>>>>, applied: &Applied) {
    for (answer, result) in answers.into_iter().zip(&applied.results) {
        if let Some(answer) = answer {
            // A sender that has gone away needs no answer.
            let _ = answer.send(result.map_err(|refusal| refused(&refusal)));
        }
    }
}

fn unavailable() -> Error {
    let kind = ErrorKind::Unavailable { retry_after: 1 };
    Error::new(kind, "registry-write-failed")
}
