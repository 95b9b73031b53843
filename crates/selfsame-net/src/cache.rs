//! A cache of fetched values: one fetch at a time per key, limited in bytes, least recently used entries evicted first.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::time::UnixTime;
use tokio::sync::watch;

use crate::error::NetError;

/// The limits of a [`Cache`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CacheSettings {
    /// Maximum number of entries.
    pub capacity: usize,
    /// Maximum memory of all entries, in bytes. A value that takes more than an eighth of it is not cached.
    pub max_bytes: usize,
    /// Time to live of a value, in seconds.
    pub ttl: u64,
    /// Time to live of a failure or of a value that reports an absence, in seconds.
    pub negative_ttl: u64,
}

/// A fetched value and how long it may be cached.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fresh<V> {
    value: V,
    negative: bool,
    at_most: u64,
}

impl<V> Fresh<V> {
    /// A value with the cache's time to live.
    pub fn new(value: V) -> Self {
        Self {
            value,
            negative: false,
            at_most: u64::MAX,
        }
    }

    /// A value that reports an absence: it has the shorter, negative time to live.
    pub fn negative(value: V) -> Self {
        Self {
            value,
            negative: true,
            at_most: u64::MAX,
        }
    }

    /// Limits the time to live to `seconds`. With 0, only callers already waiting get the value.
    pub fn at_most(mut self, seconds: u64) -> Self {
        self.at_most = self.at_most.min(seconds);
        self
    }
}

/// Values by key, each with the time it was fetched. Cheap to clone; clones share the entries.
pub struct Cache<K, V> {
    settings: CacheSettings,
    weigh: fn(&V) -> usize,
    entries: Arc<Mutex<Entries<K, V>>>,
}

type FoundValue<V> = Result<(Arc<V>, UnixTime), NetError>;

struct Entries<K, V> {
    kept: HashMap<K, CachedValue<V>>,
    flights: HashMap<K, Flying<V>>,
    /// Keys by the tick of their last use, least recently used first.
    by_use: BTreeMap<u64, K>,
    /// Keys by expiry and the tick at which they were stored.
    by_end: BTreeMap<(UnixTime, u64), K>,
    bytes: usize,
    tick: u64,
}

/// The memory of an entry in bytes, without its value and its key, which is stored four times.
const OVERHEAD: usize = 512;
/// An entry may take at most one part in this many of all bytes.
const LARGEST_SHARE: usize = 8;

struct CachedValue<V> {
    found: FoundValue<V>,
    since: UnixTime,
    until: UnixTime,
    /// The time from which it may be fetched again before it expires: some time after a failed fetch.
    anew_from: UnixTime,
    used: u64,
    kept_at: u64,
    bytes: usize,
}

struct Flying<V> {
    number: u64,
    landing: watch::Receiver<Option<FoundValue<V>>>,
}

enum Turn<V> {
    Found(FoundValue<V>),
    Follow(watch::Receiver<Option<FoundValue<V>>>),
    Lead(u64, watch::Sender<Option<FoundValue<V>>>),
}

impl<K, V> Clone for Cache<K, V> {
    fn clone(&self) -> Self {
        Self {
            settings: self.settings,
            weigh: self.weigh,
            entries: Arc::clone(&self.entries),
        }
    }
}

impl<K, V> std::fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl<K: AsRef<str> + Clone + Eq + Hash, V> Cache<K, V> {
    /// An empty cache. `weigh` returns the memory of a value in bytes.
    pub fn new(settings: CacheSettings, weigh: fn(&V) -> usize) -> Self {
        Self {
            settings,
            weigh,
            entries: Arc::new(Mutex::new(Entries {
                kept: HashMap::new(),
                flights: HashMap::new(),
                by_use: BTreeMap::new(),
                by_end: BTreeMap::new(),
                bytes: 0,
                tick: 0,
            })),
        }
    }

    /// Returns the cached value or calls `fetch`. Callers that arrive during a fetch wait for it; if it is cancelled,
    /// the next of them calls its own `fetch`.
    pub async fn get<F>(
        &self,
        key: &K,
        now: UnixTime,
        fetch: F,
    ) -> Result<(Arc<V>, UnixTime), NetError>
    where
        F: Future<Output = Result<Fresh<V>, NetError>>,
    {
        self.get_newer(key, now, None, fetch).await
    }

