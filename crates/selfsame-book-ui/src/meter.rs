//! What each network takes of a book: answering time and bytes within a minute. Beyond its share it waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::HttpBody as _;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use selfsame_driver::{Error, ErrorKind};
use selfsame_http::error::Problem;
use selfsame_http::peer::{AddressBlock, Peer};
use tokio::time::Instant;

/// The time over which it is counted.
const WINDOW: Duration = Duration::from_secs(60);
/// What one network may take within it.
const MOST: BookShare = BookShare {
    time: Duration::from_secs(30),
    bytes: 64 << 20,
};
/// Beyond this number of networks, those whose window is over are removed; beyond twice the number, all are.
const NETWORKS: usize = 65_536;

/// What networks have taken.
#[derive(Default)]
pub(crate) struct BookMeter(Mutex<HashMap<AddressBlock, (Instant, BookShare)>>);

/// What answers have cost.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct BookShare {
    time: Duration,
    bytes: u64,
}

impl BookMeter {
    /// Whether a network may take more.
    ///
    /// # Errors
    /// If it has had its share: the seconds to wait.
    fn may(&self, network: AddressBlock, now: Instant) -> Result<(), u64> {
        let Some((since, taken)) = self.all().get(&network).copied() else {
            return Ok(());
        };
        let age = now.duration_since(since);
        match age < WINDOW && (taken.time >= MOST.time || taken.bytes >= MOST.bytes) {
            true => Err(WINDOW.saturating_sub(age).as_secs().max(1)),
            false => Ok(()),
        }
    }

    /// Counts an answer.
    fn take(&self, network: AddressBlock, more: BookShare, now: Instant) {
        let mut all = self.all();
        if all.len() >= NETWORKS {
            all.retain(|_, (since, _)| now.duration_since(*since) < WINDOW);
        }
        if all.len() >= NETWORKS.saturating_mul(2) {
            all.clear();
        }
        let (since, taken) = all.entry(network).or_insert((now, BookShare::default()));
        if now.duration_since(*since) >= WINDOW {
            (*since, *taken) = (now, BookShare::default());
        }
        taken.time = taken.time.saturating_add(more.time);
        taken.bytes = taken.bytes.saturating_add(more.bytes);
    }

    fn all(&self) -> MutexGuard<'_, HashMap<AddressBlock, (Instant, BookShare)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers a request, unless its network has had its share.
pub(crate) async fn metered(
    State(meter): State<Arc<BookMeter>>,
    request: Request,
    next: Next,
) -> Response {
    let peer = request.extensions().get::<Peer>().copied();
    let Some(network) = peer.and_then(Peer::bounded) else {
        return next.run(request).await;
    };
    let began = Instant::now();
    if let Err(retry_after) = meter.may(network, began) {
        let kind = ErrorKind::TooMany { retry_after };
        return Problem::from(Error::new(kind, "book-crowded")).into_response();
    }
    let response = next.run(request).await;
    let bytes = response.body().size_hint().lower();
    let now = Instant::now();
    let time = now.duration_since(began);
    meter.take(network, BookShare { time, bytes }, now);
    response
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn network(address: &str) -> AddressBlock {
        Peer::from(SocketAddr::new(address.parse().unwrap(), 7)).network()
    }

    #[test]
    fn a_network_that_had_its_bytes_or_its_time_waits_and_others_do_not() {
        let [one, other, third] = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(network);
        let (meter, began) = (BookMeter::default(), Instant::now());
        let at = |seconds| began + Duration::from_secs(seconds);
        assert_eq!(meter.may(one, at(0)), Ok(()));
        let half = BookShare {
            time: Duration::ZERO,
            bytes: MOST.bytes / 2,
        };
        meter.take(one, half, at(0));
        assert_eq!(meter.may(one, at(0)), Ok(()));
        meter.take(one, half, at(0));
        let long = BookShare {
            time: MOST.time,
            bytes: 1,
        };
        meter.take(other, long, at(0));
        assert_eq!(meter.may(one, at(20)), Err(40));
        assert_eq!(meter.may(other, at(20)), Err(40));
        assert_eq!(meter.may(third, at(20)), Ok(()));
        assert_eq!(meter.may(one, at(60)), Ok(()));
        meter.take(one, half, at(60));
        assert_eq!(meter.may(one, at(60)), Ok(()));
    }
}
