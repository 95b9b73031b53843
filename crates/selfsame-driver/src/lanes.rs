//! Queues for concurrent requests, such as those that use the same offer: they take turns instead of losing races.

use tokio::sync::{Mutex, MutexGuard};

const LANES: usize = 256;

/// A fixed number of queues; requests in the same queue wait for each other.
pub struct Lanes(Vec<Mutex<()>>);

impl Default for Lanes {
    fn default() -> Self {
        Self((0..LANES).map(|_| Mutex::new(())).collect())
    }
}

impl Lanes {
    /// Waits until the queue of this hash is free.
    pub async fn enter(&self, hash: &[u8; 32]) -> Option<MutexGuard<'_, ()>> {
        let [first, ..] = hash;
        match self.0.get(usize::from(*first)) {
            Some(lane) => Some(lane.lock().await),
            None => None,
        }
    }
}
