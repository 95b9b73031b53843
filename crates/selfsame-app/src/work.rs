//! Runs work that takes longer than 100 µs (Argon2, key tables) off the threads that serve, as many at once as there are cores.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::error::{Error, ErrorKind, Result};

/// Work that waits beyond this is turned away, so that a queue cannot grow without end.
const WAITING_MAX: usize = 64;

/// A pool of the size of the machine.
#[derive(Clone, Debug)]
pub struct Work {
    running: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
}

impl Work {
    /// A pool for this machine.
    #[must_use]
    pub fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            running: Arc::new(Semaphore::new(cores)),
            waiting: Arc::new(Semaphore::new(WAITING_MAX.saturating_add(cores))),
        }
    }

    /// Runs `job` on a thread of its own when a core is free.
    ///
    /// # Errors
    /// `TooMany` when too much waits already.
    pub async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let busy = || {
            Error::new(
                ErrorKind::TooMany { retry_after: 2 },
                "too many people sign in at this moment",
            )
        };
        let _place = self
            .waiting
            .clone()
            .try_acquire_owned()
            .map_err(|_| busy())?;
        let _core = self.running.acquire().await.map_err(Error::internal)?;
        tokio::task::spawn_blocking(job)
            .await
            .map_err(Error::internal)
    }
}

impl Default for Work {
    fn default() -> Self {
        Self::new()
    }
}
