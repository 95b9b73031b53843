//! A stock of safe primes, found ahead by a thread of its own.

use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use selfsame_crypto::ctx::Ctx;

use crate::cl::SafePrimes;
use crate::issuer::search_safe_primes;

/// Pairs of safe primes for credential definitions to come, so that making one does not wait for the search.
///
/// A thread searches until there are as many as wanted, and again when one is taken. Dropping the stock ends the search
/// within a second, waits for its thread, and wipes the pairs that nobody took.
pub struct SafePrimeStock {
    shared: Arc<Shared>,
    searcher: Option<JoinHandle<()>>,
}

/// What both threads know.
struct Shared {
    most: usize,
    unwanted: AtomicBool,
    shelf: Mutex<Shelf>,
    changed: Condvar,
}

#[derive(Default)]
struct Shelf {
    ready: VecDeque<SafePrimes>,
    /// Nobody searches any more.
    ended: bool,
}

impl SafePrimeStock {
    /// Begins to search, until there are `most` pairs. `fresh` gives the randomness of each search; it must be another
    /// one each time, or two definitions get one key.
    ///
    /// # Errors
    /// What the system says if it has no thread to give.
    pub fn new(
        most: NonZeroUsize,
        fresh: impl FnMut() -> Ctx + Send + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            most: most.get(),
            unwanted: AtomicBool::new(false),
            shelf: Mutex::default(),
            changed: Condvar::new(),
        });
        let searcher = Searcher(Arc::clone(&shared));
        let searcher = thread::Builder::new()
            .name("safe primes".to_owned())
            .spawn(move || searcher.run(fresh))?;
        Ok(Self {
            shared,
            searcher: Some(searcher),
        })
    }

    /// How many pairs are ready.
    pub fn ready(&self) -> usize {
        self.shared.shelf().ready.len()
    }

    /// A pair, if one is ready.
    pub fn try_take(&self) -> Option<SafePrimes> {
        let taken = self.shared.shelf().ready.pop_front();
        self.shared.changed.notify_all();
        taken
    }

    /// A pair, as soon as one is ready. None only if nobody searches any more since `fresh` panicked; then
    /// [`find_safe_primes`](crate::issuer::find_safe_primes) finds one.
    pub fn take(&self) -> Option<SafePrimes> {
        let empty = |shelf: &mut Shelf| shelf.ready.is_empty() && !shelf.ended;
        let waited = self
            .shared
            .changed
            .wait_while(self.shared.shelf(), empty)
            .unwrap_or_else(PoisonError::into_inner)
            .ready
            .pop_front();
        self.shared.changed.notify_all();
        waited
    }
}

impl Drop for SafePrimeStock {
    fn drop(&mut self) {
        {
            // Under the lock, or a searcher that is about to wait would miss it.
            let _shelf = self.shared.shelf();
            self.shared.unwanted.store(true, Ordering::Relaxed);
        }
        self.shared.changed.notify_all();
        if let Some(searcher) = self.searcher.take() {
            // A panic of `fresh` was told when it happened, and `take` shows it.
            let _ = searcher.join();
        }
    }
}

impl fmt::Debug for SafePrimeStock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SafePrimeStock")
            .field("ready", &self.ready())
            .field("most", &self.shared.most)
            .finish()
    }
}

impl Shared {
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_wanted(&self) -> bool {
        !self.unwanted.load(Ordering::Relaxed)
    }
}

/// The thread that searches. However it ends, who waits for a pair is told.
struct Searcher(Arc<Shared>);

impl Searcher {
    fn run(self, mut fresh: impl FnMut() -> Ctx) {
        let Self(shared) = &self;
        loop {
            let full = |shelf: &mut Shelf| shelf.ready.len() >= shared.most && shared.is_wanted();
            drop(shared.changed.wait_while(shared.shelf(), full));
            let found = search_safe_primes(&fresh(), &|| shared.is_wanted());
            let Some(found) = found else { return };
            shared.shelf().ready.push_back(found);
            shared.changed.notify_all();
        }
    }
}

impl Drop for Searcher {
    fn drop(&mut self) {
        self.0.shelf().ended = true;
        self.0.changed.notify_all();
    }
}
