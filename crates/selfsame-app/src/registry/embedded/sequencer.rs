//! The sequencer: whatever waits becomes the next block, and the block is durable before anybody is answered. While one
//! block is stored, the next is judged on top of it.

use std::pin::pin;
use std::sync::Arc;

use selfsame_crypto::time::UnixTime;
use selfsame_registry::{Applied, Block, Head, Receipt, Refusal, Transaction};
use selfsame_store::Store;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::Ledger;
use super::signer::Signer;
use super::times::Times;
use crate::error::{Error, ErrorKind, Result};
use crate::registry::refused;

/// So many transactions make a block at most, so that the first ones do not wait for the judging of too many others.
const BLOCK_MAX: usize = 1_024;

/// Where transactions wait for the next block.
pub(super) struct Queue {
    queue: mpsc::UnboundedSender<Waiting>,
    /// As many as may wait.
    places: Arc<Semaphore>,
}

struct Waiting {
    transaction: Transaction,
    sender: Sender,
}

/// Who waits for an answer.
struct Sender {
    answer: oneshot::Sender<Result<Receipt>>,
    /// Given back when the block is about to be stored.
    _place: OwnedSemaphorePermit,
}

impl Queue {
    /// Waits until the transaction is in a durable block, or refused.
    pub(super) async fn submit(&self, transaction: Transaction) -> Result<Receipt> {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            let kind = ErrorKind::TooMany { retry_after: 1 };
            return Err(Error::new(
                kind,
                "too many transactions wait for the registry",
            ));
        };
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting {
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

/// The one that makes blocks.
pub(super) struct Sequencer {
    ledger: Ledger,
    head: Head,
    times: Times,
    /// Shows each head to witnesses, where there are any.
    shown: Option<Arc<Signer>>,
    store: Store,
    queue: mpsc::UnboundedReceiver<Waiting>,
}

/// What a sequencer has beside its ledger.
pub(super) struct Beside {
    pub(super) times: Times,
    /// Shows each head to witnesses, where there are any.
    pub(super) shown: Option<Arc<Signer>>,
    /// Whose generation each block notes.
    pub(super) store: Store,
}

/// Transactions as the machine judged them, or why it could not.
struct Judged {
    transactions: Vec<Transaction>,
    senders: Vec<Sender>,
    applied: Result<Applied>,
}

/// A block that is to be stored next.
struct Due {
    transactions: Vec<Transaction>,
    /// None for what goes into a later block.
    senders: Vec<Option<Sender>>,
    applied: Arc<Applied>,
}

/// What a block comes after.
enum After {
    Stored(Head),
    Due(Arc<Applied>),
}

impl Sequencer {
    /// Starts a sequencer that goes on from `head` and stops when the queue is dropped.
    pub(super) fn start(
        ledger: Ledger,
        head: Head,
        (beside, waiting_max): (Beside, usize),
    ) -> Queue {
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
            // What did not fit the last block, or is to be judged again, comes first.
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
                    let judged = judge(self.ledger.clone(), (after, time), next).await;
                    self.take(judged)
                }
            };
        }
    }

    /// Stores a block and answers; meanwhile judges what waits or comes. Gives back what is to be judged next, and the
    /// block that is due next.
    async fn store_and_judge(
        &mut self,
        due: Due,
        mut next: Vec<Waiting>,
    ) -> (Vec<Waiting>, Option<Due>) {
        let Due {
            transactions,
            senders,
            applied,
        } = due;
        // Their places are free for others.
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
            // Storing is begun first: who judges then does not stand in its way.
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
                    let judging = judge(ledger.clone(), (after, time), std::mem::take(&mut next));
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
                    // Who went away needs no answer.
                    let _ = answer.send(Err(error));
                }
                // What was judged on top of it is judged again.
                let again = judged.map(Judged::into_waiting);
                (again.unwrap_or(next), None)
            }
        }
    }

    /// Goes on where the ledger stands after a block could not be stored: it may have been stored all the same.
    fn lost(&mut self, error: &Error, height: u64) {
        tracing::error!(%error, height, "a block could not be stored");
        if let Ok(head) = self.ledger.head() {
            self.head = head;
        }
        self.times.end_all();
    }

    /// The block that is due, and what did not fit it. Where nothing is to be stored, who waits is answered.
    fn take(&self, judged: Judged) -> (Vec<Waiting>, Option<Due>) {
        let Judged {
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
            // One that does not even fit an empty block is refused.
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
                    left.push(Waiting {
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

/// Shows a head to the witnesses before another takes its place, so that there are cosigned ones under steady writes.
async fn show(signer: &Signer, head: &Head) {
    if let Err(error) = signer.checkpoint(head).await {
        tracing::error!(%error, height = head.height, "a checkpoint could not be signed");
    }
}

impl Judged {
    fn into_waiting(self) -> Vec<Waiting> {
        let all = self.transactions.into_iter().zip(self.senders);
        let waiting = |(transaction, sender)| Waiting {
            transaction,
            sender,
        };
        all.map(waiting).collect()
    }
}

/// Judges transactions as the next block, where it holds up nobody: signatures take their time, and the ledger's reads
/// wait for the disk.
async fn judge(ledger: Ledger, (after, time): (After, UnixTime), waiting: Vec<Waiting>) -> Judged {
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
    Judged {
        transactions,
        senders,
        applied,
    }
}

fn tell(answers: Vec<Option<oneshot::Sender<Result<Receipt>>>>, applied: &Applied) {
    for (answer, result) in answers.into_iter().zip(&applied.results) {
        if let Some(answer) = answer {
            // Who went away needs no answer.
            let _ = answer.send(result.map_err(|refusal| refused(&refusal)));
        }
    }
}

fn unavailable() -> Error {
    let kind = ErrorKind::Unavailable { retry_after: 1 };
    Error::new(kind, "the registry can't write now")
        .with_hint("send the same transaction again; if it was written, the answer is its receipt")
}
