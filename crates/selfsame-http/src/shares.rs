//! Counts each network's share of a common resource, and how often it did something recently.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::peer::AddressBlock;

/// Beyond this number of networks, those whose window is over are removed; beyond twice the number, all are.
const NETWORKS: usize = 65_536;

/// The number of units that each network holds.
#[derive(Clone, Default)]
pub struct Shares(Arc<Mutex<HashMap<AddressBlock, usize>>>);

/// The units of one holder, until it is dropped.
pub struct Share {
    of: Shares,
    /// `None` is not counted.
    network: Option<AddressBlock>,
    held: usize,
}

impl Shares {
    /// An empty share of this network.
    pub fn open(&self, network: Option<AddressBlock>) -> Share {
        Share {
            of: self.clone(),
            network,
            held: 0,
        }
    }

    /// One unit, if the network holds fewer than `most`.
    pub fn one(&self, network: Option<AddressBlock>, most: usize) -> Option<Share> {
        let mut share = self.open(network);
        share.grow(1, most).then_some(share)
    }

    fn held(&self) -> MutexGuard<'_, HashMap<AddressBlock, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Adds `by` units, if the network then holds no more than `most`.
    pub fn grow(&mut self, by: usize, most: usize) -> bool {
        let Some(network) = self.network else {
            return true;
        };
        let mut all = self.of.held();
        let held = all.get(&network).copied().unwrap_or_default();
        let then = held.saturating_add(by);
        if then > most {
            return false;
        }
        all.insert(network, then);
        self.held = self.held.saturating_add(by);
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let Some(network) = self.network.filter(|_| self.held > 0) else {
            return;
        };
        let mut all = self.of.held();
        if let Some(held) = all.get_mut(&network) {
            *held = held.saturating_sub(self.held);
            if *held == 0 {
                all.remove(&network);
            }
        }
    }
}

/// How often each network did something since its window began.
#[derive(Default)]
pub struct Rates(Mutex<HashMap<AddressBlock, (Instant, usize)>>);

impl Rates {
    /// Counts one more.
    ///
    /// # Errors
    /// If it was done `most` times in this window already: the seconds to wait.
    pub fn count(
        &self,
        network: Option<AddressBlock>,
        most: usize,
        window: Duration,
    ) -> Result<(), u64> {
        let Some(network) = network else {
            return Ok(());
        };
        let now = Instant::now();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= NETWORKS {
            all.retain(|_, (since, _)| now.duration_since(*since) < window);
        }
        if all.len() >= NETWORKS.saturating_mul(2) {
            all.clear();
        }
        let (since, count) = all.entry(network).or_insert((now, 0));
        let age = now.duration_since(*since);
        if age >= window {
            (*since, *count) = (now, 0);
        } else if *count >= most {
            return Err(window.saturating_sub(age).as_secs().max(1));
        }
        *count = count.saturating_add(1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::peer::Peer;

    fn network(last: u8) -> Option<AddressBlock> {
        Peer::from(SocketAddr::from(([203, 0, 113, last], 1))).bounded()
    }

    #[test]
    fn a_network_has_its_share_and_others_have_theirs() {
        let shares = Shares::default();
        let first = shares.one(network(1), 2).unwrap();
        let _second = shares.one(network(1), 2).unwrap();
        assert!(shares.one(network(1), 2).is_none());
        assert!(shares.one(network(2), 2).is_some());
        drop(first);
        assert!(shares.one(network(1), 2).is_some());
        let here: Vec<_> = (0..9).map(|_| shares.one(None, 2).unwrap()).collect();
        drop(here);
        assert_eq!(shares.held().len(), 1, "what nobody holds is forgotten");
    }

    #[test]
    fn a_share_that_grows_is_given_back_as_a_whole() {
        let shares = Shares::default();
        let mut share = shares.open(network(1));
        assert!(share.grow(3, 5) && share.grow(2, 5));
        assert!(!share.grow(1, 5));
        drop(share);
        assert!(shares.open(network(1)).grow(5, 5));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_done_often_may_be_done_again_when_the_window_is_over() {
        let rates = Rates::default();
        let hour = Duration::from_secs(3600);
        assert_eq!(rates.count(network(1), 2, hour), Ok(()));
        tokio::time::advance(Duration::from_secs(600)).await;
        assert_eq!(rates.count(network(1), 2, hour), Ok(()));
        assert_eq!(rates.count(network(1), 2, hour), Err(3000));
        assert_eq!(rates.count(network(2), 2, hour), Ok(()));
        tokio::time::advance(Duration::from_secs(3000)).await;
        assert_eq!(rates.count(network(1), 2, hour), Ok(()));
    }
}
