//! What was fetched, kept for a while: one flight per key, bounded in bytes, the longest unused goes first.

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use selfsame_crypto::time::UnixTime;
use tokio::sync::watch;

use crate::error::NetError;

/// How much a [`Cache`] keeps and for how long.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CacheSettings {
    /// Most entries kept.
    pub capacity: usize,
    /// Most bytes of memory that all entries take together. One that takes more than an eighth is not kept.
    pub max_bytes: usize,
    /// Seconds a value is kept.
    pub ttl: u64,
    /// Seconds a failure, or a value that says "there is none", is kept.
    pub negative_ttl: u64,
}

/// A fetched value and how long it may be kept.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fresh<V> {
    value: V,
    negative: bool,
    at_most: u64,
}

impl<V> Fresh<V> {
    /// Kept for the cache's time to live.
    pub fn new(value: V) -> Self {
        Self {
            value,
            negative: false,
            at_most: u64::MAX,
        }
    }

    /// Says "there is none": kept for the shorter, negative time to live.
    pub fn negative(value: V) -> Self {
        Self {
            value,
            negative: true,
            at_most: u64::MAX,
        }
    }

    /// Kept for so many seconds at most; with 0 it goes to those already waiting and no further.
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

type Found<V> = Result<(Arc<V>, UnixTime), NetError>;

struct Entries<K, V> {
    kept: HashMap<K, Kept<V>>,
    flights: HashMap<K, Flying<V>>,
    /// Keys by the tick of their last use, the longest unused first.
    by_use: BTreeMap<u64, K>,
    /// Keys by their end and the tick at which they were kept.
    by_end: BTreeMap<(UnixTime, u64), K>,
    bytes: usize,
    tick: u64,
}

/// What an entry takes beside its key, which is kept four times, and its value.
const OVERHEAD: usize = 512;
/// One entry has no more than this share of all bytes.
const LARGEST_SHARE: usize = 8;

struct Kept<V> {
    found: Found<V>,
    since: UnixTime,
    until: UnixTime,
    /// When it may be fetched anew before its end: not at once after that failed.
    anew_from: UnixTime,
    used: u64,
    kept_at: u64,
    bytes: usize,
}

struct Flying<V> {
    number: u64,
    landing: watch::Receiver<Option<Found<V>>>,
}

enum Turn<V> {
    Found(Found<V>),
    Follow(watch::Receiver<Option<Found<V>>>),
    Lead(u64, watch::Sender<Option<Found<V>>>),
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
    /// An empty cache, whose values take the memory that `weigh` says, in bytes.
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

    /// The kept value, or what `fetch` brings. Of callers that come while one fetches, none
    /// fetches too; should that one be cancelled, the next takes over with its own `fetch`.
    pub async fn get<F>(
        &self,
        key: &K,
        now: UnixTime,
        fetch: F,
    ) -> Result<(Arc<V>, UnixTime), NetError>
    where
        F: Future<Output = Result<Fresh<V>, NetError>>,
    {
        self.get_newer(key, (now, None), fetch).await
    }

    /// The same for who found what was fetched at `outdated`, or before, to be so: it is fetched anew. Should that
    /// fail, it stays, and is what all get for the negative time to live: others may need no more than what it says.
    pub async fn get_newer<F>(
        &self,
        key: &K,
        (now, outdated): (UnixTime, Option<UnixTime>),
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
                    // The leader was cancelled: whoever comes first leads next.
                    Err(_) => continue,
                },
            };
            let flight = Flight {
                cache: self,
                key,
                number,
            };
            // Kept before the flight ends, so that nobody fetches in between.
            let found = flight.keep(self.judge(fetch.await, now), now);
            drop(flight);
            landing.send_replace(Some(found.clone()));
            return found;
        }
    }

    /// What is kept, without fetching.
    pub fn at_hand(&self, key: &K, now: UnixTime) -> Option<Result<(Arc<V>, UnixTime), NetError>> {
        self.lock().touch(key, now, None)
    }

    /// Forgets one key, so that the next caller fetches; what is being fetched for it is not kept.
    pub fn forget(&self, key: &K) {
        let mut entries = self.lock();
        entries.remove(key);
        entries.flights.remove(key);
    }

    /// How many bytes of memory all entries take.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// How many entries are kept. Outdated ones stay until the cache is used next.
    pub fn len(&self) -> usize {
        self.lock().kept.len()
    }

    /// Whether nothing is kept.
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

    fn judge(&self, fetched: Result<Fresh<V>, NetError>, now: UnixTime) -> (Found<V>, u64) {
        match fetched {
            Ok(fresh) => {
                let ttl = match fresh.negative {
                    true => self.settings.negative_ttl,
                    false => self.settings.ttl,
                };
                (Ok((Arc::new(fresh.value), now)), ttl.min(fresh.at_most))
            }
            // Our own congestion says nothing about the key.
            Err(error @ NetError::Busy { .. }) => (Err(error), 0),
            Err(error) => (Err(error), self.settings.negative_ttl),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V> Kept<V> {
    /// What comes from the future was kept before the clock was set back: nobody knows how old it is.
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

    fn touch(&mut self, key: &K, now: UnixTime, outdated: Option<UnixTime>) -> Option<Found<V>> {
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

    fn keep(&mut self, key: &K, kept: Kept<V>, settings: &CacheSettings) {
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

    /// Whether this flight is the one under way; one that was forgotten is not.
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

/// A fetch under way; its end, cancelled or not, makes way for the next.
struct Flight<'a, K: AsRef<str> + Clone + Eq + Hash, V> {
    cache: &'a Cache<K, V>,
    key: &'a K,
    number: u64,
}

impl<K: AsRef<str> + Clone + Eq + Hash, V> Flight<'_, K, V> {
    /// Keeps what was found, or else what is there already; the one of both that is to be told.
    fn keep(&self, (found, seconds): (Found<V>, u64), now: UnixTime) -> Found<V> {
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
            let kept = Kept {
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

impl<K: AsRef<str> + Clone + Eq + Hash, V> Drop for Flight<'_, K, V> {
    fn drop(&mut self) {
        let mut entries = self.cache.lock();
        if entries.is_flying(self.key, self.number) {
            entries.flights.remove(self.key);
        }
    }
}

#[cfg(test)]
mod tests;
