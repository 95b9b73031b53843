//! Connections that read. A point read is done where it is asked for: it took 4 µs there and 15 µs by way of a
//! blocking thread (`examples/latency.rs` measures both). Long reads go to the blocking pool, a few at a time.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::file;
use crate::error::{Result, StoreError};

/// Rows up to which a read counts as short.
pub(super) const SHORT: usize = 50;
/// Long reads at a time. Each takes a connection; there are that many more than threads that read at once.
const LONG_AT_ONCE: usize = 2;
const DEADLINE: Duration = Duration::from_secs(10);

/// A small pool of connections that read.
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

    /// Reads at once.
    pub(crate) fn now<T>(&self, read: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        for connection in &self.0.connections {
            match connection.try_lock() {
                Ok(free) => return read(&free),
                Err(TryLockError::Poisoned(poisoned)) => return read(&poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        // More threads read than there are connections; a short read is soon over.
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
