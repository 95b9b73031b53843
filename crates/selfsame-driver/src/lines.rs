//! Deliveries to each receiver in this process, one after another, in the order of the outbox.
//!
//! The outbox delivers in order for each peer, and a message that finds an earlier one under way waits for the outbox's
//! next look. Here it waits for the end of the earlier one alone. Of two steps that commit at the same time, either may
//! come here first and either may be first in the outbox: a delivery that comes too early lets all others pass.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

/// Pauses before deliveries that wait for earlier ones are tried again, in milliseconds.
const PATIENCE_MS: [u64; 9] = [5, 10, 20, 40, 80, 160, 320, 640, 1_280];

/// An attempt to deliver. It gives false if an earlier entry comes first.
type LineAttempt = Pin<Box<dyn Future<Output = bool> + Send>>;
/// Attempts to deliver; told whether it is the last attempt.
type QueuedDelivery = Box<dyn FnMut(bool) -> LineAttempt + Send>;

/// The deliveries that wait, by the peer's key. A peer stands in it as long as a task delivers to it.
#[derive(Clone, Default)]
pub struct KeyedLines(Arc<Mutex<HashMap<String, PeerLine>>>);

/// What waits for one peer, by its number in the outbox, which only mostly follows the outbox's order.
#[derive(Default)]
struct PeerLine {
    waiting: BTreeMap<u64, InLine>,
    /// The delivery that came too early last. Those behind it are tried before it is tried again.
    passed: Option<u64>,
    /// Wakes the task when something is added.
    added: Arc<Notify>,
}

struct InLine {
    delivery: QueuedDelivery,
    /// How often it found that an earlier entry comes first.
    tries: usize,
}

/// What the task of a peer does next.
enum LineTurn {
    Try(u64, InLine),
    /// All that waits came too early.
    Pause(Duration),
    End,
}

impl KeyedLines {
    /// Delivers in a task of its own, after what is before `place` for the same peer. `attempt` tries, is told whether it
    /// is the last attempt, and gives false if an earlier entry comes first; after its last attempt it is not called
    /// again.
    pub fn push<A>(
        &self,
        peer: &str,
        place: u64,
        mut attempt: impl FnMut(bool) -> A + Send + 'static,
    ) where
        A: Future<Output = bool> + Send + 'static,
    {
        let delivery: QueuedDelivery = Box::new(move |is_last| Box::pin(attempt(is_last)));
        let waiting = InLine { delivery, tries: 0 };
        let mut all = self.lock();
        if let Some(line) = all.get_mut(peer) {
            line.waiting.insert(place, waiting);
            line.added.notify_one();
            return;
        }
        let line = all.entry(peer.to_owned()).or_default();
        line.waiting.insert(place, waiting);
        let added = line.added.clone();
        drop(all);
        let (lines, peer) = (self.clone(), peer.to_owned());
        tokio::spawn(async move {
            loop {
                match lines.next(&peer) {
                    LineTurn::Try(place, waiting) => lines.tried(&peer, place, waiting).await,
                    // Something that is added may be what the others wait for.
                    LineTurn::Pause(time) => drop(timeout(time, added.notified()).await),
                    LineTurn::End => break,
                }
            }
        });
    }

    /// Tries a delivery. One that must wait goes back into the line.
    async fn tried(&self, peer: &str, place: u64, mut waiting: InLine) {
        let is_last = waiting.tries >= PATIENCE_MS.len();
        // A delivery that panics must not hold up those behind it.
        let attempt = tokio::spawn((waiting.delivery)(is_last));
        let is_ended = attempt.await.unwrap_or(true) || is_last;
        let mut all = self.lock();
        let Some(line) = all.get_mut(peer) else {
            return;
        };
        if is_ended {
            line.passed = None;
            return;
        }
        waiting.tries += 1;
        line.waiting.insert(place, waiting);
        line.passed = Some(place);
    }

