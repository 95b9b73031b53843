//! Tracks whether a connection is busy, so that a connection can be closed when it falls silent or does not read its
//! responses.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::Instant;

/// Marks a body that waits for us, not for the peer.
const OURS: u64 = u64::MAX;

/// What one connection is doing.
#[derive(Clone)]
pub(super) struct Activity(Arc<ActivityState>);

struct ActivityState {
    began: Instant,
    answering: AtomicUsize,
    last_ms: AtomicU64,
    /// For each body under way: since when it waits for the peer to read it.
    sending: Mutex<Vec<Arc<AtomicU64>>>,
}

/// Held while a request is handled, until its response's body begins.
pub(super) struct AnsweringRequest(Arc<ActivityState>);

/// A response's body under way, with a value that is held until the body has been sent or given up.
pub(super) struct Sending<T> {
    body: Body,
    mark: Mark,
    _held: T,
}

/// The mark of one body among those under way.
struct Mark {
    state: Arc<ActivityState>,
    since: Arc<AtomicU64>,
}

impl Activity {
    pub(super) fn new() -> Self {
        Self(Arc::new(ActivityState {
            began: Instant::now(),
            answering: AtomicUsize::new(0),
            last_ms: AtomicU64::new(0),
            sending: Mutex::default(),
        }))
    }

    pub(super) fn enter(&self) -> AnsweringRequest {
        self.0.answering.fetch_add(1, Ordering::Relaxed);
        AnsweringRequest(Arc::clone(&self.0))
    }

    /// Ends when there was no request or response for `limit`, or when the peer has not read a response for as long.
    pub(super) async fn silent_for(&self, limit: Duration) {
        let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        loop {
            let now = self.0.now();
            let left = |since: u64| limit_ms.saturating_sub(now.saturating_sub(since));
            let untaken = self.0.untaken().map(left);
            let silent = self.0.is_idle().then(|| left(self.0.last()));
            match untaken.into_iter().chain(silent).min() {
                Some(0) => return,
                Some(rest) => tokio::time::sleep(Duration::from_millis(rest)).await,
                None => tokio::time::sleep(limit).await,
            }
        }
    }
}

impl ActivityState {
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(OURS.saturating_sub(1))
    }

    fn last(&self) -> u64 {
        self.last_ms.load(Ordering::Relaxed)
    }

    fn bodies(&self) -> MutexGuard<'_, Vec<Arc<AtomicU64>>> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_idle(&self) -> bool {
        self.answering.load(Ordering::Relaxed) == 0 && self.bodies().is_empty()
    }

    /// Since when the body that has waited longest for the peer waits.
    fn untaken(&self) -> Option<u64> {
        let bodies = self.bodies();
        let since = bodies.iter().map(|since| since.load(Ordering::Relaxed));
        since.filter(|since| *since != OURS).min()
    }
}

impl AnsweringRequest {
    /// The response's body, which keeps the connection busy as long as the peer reads it.
    pub(super) fn send<T>(self, body: Body, held: T) -> Sending<T> {
        let state = Arc::clone(&self.0);
        let since = Arc::new(AtomicU64::new(state.now()));
        state.bodies().push(Arc::clone(&since));
        Sending {
            body,
            mark: Mark { state, since },
            _held: held,
        }
    }
}

impl Drop for AnsweringRequest {
    fn drop(&mut self) {
        self.0.last_ms.store(self.0.now(), Ordering::Relaxed);
        self.0.answering.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let now = self.state.now();
        self.state.last_ms.store(now, Ordering::Relaxed);
        self.state
            .bodies()
            .retain(|since| !Arc::ptr_eq(since, &self.since));
    }
}

impl<T: Unpin> HttpBody for Sending<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        // A peer without room for more does not poll for it.
        let since = match polled.is_pending() {
            true => OURS,
            false => self.mark.state.now(),
        };
        self.mark.since.store(since, Ordering::Relaxed);
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use futures_util::stream;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    async fn ends_within(activity: &Activity, seconds: u64) -> bool {
        let over = activity.silent_for(LIMIT);
        tokio::time::timeout(Duration::from_secs(seconds), over)
            .await
            .is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_connection_is_noticed_and_a_busy_one_is_left_alone() {
        let silent = Activity::new();
        assert!(ends_within(&silent, 31).await);

        let busy = Activity::new();
        let request = busy.enter();
        assert!(!ends_within(&busy, 300).await);
        drop(request);
        assert!(!ends_within(&busy, 29).await);
        assert!(ends_within(&busy, 40).await);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_taken_ends_the_connection_whatever_else_is_asked_on_it() {
        let activity = Activity::new();
        let _untaken = activity.enter().send(Body::from("something"), ());
        let _more = activity.enter();
        assert!(!ends_within(&activity, 29).await);
        assert!(ends_within(&activity, 2).await);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_has_nothing_to_say_is_taken() {
        let activity = Activity::new();
        let first = stream::iter([Ok::<_, axum::Error>(Bytes::from_static(b"event"))]);
        let body = Body::from_stream(first.chain(stream::pending()));
        let sending = activity.enter().send(body, ());
        let mut pieces = Body::new(sending).into_data_stream();
        assert!(pieces.next().await.is_some());
        let next = tokio::time::timeout(Duration::from_millis(1), pieces.next());
        assert!(next.await.is_err());
        assert!(!ends_within(&activity, 300).await);
        drop(pieces);
        assert!(ends_within(&activity, 31).await);
    }
}
