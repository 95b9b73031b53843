//! Things that are open by their names: each once, and no more of them than a bound.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OnceCell;

use selfsame_driver::Result;

/// Things that are open, by their names.
pub struct OpenSet<K, T> {
    held: Mutex<HashMap<K, HeldThing<T>>>,
    used: AtomicU64,
    most: usize,
    /// Whether somebody else holds a part of the thing, or it has something left to do.
    is_in_use: fn(&Arc<T>) -> bool,
}

struct HeldThing<T> {
    thing: Arc<OnceCell<Arc<T>>>,
    /// Orders the entries by their last use.
    used: u64,
}

impl<K: Clone + Eq + Hash, T> OpenSet<K, T> {
    /// An empty set for this number of things; those for which `is_in_use` holds stay open beyond it.
    #[must_use]
    pub fn new(most: usize, is_in_use: fn(&Arc<T>) -> bool) -> Self {
        Self {
            held: Mutex::default(),
            used: AtomicU64::default(),
            most,
            is_in_use,
        }
    }

    /// The thing of this name. Requests at the same time open it once.
    ///
    /// # Errors
    /// Those of `open`.
    pub async fn get<F: Future<Output = Result<T>>>(
        &self,
        name: &K,
        open: impl FnOnce() -> F,
    ) -> Result<Arc<T>> {
        let place = self.place(name);
        let opened = place.get_or_try_init(|| async { open().await.map(Arc::new) });
        opened.await.cloned()
    }

    /// Closes a thing. Who holds it now may finish.
    pub fn close(&self, name: &K) {
        self.held().remove(name);
    }

    /// The things that are open now.
    pub fn open(&self) -> Vec<Arc<T>> {
        let held = self.held();
        let open = held.values().filter_map(|held| held.thing.get());
        open.cloned().collect()
    }

    fn place(&self, name: &K) -> Arc<OnceCell<Arc<T>>> {
        let used = self.used.fetch_add(1, Ordering::Relaxed);
        let mut held = self.held();
        if let Some(known) = held.get_mut(name) {
            known.used = used;
            return known.thing.clone();
        }
        if held.len() >= self.most {
            self.close_idle(&mut held);
        }
        let thing = Arc::default();
        let entry = HeldThing {
            thing: Arc::clone(&thing),
            used,
        };
        held.insert(name.clone(), entry);
        thing
    }

    /// Closes a part of the things: those that nobody uses and that were not used for the longest time.
    fn close_idle(&self, held: &mut HashMap<K, HeldThing<T>>) {
        let mut uses: Vec<u64> = held.values().map(|held| held.used).collect();
        uses.sort_unstable();
        let until = uses.get(self.most / 8).copied().unwrap_or_default();
        held.retain(|_, held| held.used > until || self.is_held(held));
    }

    /// Whether somebody else holds a thing or is opening it.
    fn is_held(&self, held: &HeldThing<T>) -> bool {
        let is_open = |open: &Arc<T>| Arc::strong_count(open) > 1 || (self.is_in_use)(open);
        Arc::strong_count(&held.thing) > 1 || held.thing.get().is_some_and(is_open)
    }

    fn held(&self) -> MutexGuard<'_, HashMap<K, HeldThing<T>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn opened(set: &OpenSet<u32, u32>, name: u32) -> Arc<u32> {
        set.get(&name, || async { Ok(name) }).await.unwrap()
    }

    #[tokio::test]
    async fn what_was_not_used_for_the_longest_time_is_closed_unless_somebody_holds_it() {
        let set = OpenSet::new(16, |open: &Arc<u32>| **open == 1);
        let held = opened(&set, 0).await;
        for name in 1..16 {
            opened(&set, name).await;
        }
        opened(&set, 16).await;
        let mut open: Vec<u32> = set.open().iter().map(|open| **open).collect();
        open.sort_unstable();
        assert_eq!(open[..3], [0, 1, 3]);
        assert_eq!(*held, 0);
        set.close(&0);
        assert_eq!(set.open().len(), open.len() - 1);
    }
}
