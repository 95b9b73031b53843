//! Detects event loops that have stopped turning. Each loop reports once a second, and the thread that watches over
//! the process counts the seconds.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

/// A loop that has not turned for this many seconds counts as stuck.
pub const STANDSTILL: u64 = 30;
const BEAT: Duration = Duration::from_secs(1);

/// The heartbeats of all event loops. Clones share their state.
#[derive(Clone, Default)]
pub struct Pulse(Arc<PulseState>);

#[derive(Default)]
struct PulseState {
    /// Seconds, as the watching thread counts them. If the process or the machine was suspended, that thread was too,
    /// so no loop is late because of it.
    seconds: AtomicU64,
    /// The last beat of each loop.
    loops: Mutex<Vec<Weak<AtomicU64>>>,
}

impl Pulse {
    /// Starts a heartbeat on each of these loops, until the returned value is dropped.
    pub fn follow<'a>(&self, loops: impl Iterator<Item = &'a Handle>) -> JoinSet<()> {
        let mut beating = JoinSet::new();
        for handle in loops {
            let last = Arc::new(AtomicU64::new(self.seconds()));
            self.known().push(Arc::downgrade(&last));
            let pulse = self.clone();
            let beats = async move {
                let mut every = interval(BEAT);
                every.set_missed_tick_behavior(MissedTickBehavior::Delay);
                loop {
                    every.tick().await;
                    last.store(pulse.seconds(), Ordering::Relaxed);
                }
            };
            beating.spawn_on(beats, handle);
        }
        beating
    }

    /// Counts the seconds while it is polled. Run it on a thread that is never busy for long.
    pub async fn count(&self) {
        let mut every = interval(BEAT);
        every.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            every.tick().await;
            self.tick();
        }
    }

    /// For how many seconds a loop has not turned, if one is stuck.
    pub fn standstill(&self) -> Option<u64> {
        let now = self.seconds();
        let mut known = self.known();
        known.retain(|last| last.strong_count() > 0);
        let lasts = known.iter().filter_map(Weak::upgrade);
        let longest = lasts
            .map(|last| now.saturating_sub(last.load(Ordering::Relaxed)))
            .max();
        longest.filter(|seconds| *seconds >= STANDSTILL)
    }

    fn tick(&self) {
        self.0.seconds.fetch_add(1, Ordering::Relaxed);
    }

    fn seconds(&self) -> u64 {
        self.0.seconds.load(Ordering::Relaxed)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Vec<Weak<AtomicU64>>> {
        self.0.loops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_loop_that_does_not_turn_for_half_a_minute_is_noticed_and_so_is_that_it_turns_again()
    {
        let pulse = Pulse::default();
        let (told, heard) = mpsc::channel();
        let (go_on, wait) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = runtime.unwrap();
            told.send(runtime.handle().clone()).unwrap();
            runtime.block_on(async move {
                tokio::task::yield_now().await;
                // This loop is blocked until the test releases it.
                wait.recv().unwrap();
                std::future::pending::<()>().await;
            });
        });
        let handle = heard.recv().unwrap();
        let beating = pulse.follow(std::iter::once(&handle));
        assert_eq!(beating.len(), 1);
        (0..STANDSTILL - 1).for_each(|_| pulse.tick());
        assert_eq!(pulse.standstill(), None);
        pulse.tick();
        assert_eq!(pulse.standstill(), Some(STANDSTILL));
        go_on.send(()).unwrap();
        while pulse.standstill().is_some() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        // A loop that has ended is not waited for.
        drop(beating);
        while !pulse.known().is_empty() {
            (0..STANDSTILL).for_each(|_| pulse.tick());
            let _gone_or_late = pulse.standstill();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(pulse.standstill(), None);
    }
}
