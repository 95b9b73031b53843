//! Limits what is done at once for one object, such as the answers to one request that are verified: anyone who knows the
//! request can send any number.

mod recent;

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use recent::RecentCounts;

/// An address as it is counted: one host may use all addresses of a /64.
#[must_use]
pub fn counted_address(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        v4 => v4,
    }
}

/// The number of tasks under way, by object.
#[derive(Debug)]
pub struct Crowd {
    at_once: usize,
    counts: Mutex<HashMap<String, usize>>,
}

/// A place for one task, freed when dropped.
#[derive(Debug)]
pub struct CrowdPlace<'a> {
    crowd: &'a Crowd,
    id: &'a str,
}

impl Crowd {
    /// Has this many places for each object.
    #[must_use]
    pub fn new(at_once: usize) -> Self {
        Self {
            at_once,
            counts: Mutex::default(),
        }
    }

    /// Takes a place for a task for this object; `None` if all places are taken.
    pub fn enter<'a>(&'a self, id: &'a str) -> Option<CrowdPlace<'a>> {
        let mut counts = self.counts();
        let count = counts.entry(id.to_owned()).or_default();
        if *count >= self.at_once {
            return None;
        }
        *count = count.saturating_add(1);
        Some(CrowdPlace { crowd: self, id })
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CrowdPlace<'_> {
    fn drop(&mut self) {
        let mut counts = self.crowd.counts();
        match counts.get_mut(self.id) {
            Some(count) if *count > 1 => *count = count.saturating_sub(1),
            _ => drop(counts.remove(self.id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_tasks_for_one_object_is_done_at_once_and_places_come_back() {
        let crowd = Crowd::new(4);
        let mut places: Vec<_> = (0..4).map(|_| crowd.enter("a").unwrap()).collect();
        assert!(crowd.enter("a").is_none());
        assert!(crowd.enter("b").is_some());
        places.pop();
        assert!(crowd.enter("a").is_some());
        drop(places);
        assert!(crowd.counts().is_empty());
    }
}
