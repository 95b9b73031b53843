//! Limits the calls in progress and the waiting calls for each origin. Beyond both limits, a call fails at once instead
//! of queueing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::NetError;

/// The number of origins above which those without calls are forgotten.
const MAX_ORIGINS: usize = 1_024;

#[derive(Debug)]
pub(crate) struct Gates {
    max_in_flight: usize,
    max_waiting: usize,
    origins: Mutex<HashMap<String, Arc<Gate>>>,
}

#[derive(Debug)]
struct Gate {
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// A slot for a call in progress; released when dropped.
#[derive(Debug)]
pub(crate) struct CallSlot {
    _permit: OwnedSemaphorePermit,
    _gate: Arc<Gate>,
}

impl Gates {
    pub(crate) fn new(max_in_flight: usize, max_waiting: usize) -> Self {
        Self {
            max_in_flight: max_in_flight.max(1),
            max_waiting,
            origins: Mutex::new(HashMap::new()),
        }
    }

    pub(crate) async fn enter(&self, origin: &str) -> Result<CallSlot, NetError> {
        self.enter_at_most(origin, self.max_in_flight).await
    }

    /// Enters a gate with this maximum number of calls in progress. The first call to an origin decides the number.
    pub(crate) async fn enter_at_most(
        &self,
        origin: &str,
        max_in_flight: usize,
    ) -> Result<CallSlot, NetError> {
        let gate = self.gate(origin, max_in_flight);
        let permit = match Arc::clone(&gate.places).try_acquire_owned() {
            Ok(permit) => permit,
            Err(_) => {
                let _waiting = Waiting::join(&gate, self.max_waiting)?;
                Arc::clone(&gate.places)
                    .acquire_owned()
                    .await
                    .map_err(|_| NetError::Busy { retry_after: 1 })?
            }
        };
        Ok(CallSlot {
            _permit: permit,
            _gate: gate,
        })
    }

    fn gate(&self, origin: &str, max_in_flight: usize) -> Arc<Gate> {
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = origins.get(origin) {
            return Arc::clone(gate);
        }
        if origins.len() >= MAX_ORIGINS {
            origins.retain(|_, gate| Arc::strong_count(gate) > 1);
        }
        let gate = Arc::new(Gate {
            places: Arc::new(Semaphore::new(max_in_flight)),
            waiting: AtomicUsize::new(0),
        });
        origins.insert(origin.to_owned(), Arc::clone(&gate));
        gate
    }
}

/// Counts a waiting call, even if it is cancelled while it waits.
struct Waiting<'a>(&'a Gate);

impl<'a> Waiting<'a> {
    fn join(gate: &'a Gate, max: usize) -> Result<Self, NetError> {
        if gate.waiting.fetch_add(1, Ordering::AcqRel) >= max {
            gate.waiting.fetch_sub(1, Ordering::AcqRel);
            return Err(NetError::Busy { retry_after: 1 });
        }
        Ok(Self(gate))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn past_both_bounds_a_call_fails_at_once_and_others_go_on() {
        let gates = Arc::new(Gates::new(1, 1));
        let first = gates.enter("a").await.unwrap();
        let waiter = tokio::spawn({
            let gates = Arc::clone(&gates);
            async move { gates.enter("a").await }
        });
        while gates.gate("a", 1).waiting.load(Ordering::Acquire) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(
            gates.enter("a").await.unwrap_err(),
            NetError::Busy { retry_after: 1 }
        );
        assert!(gates.enter("b").await.is_ok());
        drop(first);
        drop(waiter.await.unwrap().unwrap());
        assert!(gates.enter("a").await.is_ok());
    }

    #[tokio::test]
    async fn a_cancelled_waiter_gives_its_place_in_the_queue_back() {
        let gates = Gates::new(1, 1);
        let _first = gates.enter("a").await.unwrap();
        for _ in 0..3 {
            let waited = tokio::time::timeout(Duration::from_millis(5), gates.enter("a")).await;
            assert!(waited.is_err(), "it waits, and is not refused");
        }
    }

    #[tokio::test]
    async fn a_refused_call_takes_no_place_in_the_queue() {
        let gates = Gates::new(1, 1);
        let first = gates.enter("a").await.unwrap();
        let mut waiting = Box::pin(gates.enter("a"));
        let waited = tokio::time::timeout(Duration::from_millis(5), &mut waiting);
        assert!(waited.await.is_err(), "it waits");
        for _ in 0..5 {
            assert!(gates.enter("a").await.is_err());
        }
        drop(first);
        drop(waiting.await.unwrap());
        let _first = gates.enter("a").await.unwrap();
        let waited = tokio::time::timeout(Duration::from_millis(5), gates.enter("a"));
        assert!(waited.await.is_err(), "it waits again, and is not refused");
    }

    #[tokio::test]
    async fn idle_origins_are_forgotten_and_busy_ones_are_not() {
        let gates = Gates::new(1, 0);
        let _busy = gates.enter("busy").await.unwrap();
        for n in 0..MAX_ORIGINS * 2 {
            gates.enter(&n.to_string()).await.unwrap();
        }
        assert!(gates.origins.lock().unwrap().len() <= MAX_ORIGINS);
        assert!(gates.enter("busy").await.is_err());
    }
}
