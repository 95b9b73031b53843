//! Queues for what many want at once, such as the uses of one offer: they take turns in place of losing races.

use tokio::sync::{Mutex, MutexGuard};

const LANES: usize = 256;

/// A fixed number of queues; what falls into the same one waits for each other.
pub(super) struct Lanes(Vec<Mutex<()>>);

impl Lanes {
    pub fn new() -> Self {
        Self((0..LANES).map(|_| Mutex::new(())).collect())
    }

    /// Waits for the turn of this hash.
    pub async fn enter(&self, hash: &[u8; 32]) -> Option<MutexGuard<'_, ()>> {
        let [first, ..] = hash;
        match self.0.get(usize::from(*first)) {
            Some(lane) => Some(lane.lock().await),
            None => None,
        }
    }
}
