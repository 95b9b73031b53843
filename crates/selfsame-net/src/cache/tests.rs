//! Tests of the cache: flights, lifetimes, bounds.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const SETTINGS: CacheSettings = CacheSettings {
    capacity: 3,
    max_bytes: 1_000_000,
    ttl: 60,
    negative_ttl: 5,
};
const NOW: UnixTime = UnixTime(1_000);

fn cache() -> Cache<String, u32> {
    Cache::new(SETTINGS, |_| 4)
}

async fn get(cache: &Cache<String, u32>, key: &str, now: UnixTime, value: u32) -> (u32, UnixTime) {
    let (value, at) = cache
        .get(&key.to_owned(), now, async { Ok(Fresh::new(value)) })
        .await
        .unwrap();
    (*value, at)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_callers_one_fetches_and_all_get_what_it_brought() {
    let cache = cache();
    let fetches = Arc::new(AtomicUsize::new(0));
    let callers: Vec<_> = (0..100)
        .map(|_| {
            let (cache, fetches) = (cache.clone(), Arc::clone(&fetches));
            tokio::spawn(async move {
                let fetch = async {
                    fetches.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    Ok(Fresh::new(7))
                };
                cache.get(&"k".to_owned(), NOW, fetch).await
            })
        })
        .collect();
    for caller in callers {
        assert_eq!(*caller.await.unwrap().unwrap().0, 7);
    }
    assert_eq!(fetches.load(Ordering::SeqCst), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn when_the_leader_is_cancelled_a_follower_takes_over() {
    let cache = cache();
    let (started, mut has_started) = watch::channel(false);
    let leader = tokio::spawn({
        let cache = cache.clone();
        async move {
            let fetch = async {
                started.send_replace(true);
                std::future::pending::<()>().await;
                Ok(Fresh::new(0))
            };
            cache.get(&"k".to_owned(), NOW, fetch).await
        }
    });
    has_started.wait_for(|started| *started).await.unwrap();
    let fetches = Arc::new(AtomicUsize::new(0));
    let followers: Vec<_> = (0..20)
        .map(|_| {
            let (cache, fetches) = (cache.clone(), Arc::clone(&fetches));
            tokio::spawn(async move {
                let fetch = async {
                    fetches.fetch_add(1, Ordering::SeqCst);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    Ok(Fresh::new(9))
                };
                cache.get(&"k".to_owned(), NOW, fetch).await
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(fetches.load(Ordering::SeqCst), 0, "they follow the leader");
    leader.abort();
    for follower in followers {
        assert_eq!(*follower.await.unwrap().unwrap().0, 9);
    }
    assert_eq!(fetches.load(Ordering::SeqCst), 1);
    assert!(cache.lock().flights.is_empty());
}

#[tokio::test]
async fn a_value_is_kept_for_its_time_to_live_and_carries_the_time_it_was_fetched() {
    let cache = cache();
    assert_eq!(get(&cache, "k", NOW, 1).await, (1, NOW));
    assert_eq!(get(&cache, "k", NOW.plus(59), 2).await, (1, NOW));
    assert_eq!(get(&cache, "k", NOW.plus(60), 3).await, (3, NOW.plus(60)));
}

#[tokio::test]
async fn a_failure_is_kept_for_the_negative_time_to_live() {
    let cache = cache();
    let key = "k".to_owned();
    let failed = cache
        .get(&key, NOW, async { Err(NetError::UnknownHost) })
        .await;
    assert_eq!(failed.unwrap_err(), NetError::UnknownHost);
    let kept = cache
        .get(&key, NOW.plus(4), async { Ok(Fresh::new(1)) })
        .await;
    assert_eq!(kept.unwrap_err(), NetError::UnknownHost);
    assert_eq!(get(&cache, "k", NOW.plus(5), 2).await.0, 2);
}

#[tokio::test]
async fn congestion_of_our_own_is_never_kept() {
    let cache = cache();
    let busy = Err(NetError::Busy { retry_after: 1 });
    assert!(
        cache
            .get(&"k".to_owned(), NOW, async { busy })
            .await
            .is_err()
    );
    assert_eq!(get(&cache, "k", NOW, 2).await.0, 2);
}

#[tokio::test]
async fn a_negative_value_and_one_with_its_own_bound_are_kept_shorter() {
    let cache = cache();
    let fetch = async { Ok(Fresh::negative(1)) };
    cache.get(&"none".to_owned(), NOW, fetch).await.unwrap();
    assert_eq!(get(&cache, "none", NOW.plus(4), 2).await.0, 1);
    assert_eq!(get(&cache, "none", NOW.plus(5), 2).await.0, 2);
    let fetch = async { Ok(Fresh::new(1).at_most(0)) };
    cache.get(&"never".to_owned(), NOW, fetch).await.unwrap();
    assert_eq!(get(&cache, "never", NOW, 2).await.0, 2);
}

#[tokio::test]
async fn past_its_capacity_the_longest_unused_entry_goes() {
    let cache = cache();
    for key in ["a", "b", "c"] {
        get(&cache, key, NOW, 1).await;
    }
    get(&cache, "a", NOW, 2).await;
    get(&cache, "d", NOW, 1).await;
    assert_eq!(cache.len(), 3);
    assert_eq!(get(&cache, "a", NOW, 3).await.0, 1, "used lately, kept");
    assert_eq!(get(&cache, "b", NOW, 3).await.0, 3, "longest unused, gone");
}

#[tokio::test]
async fn use_and_forgetting_leave_no_trace_in_the_order() {
    let cache = cache();
    for n in 0..1_000_u32 {
        let now = NOW.plus(u64::from(n));
        get(&cache, &(n % 7).to_string(), now, n).await;
        assert_eq!(
            get(&cache, &(n % 7).to_string(), now, n + 1).await.0,
            n,
            "a hit"
        );
        cache.forget(&(n % 3).to_string());
        let entries = cache.lock();
        assert_eq!(entries.kept.len(), entries.by_use.len());
        assert!(entries.kept.len() <= SETTINGS.capacity && entries.flights.is_empty());
    }
}

/// The answer to a caller that found the value fetched at `outdated` to be outdated.
async fn newer(
    cache: &Cache<String, u32>,
    now: UnixTime,
    outdated: UnixTime,
    fetched: Result<u32, NetError>,
) -> (u32, UnixTime) {
    let fetch = async { fetched.map(Fresh::new) };
    let key = "k".to_owned();
    let (value, at) = cache
        .get_newer(&key, now, Some(outdated), fetch)
        .await
        .unwrap();
    (*value, at)
}

#[tokio::test]
async fn what_was_found_to_be_outdated_is_fetched_anew_once() {
    let (cache, later) = (cache(), NOW.plus(1));
    get(&cache, "k", NOW, 1).await;
    let before = UnixTime(NOW.0 - 1);
    assert_eq!(newer(&cache, later, before, Ok(2)).await, (1, NOW));
    assert_eq!(newer(&cache, later, NOW, Ok(2)).await, (2, later));
    // A second caller reports the same old value after it was fetched anew.
    assert_eq!(newer(&cache, later, NOW, Ok(3)).await, (2, later));
    let entries = cache.lock();
    assert_eq!(entries.kept.len(), entries.by_use.len());
}

#[tokio::test]
async fn what_cannot_be_fetched_anew_stays_and_is_not_asked_for_at_once_again() {
    let (cache, later) = (cache(), NOW.plus(1));
    let failed = || Err(NetError::Malformed("nothing"));
    get(&cache, "k", NOW, 1).await;
    assert_eq!(newer(&cache, later, NOW, failed()).await, (1, NOW));
    assert_eq!(get(&cache, "k", later, 2).await, (1, NOW));
    assert_eq!(newer(&cache, later.plus(4), NOW, Ok(2)).await, (1, NOW));
    let again = later.plus(5);
    assert_eq!(newer(&cache, again, NOW, Ok(2)).await, (2, again));
    // After its end the value is not returned.
    let end = again.plus(60);
    let fetch = async { failed().map(Fresh::new) };
    let key = "k".to_owned();
    let found = cache.get_newer(&key, end, Some(again), fetch).await;
    assert!(found.is_err());
}

#[tokio::test]
async fn what_was_being_fetched_when_its_key_was_forgotten_is_not_kept() {
    let cache = cache();
    let key = "k".to_owned();
    let fetch = async {
        cache.forget(&key);
        // Another caller fetches meanwhile and has the newer answer.
        assert_eq!(get(&cache, "k", NOW, 2).await.0, 2);
        Ok(Fresh::new(1))
    };
    let (old, _) = cache.get(&key, NOW, fetch).await.unwrap();
    assert_eq!(*old, 1);
    assert_eq!(get(&cache, "k", NOW, 3).await.0, 2);
    assert!(cache.lock().flights.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_second_fetch_begins_before_the_first_is_kept() {
    for _ in 0..200 {
        let cache = cache();
        let fetches = Arc::new(AtomicUsize::new(0));
        let callers: Vec<_> = (0..16)
            .map(|_| {
                let (cache, fetches) = (cache.clone(), Arc::clone(&fetches));
                tokio::spawn(async move {
                    let fetch = async {
                        fetches.fetch_add(1, Ordering::SeqCst);
                        tokio::task::yield_now().await;
                        Ok(Fresh::new(7))
                    };
                    cache.get(&"k".to_owned(), NOW, fetch).await
                })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap().unwrap();
        }
        assert_eq!(fetches.load(Ordering::SeqCst), 1);
    }
}

#[tokio::test]
async fn what_is_at_hand_is_given_without_fetching_until_its_time_is_over() {
    let cache = cache();
    let key = "k".to_owned();
    assert_eq!(cache.at_hand(&key, NOW), None);
    assert_eq!(get(&cache, "k", NOW, 7).await, (7, NOW));
    assert_eq!(
        cache.at_hand(&key, NOW.plus(59)),
        Some(Ok((Arc::new(7), NOW)))
    );
    assert_eq!(cache.at_hand(&key, NOW.plus(60)), None);
}

#[tokio::test]
async fn what_was_kept_before_the_clock_was_set_back_is_fetched_anew() {
    let cache = cache();
    get(&cache, "k", NOW.plus(10_000), 1).await;
    assert!(cache.at_hand(&"k".to_owned(), NOW).is_none());
    assert_eq!(get(&cache, "k", NOW, 2).await, (2, NOW));
    assert_eq!(get(&cache, "k", NOW.plus(1), 3).await, (2, NOW));
}

/// A cache of texts that has room for 80,000 bytes.
fn texts() -> Cache<String, String> {
    let settings = CacheSettings {
        capacity: 1_000,
        max_bytes: 80_000,
        ..SETTINGS
    };
    Cache::new(settings, String::len)
}

async fn put(cache: &Cache<String, String>, key: &str, now: UnixTime, bytes: usize) {
    let fetch = async { Ok(Fresh::new("x".repeat(bytes))) };
    cache.get(&key.to_owned(), now, fetch).await.unwrap();
}

#[tokio::test]
async fn entries_are_bounded_in_bytes_and_the_longest_unused_makes_room() {
    let cache = texts();
    for number in 0..100 {
        put(&cache, &number.to_string(), NOW, 9_000).await;
        assert!(cache.bytes() <= 80_000, "{}", cache.bytes());
    }
    assert_eq!(cache.len(), 8);
    assert!(cache.at_hand(&"99".to_owned(), NOW).is_some());
    assert!(cache.at_hand(&"91".to_owned(), NOW).is_none());
}

#[tokio::test]
async fn an_entry_that_would_push_out_many_others_is_not_kept() {
    let cache = texts();
    put(&cache, "small", NOW, 100).await;
    put(&cache, "large", NOW, 20_000).await;
    assert!(cache.at_hand(&"large".to_owned(), NOW).is_none());
    assert!(cache.at_hand(&"small".to_owned(), NOW).is_some());
}

#[tokio::test]
async fn a_failure_and_a_key_weigh_too() {
    let cache = texts();
    for number in 0..1_000 {
        let key = format!("{number:01000}");
        let failed = cache.get(&key, NOW, async { Err(NetError::UnknownHost) });
        assert!(failed.await.is_err());
        assert!(cache.bytes() <= 80_000, "{}", cache.bytes());
    }
    assert!(cache.len() < 20);
}

#[tokio::test]
async fn what_is_outdated_is_dropped_when_the_cache_is_used_next() {
    let cache = texts();
    for number in 0..8 {
        put(&cache, &number.to_string(), NOW, 5_000).await;
    }
    put(&cache, "next", NOW.plus(60), 100).await;
    assert_eq!(cache.len(), 1);
    assert!(cache.bytes() < 1_000);
    let entries = cache.lock();
    assert_eq!(entries.by_end.len(), 1);
    assert_eq!(entries.by_use.len(), 1);
}
