//! A cache of which organisation has a host name, or that none has.

use std::future::Future;

use selfsame_crypto::time::UnixTime;
use selfsame_driver::{Error, Result};
use selfsame_net::{Cache, CacheSettings, Fresh};

/// Recent look-ups of host names: the organisation that has the name, or that no organisation has it. Anyone can send any
/// host name, so the number of look-ups without an organisation is bounded too.
pub(crate) struct HostCache(Cache<String, Result<Option<String>>>);

impl Default for HostCache {
    fn default() -> Self {
        let settings = CacheSettings {
            capacity: 4_096,
            max_bytes: 4 * 1024 * 1024,
            // An organisation never changes its host name, and no other organisation ever gets that name.
            ttl: 3600,
            // Another process of this store may create an organisation.
            negative_ttl: 10,
        };
        Self(Cache::new(settings, |found| {
            let name = found.as_ref().ok().and_then(Option::as_ref);
            name.map_or(0, String::len)
        }))
    }
}

impl HostCache {
    /// The name of the organisation that has this host, looked up if it is not known.
    ///
    /// # Errors
    /// Those of `look`, which are not kept.
    pub async fn get(
        &self,
        host: &str,
        now: UnixTime,
        look: impl Future<Output = Result<Option<String>>>,
    ) -> Result<Option<String>> {
        let fetch = async {
            let found = look.await;
            Ok(match &found {
                Ok(Some(_)) => Fresh::new(found),
                Ok(None) => Fresh::negative(found),
                Err(_) => Fresh::negative(found).at_most(0),
            })
        };
        let found = self.0.get(&host.to_owned(), now, fetch).await;
        let (found, _) = found.map_err(Error::internal)?;
        (*found).clone()
    }

    /// Forgets that no organisation had this host name.
    pub fn forget(&self, host: &str) {
        self.0.forget(&host.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_host_is_looked_up_once_for_a_time_and_unknown_hosts_take_bounded_memory() {
        let (cache, looks) = (HostCache::default(), AtomicUsize::new(0));
        let found = async |host: String, now: u64, name: Option<&str>| {
            let look = async {
                looks.fetch_add(1, Ordering::Relaxed);
                Ok(name.map(str::to_owned))
            };
            cache.get(&host, UnixTime(now), look).await.unwrap()
        };
        let clinic = || "id.clinic.example".to_owned();
        assert_eq!(found(clinic(), 1_000, None).await, None);
        assert_eq!(found(clinic(), 1_009, Some("clinic")).await, None);
        assert_eq!(looks.load(Ordering::Relaxed), 1);
        cache.forget(&clinic());
        let name = Some("clinic".to_owned());
        assert_eq!(found(clinic(), 1_009, Some("clinic")).await, name);
        assert_eq!(found(clinic(), 4_000, None).await, name);
        assert_eq!(looks.load(Ordering::Relaxed), 2);
        for number in 0..10_000 {
            found(format!("{number}.{}.example", "a".repeat(60)), 4_000, None).await;
        }
        assert!(cache.0.len() <= 4_096 && cache.0.bytes() <= 4 * 1024 * 1024);
    }

    #[tokio::test]
    async fn a_look_up_that_failed_is_tried_again() {
        let cache = HostCache::default();
        let failed = async { Err(Error::internal("no store")) };
        let host = "id.clinic.example";
        assert!(cache.get(host, UnixTime(1), failed).await.is_err());
        let found = async { Ok(Some("clinic".to_owned())) };
        let found = cache.get(host, UnixTime(1), found).await;
        assert_eq!(found.unwrap().as_deref(), Some("clinic"));
    }
}
