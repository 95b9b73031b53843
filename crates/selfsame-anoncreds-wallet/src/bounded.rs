//! A map of bounded size that forgets what was used longest ago.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A map of at most `most` entries, shared by all tasks.
pub(crate) struct Bounded<K, V> {
    most: usize,
    held: Mutex<BoundedEntries<K, V>>,
}

struct BoundedEntries<K, V> {
    entries: HashMap<K, (V, u64)>,
    uses: u64,
}

impl<K: Clone + Eq + Hash, V: Clone> Bounded<K, V> {
    pub(crate) fn new(most: usize) -> Self {
        let (entries, uses) = (HashMap::new(), 0);
        Self {
            most,
            held: Mutex::new(BoundedEntries { entries, uses }),
        }
    }

    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let mut held = self.held();
        held.uses = held.uses.saturating_add(1);
        let now = held.uses;
        let (value, used) = held.entries.get_mut(key)?;
        *used = now;
        Some(value.clone())
    }

    pub(crate) fn keep(&self, key: K, value: V) {
        let mut held = self.held();
        held.uses = held.uses.saturating_add(1);
        let now = held.uses;
        if held.entries.len() >= self.most && !held.entries.contains_key(&key) {
            let oldest = held.entries.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                held.entries.remove(&oldest);
            }
        }
        held.entries.insert(key, (value, now));
    }

    fn held(&self) -> MutexGuard<'_, BoundedEntries<K, V>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let bounded = Bounded::new(2);
        bounded.keep("a", 1);
        bounded.keep("b", 2);
        assert_eq!(bounded.get("a"), Some(1));
        bounded.keep("c", 3);
        assert_eq!(bounded.get("b"), None);
        assert_eq!((bounded.get("a"), bounded.get("c")), (Some(1), Some(3)));
    }
}
