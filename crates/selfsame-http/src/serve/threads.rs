//! The threads that serve connections, each with its own event loop. The tasks of a request stay on its thread, so no
//! step waits for another thread to wake. Against one loop shared by all threads, issuing and verifying a credential
//! took seven eighths of the time, and a thousand at once two thirds.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::runtime::{Builder, Handle, RuntimeFlavor};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::pulse::Pulse;

/// One thread serves this many connections before the next thread gets any. A few connections seldom fill a core, and
/// connections that talk to each other are fastest on one thread.
const PACK: usize = 4;
/// How long a thread continues after the stop, for the tasks that its connections left behind.
const LINGER: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// One event loop per core; the first is the loop that accepts.
pub(super) struct Threads {
    places: Vec<ThreadPlace>,
    /// Dropped before the stop signal, so that no thread waits for it to end by itself.
    _beating: JoinSet<()>,
    /// Dropping it signals the threads to stop.
    _running: watch::Sender<()>,
}

struct ThreadPlace {
    handle: Handle,
    connections: Arc<AtomicUsize>,
}

/// A connection's place on a thread.
pub(super) struct Seat(Arc<AtomicUsize>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Threads {
    /// Starts the threads. A multi-threaded runtime keeps its own scheduling instead.
    pub(super) fn start(pulse: &Pulse) -> io::Result<Self> {
        let (running, stopped) = watch::channel(());
        let mut handles = vec![Handle::current()];
        if Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            for number in 1..cores {
                handles.push(event_loop(number, stopped.clone())?);
            }
        }
        let beating = pulse.follow(handles.iter());
        let places = handles.into_iter().map(|handle| ThreadPlace {
            handle,
            connections: Arc::default(),
        });
        Ok(Self {
            places: places.collect(),
            _beating: beating,
            _running: running,
        })
    }

    /// The thread for the next connection. Only the accept loop calls this, so the counts grow one at a time.
    pub(super) fn seat(&self) -> (Handle, Seat) {
        let packs = |place: &&ThreadPlace| place.connections.load(Ordering::Relaxed) / PACK;
        match self.places.iter().min_by_key(packs) {
            Some(place) => {
                place.connections.fetch_add(1, Ordering::Relaxed);
                (place.handle.clone(), Seat(place.connections.clone()))
            }
            None => (Handle::current(), Seat(Arc::new(AtomicUsize::new(1)))),
        }
    }
}

fn event_loop(number: usize, mut stopped: watch::Receiver<()>) -> io::Result<Handle> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    std::thread::Builder::new()
        .name(format!("serve-{number}"))
        .spawn(move || {
            runtime.block_on(async {
                // The sender sends nothing; `changed` returns when it is dropped.
                let _ended = stopped.changed().await;
                let _until_then = tokio::time::timeout(LINGER, async {
                    while Handle::current().metrics().num_alive_tasks() > 0 {
                        tokio::time::sleep(LOOK_EVERY).await;
                    }
                })
                .await;
            });
        })?;
    Ok(handle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_come_in_packs_and_each_thread_gets_its_share() {
        let threads = Threads::start(&Pulse::default()).unwrap();
        let count = threads.places.len();
        let many = 3 * PACK * count;
        let seats: Vec<_> = (0..many).map(|_| threads.seat()).collect();
        let first = seats[0].0.id();
        assert!(seats[..PACK].iter().all(|(place, _)| place.id() == first));
        for place in &threads.places {
            assert_eq!(place.connections.load(Ordering::Relaxed), 3 * PACK);
        }
        drop(seats);
        assert_eq!(threads.seat().0.id(), first);
    }

    #[tokio::test]
    async fn what_is_spawned_at_a_seat_runs_on_the_thread_of_the_seat() {
        let threads = Threads::start(&Pulse::default()).unwrap();
        for place in &threads.places {
            let spawned = place.handle.spawn(async { Handle::current().id() });
            assert_eq!(spawned.await.unwrap(), place.handle.id());
        }
    }

    #[tokio::test]
    async fn a_thread_ends_what_its_connections_left_behind() {
        let threads = Threads::start(&Pulse::default()).unwrap();
        let (told, heard) = tokio::sync::oneshot::channel();
        let last = threads.places.last().unwrap().handle.clone();
        last.spawn(async {
            tokio::time::sleep(LOOK_EVERY).await;
            let _heard = told.send(());
        });
        drop(threads);
        assert_eq!(heard.await, Ok(()));
    }
}
