//! The submitters that wait until their transaction is in a stored block.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_registry::Receipt;
use tokio::sync::oneshot;

/// A transaction's identity: the digest of its author's request, without signatures.
pub(crate) type Hash = [u8; 32];
/// The digest of a transaction's bytes, signatures included.
pub(crate) type Digest = [u8; 32];

struct Waiter {
    digest: Digest,
    answer: oneshot::Sender<Result<Receipt>>,
}

/// The submitters that wait, by transaction. Clones share one state.
#[derive(Clone)]
pub(crate) struct WaitingSubmitters {
    most: usize,
    places: Arc<Mutex<Places>>,
}

#[derive(Default)]
struct Places {
    by_hash: HashMap<Hash, Vec<Waiter>>,
    taken: usize,
}

/// One submitter's place; dropping it frees the place.
pub(crate) struct WaitingPlace {
    hash: Hash,
    answer: oneshot::Receiver<Result<Receipt>>,
    waiting: WaitingSubmitters,
}

impl WaitingSubmitters {
    /// Creates this many places.
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most: most.max(1),
            places: Arc::default(),
        }
    }

    /// Takes a place for the transaction with this hash, sent as the bytes with this digest.
    pub(crate) fn enter(&self, hash: Hash, digest: Digest) -> Result<WaitingPlace> {
        let mut places = self.places();
        if places.taken >= self.most {
            let kind = ErrorKind::TooMany { retry_after: 1 };
            return Err(Error::new(kind, "transactions-waiting"));
        }
        let (sender, answer) = oneshot::channel();
        places.taken += 1;
        places.by_hash.entry(hash).or_default().push(Waiter {
            digest,
            answer: sender,
        });
        Ok(WaitingPlace {
            hash,
            answer,
            waiting: self.clone(),
        })
    }

    /// Whether no submitter waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.places().by_hash.is_empty()
    }

    /// Tells all submitters that wait for this transaction that it is in the log.
    pub(crate) fn logged(&self, receipt: &Receipt) {
        for waiter in self.places().take(&receipt.tx_hash, |_| true) {
            // A submitter that has left needs no answer.
            let _ = waiter.answer.send(Ok(*receipt));
        }
    }

    /// Tells the submitters of exactly these bytes that they are refused. Submitters of the same request with another
    /// signature are not told: anyone can send a copy with a wrong signature.
    pub(crate) fn refused(&self, hash: &Hash, digest: &Digest, error: &Error) {
        for waiter in self.places().take(hash, |waiter| waiter.digest == *digest) {
            let _ = waiter.answer.send(Err(error.clone()));
        }
    }

    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    /// Removes and returns the waiters of a transaction for which `meant` is true.
    fn take(&mut self, hash: &Hash, meant: impl Fn(&Waiter) -> bool) -> Vec<Waiter> {
        let Some(waiters) = self.by_hash.get_mut(hash) else {
            return Vec::new();
        };
        let (taken, left): (Vec<_>, Vec<_>) = std::mem::take(waiters).into_iter().partition(meant);
        if left.is_empty() {
            self.by_hash.remove(hash);
        } else {
            *waiters = left;
        }
        self.taken = self.taken.saturating_sub(taken.len());
        taken
    }
}

impl WaitingPlace {
    /// Waits for the answer; `None` if it can no longer come.
    pub(crate) async fn answer(&mut self) -> Option<Result<Receipt>> {
        (&mut self.answer).await.ok()
    }

    /// The answer, if it has arrived.
    pub(crate) fn answered(&mut self) -> Option<Result<Receipt>> {
        self.answer.try_recv().ok()
    }
}

impl Drop for WaitingPlace {
    fn drop(&mut self) {
        self.answer.close();
        let mut places = self.waiting.places();
        drop(places.take(&self.hash, |waiter| waiter.answer.is_closed()));
    }
}

#[cfg(test)]
mod tests {
    use selfsame_crypto::time::UnixTime;

    use super::*;

    const HASH: Hash = [7; 32];
    const SENT: Digest = [1; 32];
    const FORGED: Digest = [2; 32];

    fn receipt() -> Receipt {
        Receipt {
            seq_no: 1,
            height: 1,
            time: UnixTime(1),
            tx_hash: HASH,
        }
    }

    #[tokio::test]
    async fn all_who_wait_for_a_transaction_are_told_and_their_places_are_free_again() {
        let waiting = WaitingSubmitters::new(2);
        let enter = || waiting.enter(HASH, SENT);
        let (mut one, mut other) = (enter().unwrap(), enter().unwrap());
        assert!(enter().is_err());
        assert!(!waiting.is_empty() && one.answered().is_none());
        waiting.logged(&receipt());
        assert_eq!(one.answer().await, Some(Ok(receipt())));
        assert_eq!(other.answered(), Some(Ok(receipt())));
        assert!(waiting.is_empty());
        drop((one, other));
        let _again = (enter().unwrap(), enter().unwrap());
        assert!(enter().is_err());
    }

    #[tokio::test]
    async fn a_copy_with_a_wrong_signature_refuses_no_other_copy() {
        let waiting = WaitingSubmitters::new(4);
        let mut good = waiting.enter(HASH, SENT).unwrap();
        let mut forged = waiting.enter(HASH, FORGED).unwrap();
        waiting.refused(&HASH, &FORGED, &Error::bad_request("refused-so"));
        assert!(forged.answered().unwrap().is_err());
        assert!(good.answered().is_none());
        waiting.logged(&receipt());
        assert_eq!(good.answered(), Some(Ok(receipt())));
    }

    #[tokio::test]
    async fn who_goes_away_leaves_his_place_to_others() {
        let waiting = WaitingSubmitters::new(2);
        let stays = waiting.enter(HASH, SENT).unwrap();
        for _ in 0..10 {
            drop(waiting.enter(HASH, SENT).unwrap());
        }
        assert!(!waiting.is_empty());
        drop(stays);
        assert!(waiting.is_empty());
        assert_eq!(waiting.places().taken, 0);
    }
}
