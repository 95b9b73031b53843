//! Computations on the pool, a few at a time.

use std::sync::Arc;

use selfsame_core::Shared;
use selfsame_driver::Result;
use tokio::sync::Semaphore;

/// Computations that wait for a core at once; further ones wait here, so that the pool refuses none.
const COMPUTING_MAX: usize = 32;

/// The way to the pool.
#[derive(Clone)]
pub(crate) struct Computing {
    shared: Arc<Shared>,
    turns: Arc<Semaphore>,
}

impl Computing {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let turns = Arc::new(Semaphore::new(COMPUTING_MAX));
        Self { shared, turns }
    }

    /// Computes on the pool, in turn.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        // The semaphore is never closed.
        let _turn = self.turns.acquire().await;
        self.shared.work.run(job).await?
    }
}
