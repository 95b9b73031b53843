//! Deliveries to each peer in this process, one after another.
//!
//! The outbox delivers in order for each peer, and a message that finds an earlier one under way waits for the outbox's
//! next look. Here it waits for the end of the earlier one alone.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A delivery.
type QueuedDelivery = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The deliveries that wait, by the peer's key. A peer stands in it as long as a task delivers to it.
#[derive(Clone, Default)]
pub struct PeerLines(Arc<Mutex<HashMap<String, VecDeque<QueuedDelivery>>>>);

impl PeerLines {
    /// Delivers in a task of its own, after what was given for the same peer before.
    pub fn push(&self, peer: &str, delivery: impl Future<Output = ()> + Send + 'static) {
        let delivery: QueuedDelivery = Box::pin(delivery);
        let mut all = self.lock();
        if let Some(waiting) = all.get_mut(peer) {
            waiting.push_back(delivery);
            return;
        }
        all.insert(peer.to_owned(), VecDeque::new());
        drop(all);
        let (lines, peer) = (self.clone(), peer.to_owned());
        tokio::spawn(async move {
            let mut next = Some(delivery);
            while let Some(delivery) = next {
                // A delivery that panics must not hold up those behind it.
                let _ = tokio::spawn(delivery).await;
                next = lines.next(&peer);
            }
        });
    }

    /// The next delivery to a peer. Without one, the task ends.
    fn next(&self, peer: &str) -> Option<QueuedDelivery> {
        let mut lines = self.lock();
        let next = lines.get_mut(peer)?.pop_front();
        if next.is_none() {
            lines.remove(peer);
        }
        next
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, VecDeque<QueuedDelivery>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc;

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn deliveries_to_one_peer_follow_each_other_and_others_do_not_wait() {
        let lines = PeerLines::default();
        let (tell, mut told) = mpsc::unbounded_channel();
        for number in 0..20_u64 {
            let tell = tell.clone();
            lines.push("slow", async move {
                tokio::time::sleep(Duration::from_millis(20 - number)).await;
                let _ = tell.send(number);
            });
        }
        let other = tell.clone();
        lines.push("quick", async move {
            let _ = other.send(100);
        });
        lines.push("quick", async {
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
}
