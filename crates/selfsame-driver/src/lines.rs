//! Deliveries to each receiver in this process, one after another, in the order of their entries in the outbox.
//!
//! The outbox delivers in order for each peer, and a message that finds an earlier one under way waits for the outbox's
//! next look. Here it waits for the end of the earlier one alone. Of two steps that commit at the same time, the later
//! one may come here first; then it lets the earlier one pass.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

/// Pauses before a delivery that waits for an earlier one is tried again, in milliseconds.
const PATIENCE_MS: [u64; 9] = [5, 10, 20, 40, 80, 160, 320, 640, 1_280];

/// An attempt to deliver. It gives false if an earlier entry comes first.
type LineAttempt = Pin<Box<dyn Future<Output = bool> + Send>>;
/// Attempts to deliver; told whether it is the last attempt.
type QueuedDelivery = Box<dyn FnMut(bool) -> LineAttempt + Send>;

/// The deliveries that wait, by the peer's key. A peer stands in it as long as a task delivers to it.
#[derive(Clone, Default)]
pub struct KeyedLines(Arc<Mutex<HashMap<String, PeerLine>>>);

/// What waits for one peer, by its place in the outbox.
#[derive(Default)]
struct PeerLine {
    waiting: BTreeMap<u64, InLine>,
    /// Wakes the task when something is added.
    added: Arc<Notify>,
}

struct InLine {
    delivery: QueuedDelivery,
    /// How often it found that an earlier entry comes first.
    tries: usize,
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
            while let Some((place, waiting)) = lines.next(&peer) {
                lines.tried(&peer, place, waiting, &added).await;
            }
        });
    }

    /// Tries a delivery. One that must wait goes back into the line.
    async fn tried(&self, peer: &str, place: u64, mut waiting: InLine, added: &Notify) {
        let pause = PATIENCE_MS.get(waiting.tries).copied();
        // A delivery that panics must not hold up those behind it.
        let attempt = tokio::spawn((waiting.delivery)(pause.is_none()));
        let is_ended = attempt.await.unwrap_or(true);
        let (false, Some(pause)) = (is_ended, pause) else {
            return;
        };
        waiting.tries += 1;
        let is_first = {
            let mut all = self.lock();
            let Some(line) = all.get_mut(peer) else {
                return;
            };
            line.waiting.insert(place, waiting);
            line.waiting.keys().next() == Some(&place)
        };
        if is_first {
            // Something that is added may be what it waits for.
            drop(timeout(Duration::from_millis(pause), added.notified()).await);
        }
    }

    /// The first delivery to a peer. Without one, the task ends.
    fn next(&self, peer: &str) -> Option<(u64, InLine)> {
        let mut lines = self.lock();
        let next = lines.get_mut(peer)?.waiting.pop_first();
        if next.is_none() {
            lines.remove(peer);
        }
        next
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

    #[tokio::test(flavor = "multi_thread")]
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

    #[tokio::test(flavor = "multi_thread")]
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
        assert!(began.elapsed() < Duration::from_millis(500));
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
