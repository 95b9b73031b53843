//! Reading connections. Point reads run on the calling thread: that took 4 µs, against 15 µs on a blocking thread
//! (`examples/latency.rs` measures both). Long reads run in the blocking pool, a few at a time.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::file;
use crate::error::{Result, StoreError};

/// The maximum number of rows of a short read.
pub(super) const SHORT: usize = 50;
/// The maximum number of concurrent long reads. Each takes a connection; the pool has this many beyond the number of
/// reading threads.
const LONG_AT_ONCE: usize = 2;
const DEADLINE: Duration = Duration::from_secs(10);

/// A small pool of reading connections.
#[derive(Clone)]
pub(crate) struct Readers(Arc<Pool>);

struct Pool {
    connections: Vec<Mutex<Connection>>,
    long: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let threads =
            std::thread::available_parallelism().map_or(2, |threads| threads.get().clamp(2, 8));
        let connections = (0..threads + LONG_AT_ONCE)
            .map(|_| file::open_reader(path).map(Mutex::new))
            .collect::<Result<_>>()?;
        Ok(Self(Arc::new(Pool {
            connections,
            long: Arc::new(Semaphore::new(LONG_AT_ONCE)),
        })))
    }

    /// Reads on the calling thread.
    pub(crate) fn now<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        for connection in &self.0.connections {
            match connection.try_lock() {
                Ok(free) => return read(&free),
                Err(TryLockError::Poisoned(poisoned)) => return read(&poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        // All connections are in use; waits for one, since a short read ends soon.
        match self.0.connections.first() {
            Some(first) => read(&first.lock().unwrap_or_else(PoisonError::into_inner)),
            None => Err(StoreError::Busy),
        }
    }

    /// Reads in the blocking pool.
    pub(crate) async fn long<T, R>(&self, read: R) -> Result<T>
    where
        T: Send + 'static,
        R: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let turn = tokio::time::timeout(DEADLINE, self.0.long.clone().acquire_owned()).await;
        let turn = turn
            .map_err(|_| StoreError::Busy)?
            .map_err(|_| StoreError::Busy)?;
        let readers = self.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let read = readers.now(read);
            drop(turn);
            read
        });
        let read = tokio::time::timeout(DEADLINE, reading)
            .await
            .map_err(|_| StoreError::Deadline)?;
        read.map_err(|_| StoreError::Storage("a read was cut off".to_owned()))?
    }
}