    /// Like [`Cache::get`], for a caller that found the value fetched at `outdated` or before to be outdated: it is
    /// fetched anew. If that fails, the old value stays, and all callers get it for the negative time to live, as it
    /// may suffice for others.
    pub async fn get_newer<F>(
        &self,
        key: &K,
        now: UnixTime,
        outdated: Option<UnixTime>,
        fetch: F,
    ) -> Result<(Arc<V>, UnixTime), NetError>
    where
        F: Future<Output = Result<Fresh<V>, NetError>>,
    {
        loop {
            let (number, landing) = match self.turn(key, now, outdated) {
                Turn::Found(found) => return found,
                Turn::Lead(number, landing) => (number, landing),
                Turn::Follow(mut flight) => match flight.wait_for(Option::is_some).await {
                    Ok(found) => match found.as_ref() {
                        Some(found) => return found.clone(),
                        None => continue,
                    },
                    // The leader was cancelled: the first caller to come leads next.
                    Err(_) => continue,
                },
            };
            let flight = RunningFetch {
                cache: self,
                key,
                number,
            };
            // Cached before the flight ends, so that no other caller fetches in between.
            let (found, seconds) = self.judge(fetch.await, now);
            let found = flight.keep(found, seconds, now);
            drop(flight);
            landing.send_replace(Some(found.clone()));
            return found;
        }
    }

    /// The cached value, without fetching.
    pub fn at_hand(&self, key: &K, now: UnixTime) -> Option<Result<(Arc<V>, UnixTime), NetError>> {
        self.lock().touch(key, now, None)
    }

    /// Caches a value in place of any before.
    pub async fn put(&self, key: &K, value: V, now: UnixTime) {
        self.forget(key);
        // What is at hand needs no fetch, so there is no error.
        let _ = self.get(key, now, async { Ok(Fresh::new(value)) }).await;
    }

    /// Removes a key, so that the next caller fetches. The result of a running fetch is not cached.
    pub fn forget(&self, key: &K) {
        let mut entries = self.lock();
        entries.remove(key);
        entries.flights.remove(key);
    }

