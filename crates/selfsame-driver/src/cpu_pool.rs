//! Runs work longer than 100 µs (Argon2) off the threads that serve requests: in a pool with one thread per core.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use crate::{Error, ErrorKind, Result};
use tokio::sync::{Semaphore, oneshot};

/// Jobs that may wait; more are refused, so that the queue cannot grow without bound.
const WAITING_MAX: usize = 64;
/// Of these, jobs of callers who wait for their turn; further callers wait before they hand theirs in.
const IN_TURN_MAX: usize = 32;

type Job = Box<dyn FnOnce() + Send>;

/// A pool with one thread per core. The threads live as long as the pool: each keeps the memory that one Argon2 hash
/// takes (19 MiB), and a job run on ever new threads would hold many times that.
#[derive(Clone, Debug)]
pub struct CpuPool {
    jobs: Sender<Job>,
    places: Arc<Semaphore>,
    turns: Arc<Semaphore>,
}

impl CpuPool {
    /// Creates a pool for this machine, whose threads have this name.
    ///
    /// # Errors
    /// `Internal` if no thread can be started.
    pub fn new(name: &str) -> Result<Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (jobs, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        for _ in 0..cores {
            let queue = queue.clone();
            std::thread::Builder::new()
                .name(name.to_owned())
                .spawn(move || take_turns(&queue))
                .map_err(Error::internal)?;
        }
        let places = Arc::new(Semaphore::new(WAITING_MAX.saturating_add(cores)));
        let turns = Arc::new(Semaphore::new(IN_TURN_MAX));
        Ok(Self {
            jobs,
            places,
            turns,
        })
    }

    /// As [`Self::run`], for callers that come in a limited number at a time: they wait for each other, in order, and leave
    /// room for others.
    ///
    /// # Errors
    /// `TooMany` if others have filled the rest of the queue.
    pub async fn run_in_turn<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        // The semaphore is never closed.
        let _turn = self.turns.acquire().await;
        self.run(job).await
    }

    /// Runs `job` when a core is free.
    ///
    /// # Errors
    /// `TooMany` if too many jobs are waiting already.
    pub async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let place = self
            .places
            .clone()
            .try_acquire_owned()
            .map_err(|_| Error::new(ErrorKind::TooMany { retry_after: 2 }, "overloaded"))?;
        let (answer, answered) = oneshot::channel();
        let job = Box::new(move || {
            // A job whose caller went away before it started is skipped.
            if !answer.is_closed() {
                let _ = answer.send(job());
            }
            drop(place);
        });
        self.jobs.send(job).map_err(Error::internal)?;
        answered.await.map_err(Error::internal)
    }
}

/// Runs jobs until the last handle of the pool is dropped.
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

#[cfg(test)]
mod tests {
    use std::future::{Future as _, poll_fn};
    use std::pin::pin;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::Poll;

    use super::*;

    /// Queues the job and drops its future.
    async fn abandoned(pool: &CpuPool, job: impl FnOnce() + Send + 'static) {
        let mut run = pin!(pool.run(job));
        poll_fn(|context| {
            assert!(run.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn callers_who_wait_for_their_turn_are_not_refused_and_leave_room() {
        let work = CpuPool::new("test").unwrap();
        let (go, going) = channel::<()>();
        let going = Arc::new(Mutex::new(going));
        let in_turn = |number: usize| {
            let (work, going) = (work.clone(), going.clone());
            tokio::spawn(async move {
                let job = move || {
                    let _ = going.lock().unwrap().recv();
                    number
                };
                work.run_in_turn(job).await
            })
        };
        let many: Vec<_> = (0..4 * WAITING_MAX).map(in_turn).collect();
        while work.turns.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let other = work.clone();
        let other = tokio::spawn(async move { other.run(|| 7).await });
        drop(go);
        assert_eq!(other.await.unwrap().unwrap(), 7);
        for (number, one) in many.into_iter().enumerate() {
            assert_eq!(one.await.unwrap().unwrap(), number);
        }
    }

    #[tokio::test]
    async fn work_without_a_waiting_caller_is_not_begun() {
        let work = CpuPool::new("test").unwrap();
        let cores = std::thread::available_parallelism().unwrap().get();
        let gate = Arc::new(Barrier::new(cores + 1));
        let busy: Vec<_> = (0..cores)
            .map(|_| {
                let (work, gate) = (work.clone(), gate.clone());
                let wait = move || {
                    gate.wait();
                };
                tokio::spawn(async move { work.run(wait).await })
            })
            .collect();
        while work.places.available_permits() > WAITING_MAX {
            tokio::task::yield_now().await;
        }
        let begun = Arc::new(AtomicBool::new(false));
        let noted = begun.clone();
        abandoned(&work, move || noted.store(true, Ordering::SeqCst)).await;
        gate.wait();
        for one in busy {
            one.await.unwrap().unwrap();
        }
        // The jobs queued after it still run, and its place is free again.
        assert_eq!(work.run(|| 7).await.unwrap(), 7);
        while work.places.available_permits() < WAITING_MAX + cores {
            tokio::task::yield_now().await;
        }
        assert!(!begun.load(Ordering::SeqCst));
    }
}