    /// What to do for a peer next: the first delivery behind the one that came too early last.
    fn next(&self, peer: &str) -> LineTurn {
        let mut lines = self.lock();
        let Some(line) = lines.get_mut(peer) else {
            return LineTurn::End;
        };
        let behind = line.passed.map_or(0, |passed| passed.saturating_add(1));
        let next = line.waiting.range(behind..).next().map(|(place, _)| *place);
        if let Some((place, waiting)) = next.and_then(|place| line.waiting.remove_entry(&place)) {
            return LineTurn::Try(place, waiting);
        }
        line.passed = None;
        let tries = line.waiting.values().map(|waiting| waiting.tries).min();
        match tries {
            Some(tries) => {
                let pause = PATIENCE_MS.get(tries.saturating_sub(1));
                LineTurn::Pause(Duration::from_millis(pause.copied().unwrap_or_default()))
            }
            // Without a delivery, the task ends.
            None => {
                lines.remove(peer);
                LineTurn::End
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, PeerLine>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn deliveries_to_one_peer_follow_each_other_and_others_do_not_wait() {
        let lines = KeyedLines::default();
        let (tell, mut told) = mpsc::unbounded_channel();
        for number in 0..20_u64 {
            let tell = tell.clone();
            lines.push("slow", number, move |_| {
                let tell = tell.clone();
                async move {
                    tokio::time::sleep(Duration::from_millis(20 - number)).await;
                    tell.send(number).is_ok()
                }
            });
        }
        let other = tell.clone();
        lines.push("quick", 1, move |_| {
            let other = other.clone();
            async move { other.send(100).is_ok() }
        });
        lines.push("quick", 2, |_| async {
            panic!("the peer's name is no reason to stop")
        });
        drop(tell);
        assert_eq!(told.recv().await, Some(100));
        for number in 0..20 {
            assert_eq!(told.recv().await, Some(number));
        }
        for _ in 0..1_000 {
            if lines.lock().is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("no peer stands in line without a delivery");
    }

    #[tokio::test(start_paused = true)]
    async fn a_delivery_that_came_too_early_lets_the_earlier_one_pass() {
        let lines = KeyedLines::default();
        let (tell, mut told) = mpsc::unbounded_channel();
        let is_first_sent = Arc::new(AtomicBool::new(false));
        let (second, sent) = (tell.clone(), is_first_sent.clone());
        lines.push("peer", 2, move |_| {
            let may = sent.load(Ordering::SeqCst);
            let second = second.clone();
            async move { may && second.send(2).is_ok() }
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
        lines.push("peer", 1, move |_| {
            is_first_sent.store(true, Ordering::SeqCst);
            let tell = tell.clone();
            async move { tell.send(1).is_ok() }
        });
        let began = tokio::time::Instant::now();
        assert_eq!((told.recv().await, told.recv().await), (Some(1), Some(2)));
        // Nothing waited for the end of a pause.
        assert!(began.elapsed() < Duration::from_millis(PATIENCE_MS[0]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_delivery_that_came_too_early_lets_one_with_a_greater_number_pass() {
        let lines = KeyedLines::default();
        let (tell, mut told) = mpsc::unbounded_channel();
        let is_other_sent = Arc::new(AtomicBool::new(false));
        let (first, sent) = (tell.clone(), is_other_sent.clone());
        lines.push("peer", 1, move |_| {
            let may = sent.load(Ordering::SeqCst);
            let first = first.clone();
            async move { may && first.send(1).is_ok() }
        });
        lines.push("peer", 2, move |_| {
            is_other_sent.store(true, Ordering::SeqCst);
            let tell = tell.clone();
            async move { tell.send(2).is_ok() }
        });
        let began = tokio::time::Instant::now();
        assert_eq!((told.recv().await, told.recv().await), (Some(2), Some(1)));
        // Nothing waited for the end of a pause.
        assert!(began.elapsed() < Duration::from_millis(PATIENCE_MS[0]));
    }

    #[tokio::test(start_paused = true)]
    async fn a_delivery_that_waits_too_long_is_left_to_the_outbox() {
        let lines = KeyedLines::default();
        let (tell, mut told) = mpsc::unbounded_channel();
        lines.push("peer", 1, move |is_last| {
            let tell = tell.clone();
            async move { is_last && tell.send(()).is_ok() }
        });
        assert_eq!(told.recv().await, Some(()));
    }
}