    /// The memory of all entries in bytes.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// The number of entries. Outdated ones stay until the next use of the cache.
    pub fn len(&self) -> usize {
        self.lock().kept.len()
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn turn(&self, key: &K, now: UnixTime, outdated: Option<UnixTime>) -> Turn<V> {
        let mut entries = self.lock();
        entries.drop_outdated(now);
        if let Some(found) = entries.touch(key, now, outdated) {
            return Turn::Found(found);
        }
        if let Some(flying) = entries.flights.get(key) {
            return Turn::Follow(flying.landing.clone());
        }
        let number = entries.next_tick();
        let (sender, landing) = watch::channel(None);
        entries
            .flights
            .insert(key.clone(), Flying { number, landing });
        Turn::Lead(number, sender)
    }

    /// What was found, and for how many seconds it lasts.
    fn judge(&self, fetched: Result<Fresh<V>, NetError>, now: UnixTime) -> (FoundValue<V>, u64) {
        match fetched {
            Ok(fresh) => {
                let ttl = match fresh.negative {
                    true => self.settings.negative_ttl,
                    false => self.settings.ttl,
                };
                (Ok((Arc::new(fresh.value), now)), ttl.min(fresh.at_most))
            }
            // This instance's own congestion is no result for the key.
            Err(error @ NetError::Busy { .. }) => (Err(error), 0),
            Err(error) => (Err(error), self.settings.negative_ttl),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> CachedValue<V> {
    /// An entry from the future was stored before the clock was set back, so its age is unknown.
    fn lasts(&self, now: UnixTime) -> bool {
        (self.since..self.until).contains(&now)
    }
}

impl<K: AsRef<str> + Clone + Eq + Hash, V> Entries<K, V> {
    fn drop_outdated(&mut self, now: UnixTime) {
        while let Some((&(end, _), _)) = self.by_end.first_key_value()
            && end <= now
        {
            if let Some((_, key)) = self.by_end.pop_first() {
                self.remove(&key);
            }
        }
    }

    fn touch(
        &mut self,
        key: &K,
        now: UnixTime,
        outdated: Option<UnixTime>,
    ) -> Option<FoundValue<V>> {
        let tick = self.next_tick();
        let kept = self.kept.get_mut(key)?;
        let is_outdated = outdated.is_some_and(|at| kept.since <= at) && now >= kept.anew_from;
        if is_outdated || !kept.lasts(now) {
            return None;
        }
        if let Some(key) = self.by_use.remove(&kept.used) {
            self.by_use.insert(tick, key);
        }
        kept.used = tick;
        Some(kept.found.clone())
    }

    fn keep(&mut self, key: &K, kept: CachedValue<V>, settings: &CacheSettings) {
        self.remove(key);
        let is_full = |entries: &Self| {
            entries.kept.len() >= settings.capacity
                || entries.bytes.saturating_add(kept.bytes) > settings.max_bytes
        };
        while is_full(self) {
            let Some((_, oldest)) = self.by_use.pop_first() else {
                break;
            };
            self.remove(&oldest);
        }
        self.by_use.insert(kept.used, key.clone());
        self.by_end.insert((kept.until, kept.kept_at), key.clone());
        self.bytes = self.bytes.saturating_add(kept.bytes);
        self.kept.insert(key.clone(), kept);
    }

    fn remove(&mut self, key: &K) {
        if let Some(kept) = self.kept.remove(key) {
            self.by_use.remove(&kept.used);
            self.by_end.remove(&(kept.until, kept.kept_at));
            self.bytes = self.bytes.saturating_sub(kept.bytes);
        }
    }

    /// Whether this flight is the current one for its key. Removing the key ends that.
    fn is_flying(&self, key: &K, number: u64) -> bool {
        self.flights
            .get(key)
            .is_some_and(|flying| flying.number == number)
    }

    fn next_tick(&mut self) -> u64 {
        self.tick = self.tick.wrapping_add(1);
        self.tick
    }
}

/// A running fetch. When it ends, even by cancellation, the next one can start.
struct RunningFetch<'a, K: AsRef<str> + Clone + Eq + Hash, V> {
    cache: &'a Cache<K, V>,
    key: &'a K,
    number: u64,
}

impl<K: AsRef<str> + Clone + Eq + Hash, V> RunningFetch<'_, K, V> {
    /// Caches the result, or on failure leaves a cached value that still lasts. Returns the one to give to the callers.
    fn keep(&self, found: FoundValue<V>, seconds: u64, now: UnixTime) -> FoundValue<V> {
        let settings = &self.cache.settings;
        let value = found
            .as_ref()
            .map_or(0, |(value, _)| (self.cache.weigh)(value));
        let keys = self.key.as_ref().len().saturating_mul(4);
        let bytes = value.saturating_add(keys).saturating_add(OVERHEAD);
        let mut entries = self.cache.lock();
        if !entries.is_flying(self.key, self.number) {
            return found;
        }
        if let (Err(_), Some(kept)) = (&found, entries.kept.get_mut(self.key))
            && kept.lasts(now)
        {
            kept.anew_from = now.plus(seconds);
            return kept.found.clone();
        }
        let has_room = bytes <= settings.max_bytes / LARGEST_SHARE;
        if seconds > 0 && settings.capacity > 0 && has_room {
            let tick = entries.next_tick();
            let kept = CachedValue {
                found: found.clone(),
                since: now,
                until: now.plus(seconds),
                anew_from: now,
                used: tick,
                kept_at: tick,
                bytes,
            };
            entries.keep(self.key, kept, settings);
        }
        found
    }
}

impl<K: AsRef<str> + Clone + Eq + Hash, V> Drop for RunningFetch<'_, K, V> {
    fn drop(&mut self) {
        let mut entries = self.cache.lock();
        if entries.is_flying(self.key, self.number) {
            entries.flights.remove(self.key);
        }
    }
}

#[cfg(test)]
mod tests;
