//! Runs work that takes longer than 100 µs (Argon2) off the threads that serve: on threads of its own, one a core.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use tokio::sync::{Semaphore, oneshot};

use crate::error::{Error, ErrorKind, Result};

/// Work that waits beyond this is turned away, so that a queue cannot grow without end.
const WAITING_MAX: usize = 64;

type Job = Box<dyn FnOnce() + Send>;

/// A pool of the size of the machine. Its threads are always the same ones: each keeps the memory that one Argon2
/// hash takes (19 MiB), so that many threads taking turns would hold many times that.
#[derive(Clone, Debug)]
pub struct Work {
    jobs: Sender<Job>,
    places: Arc<Semaphore>,
}

impl Work {
    /// A pool for this machine.
    ///
    /// # Errors
    /// `Internal` if no thread can be started.
    pub fn new() -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (jobs, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..cores {
            let queue = queue.clone();
            std::thread::Builder::new()
                .name("work".to_owned())
                .spawn(move || take_turns(&queue))
                .map_err(Error::internal)?;
        }
        let places = Arc::new(Semaphore::new(WAITING_MAX.saturating_add(cores)));
        Ok(Self { jobs, places })
    }

    /// Runs `job` when a core is free.
    ///
    /// # Errors
    /// `TooMany` when too much waits already.
    pub async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let place = self.places.clone().try_acquire_owned().map_err(|_| {
            Error::new(
                ErrorKind::TooMany { retry_after: 2 },
                "too many people sign in at this moment",
            )
        })?;
        let (answer, answered) = oneshot::channel();
        let job = Box::new(move || {
            // Who asked may have gone away.
            let _ = answer.send(job());
            drop(place);
        });
        self.jobs.send(job).map_err(Error::internal)?;
        answered.await.map_err(Error::internal)
    }
}

/// Works until the last of the pool is dropped.
fn take_turns(queue: &Mutex<Receiver<Job>>) {
    loop {
        let job = match queue.lock() {
            Ok(queue) => queue.recv(),
            Err(_) => return,
        };
        match job {
            Ok(job) => job(),
            Err(_) => return,
        }
    }
}
