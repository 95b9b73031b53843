//! Remembers whether there is room to store more.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a ledger that had no room counts as full, unless a write to it succeeds; no test writes go to a ledger.
const BELIEVED: Duration = Duration::from_secs(30);
/// Minimum time between test writes to a full store, across all callers.
const BETWEEN: Duration = Duration::from_secs(5);

/// When a write last failed for lack of room. All clones share this.
#[derive(Clone, Debug, Default)]
pub struct Wanting(Arc<Mutex<Option<Instant>>>);

impl Wanting {
    /// Notes that there was no room.
    pub fn found(&self) {
        self.set(Some(Instant::now()));
    }

    /// Notes that there is room.
    pub fn over(&self) {
        self.set(None);
    }

    /// Whether there was no room recently.
    #[must_use]
    pub fn is_believed(&self) -> bool {
        self.is_within(BELIEVED)
    }

    /// Whether it is too soon to try again.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.is_within(BETWEEN)
    }

    fn is_within(&self, time: Duration) -> bool {
        let found = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        found.is_some_and(|found| found.elapsed() < time)
    }

    fn set(&self, found: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = found;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn want_of_room_is_believed_for_a_while_and_until_there_is_room() {
        let wanting = Wanting::default();
        assert!(!wanting.is_believed() && !wanting.is_fresh());
        wanting.found();
        assert!(wanting.is_believed() && wanting.is_fresh());
        tokio::time::advance(BETWEEN).await;
        assert!(wanting.is_believed() && !wanting.is_fresh());
        tokio::time::advance(BELIEVED).await;
        assert!(!wanting.is_believed());
        wanting.found();
        wanting.over();
        assert!(!wanting.is_believed() && !wanting.is_fresh());
    }
}
