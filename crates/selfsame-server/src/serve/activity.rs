//! Whether a connection is busy, so that one that has fallen silent can be closed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::Instant;

/// What one connection is doing.
#[derive(Clone)]
pub(super) struct Activity(Arc<State>);

struct State {
    began: Instant,
    busy: AtomicUsize,
    last_ms: AtomicU64,
}

/// Held while a request is answered, its body included.
pub(super) struct Busy(Arc<State>);

impl Activity {
    pub(super) fn new() -> Self {
        Self(Arc::new(State {
            began: Instant::now(),
            busy: AtomicUsize::new(0),
            last_ms: AtomicU64::new(0),
        }))
    }

    pub(super) fn enter(&self) -> Busy {
        self.0.busy.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(&self.0))
    }

    /// Ends once nothing has been asked or answered for `limit`.
    pub(super) async fn silent_for(&self, limit: Duration) {
        loop {
            let quiet = self.0.began.elapsed().saturating_sub(self.last());
            if self.0.busy.load(Ordering::Relaxed) > 0 {
                tokio::time::sleep(limit).await;
            } else if quiet >= limit {
                return;
            } else {
                tokio::time::sleep(limit.saturating_sub(quiet)).await;
            }
        }
    }

    fn last(&self) -> Duration {
        Duration::from_millis(self.0.last_ms.load(Ordering::Relaxed))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let now = u64::try_from(self.0.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.last_ms.store(now, Ordering::Relaxed);
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_silent_connection_is_noticed_and_a_busy_one_is_left_alone() {
        let limit = Duration::from_secs(30);
        let silent = Activity::new();
        tokio::time::timeout(Duration::from_secs(31), silent.silent_for(limit))
            .await
            .unwrap();

        let busy = Activity::new();
        let request = busy.enter();
        assert!(
            tokio::time::timeout(Duration::from_secs(300), busy.silent_for(limit))
                .await
                .is_err()
        );
        drop(request);
        assert!(
            tokio::time::timeout(Duration::from_secs(29), busy.silent_for(limit))
                .await
                .is_err()
        );
        tokio::time::timeout(Duration::from_secs(40), busy.silent_for(limit))
            .await
            .unwrap();
    }
}
