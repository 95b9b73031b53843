//! How a load treats a server that is busy: with a pool of requests, and with pauses that grow.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The first pause before a request is sent again; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// How many times a request is sent again at most.
const AGAIN_MAX: u32 = 6;

/// The manners of a load, which all of its clients share. The default has none: each request is sent at once, and once.
#[derive(Clone, Debug, Default)]
pub struct LoadManners {
    pool: Option<Arc<Semaphore>>,
    backs_off: bool,
    pauses: Arc<AtomicU64>,
}

impl LoadManners {
    /// With `pool`, at most this number of requests are under way at once. With `backs_off`, a request that the server refuses for
    /// now is sent again, after a pause.
    #[must_use]
    pub fn new(pool: Option<NonZeroUsize>, backs_off: bool) -> Self {
        Self {
            pool: pool.map(|places| Arc::new(Semaphore::new(places.get()))),
            backs_off,
            pauses: Arc::default(),
        }
    }

    /// How many pauses there were so far.
    #[must_use]
    pub fn pauses(&self) -> u64 {
        self.pauses.load(Ordering::Relaxed)
    }

    /// A place in the pool, once there is one; none without a pool.
    pub(crate) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        // The pool is never closed.
        self.pool.clone()?.acquire_owned().await.ok()
    }

    /// The pause before a request is sent again that was sent this number of times before; none if the answer stands.
    pub(crate) fn pause(&self, status: StatusCode, sent_before: u32) -> Option<Duration> {
        if !self.backs_off || sent_before >= AGAIN_MAX || !is_for_now(status) {
            return None;
        }
        self.pauses.fetch_add(1, Ordering::Relaxed);
        Some(FIRST_PAUSE * 2_u32.pow(sent_before))
    }
}

/// Whether a server refuses only for now. An agent answers with 403 while a connection is not ready. After these answers
/// nothing has happened, so that a request can be sent again.
fn is_for_now(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::FORBIDDEN | StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    )
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use tokio::task::JoinSet;

    use super::*;
    use crate::client::BenchClient;
    use crate::fake_server::{FakeServer, Reply};

    fn reply(status: u16) -> Reply {
        Reply {
            status,
            content_type: "application/json",
            body: b"{}".to_vec(),
            ..Reply::default()
        }
    }

    #[tokio::test]
    async fn a_load_that_backs_off_sends_a_request_again_until_the_server_is_ready() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        let server = FakeServer::start(move |_| match counted.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => reply(403),
            _ => reply(200),
        });
        let server = server.await.unwrap();
        let base = server.address().trim_end_matches('/').to_owned();
        let hasty = BenchClient::new(&base);
        assert!(hasty.get("/", "").await.is_err());
        let manners = LoadManners::new(None, true);
        let polite = BenchClient::new(&base).with(&manners);
        polite.get("/", "").await.unwrap();
        assert_eq!((manners.pauses(), asked.load(Ordering::SeqCst)), (1, 3));
    }

    #[tokio::test]
    async fn no_more_requests_are_under_way_than_the_pool_has_places() {
        let (under_way, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let manners = LoadManners::new(NonZeroUsize::new(2), false);
        let mut users = JoinSet::new();
        for _ in 0..10 {
            let (manners, under_way, most) = (manners.clone(), under_way.clone(), most.clone());
            users.spawn(async move {
                let place = manners.place().await;
                most.fetch_max(
                    under_way.fetch_add(1, Ordering::SeqCst) + 1,
                    Ordering::SeqCst,
                );
                tokio::task::yield_now().await;
                under_way.fetch_sub(1, Ordering::SeqCst);
                drop(place);
            });
        }
        users.join_all().await;
        assert_eq!(most.load(Ordering::SeqCst), 2);
    }
}
