//! Reads a request's body before the request takes a place, so that slow senders delay no other request.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use bytes::BytesMut;
use futures_util::StreamExt as _;
use http::header::CONNECTION;
use http::{HeaderValue, Method, StatusCode};
use hyper::body::Body as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::Problem;
use crate::limits::ConnectionLimits;
use crate::peer::Peer;
use crate::shares::{Share, Shares};

/// One network may use at most this fraction of the room for all bodies.
const PART: usize = 8;

/// The room for the bodies of all requests, and how long each may take to arrive.
#[derive(Clone)]
pub struct Bodies {
    room: Arc<Semaphore>,
    shares: Shares,
    each: usize,
    time: Duration,
}

/// The part of the room, and of its network's share, that a body takes while it is held.
pub struct TakenRoom {
    room: Option<OwnedSemaphorePermit>,
    share: Share,
}

/// Marks, as an extension, a request whose body exceeds the limit of its address. The body has been dropped.
#[derive(Clone, Copy)]
pub struct TooLarge;

impl Bodies {
    /// Room with these limits.
    pub fn new(limits: &ConnectionLimits) -> Self {
        Self {
            room: Arc::new(Semaphore::new(limits.bodies)),
            shares: Shares::default(),
            each: limits.bodies / PART,
            time: limits.body,
        }
    }

    /// Returns the request with its whole body in memory, `most` bytes at most.
    ///
    /// A request with a larger body is marked as [`TooLarge`]: each protocol has its own error for that.
    ///
    /// # Errors
    /// If the body does not arrive in its time or is cut off, and if there is no room for it.
    pub async fn whole(
        &self,
        request: Request,
        most: usize,
    ) -> Result<(Request, TakenRoom), Problem> {
        let peer = request.extensions().get::<Peer>().copied();
        let mut taken = TakenRoom {
            room: None,
            share: self.shares.open(peer.and_then(Peer::bounded)),
        };
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        if most == 0 || reads || request.body().is_end_stream() {
            return Ok((request, taken));
        }
        let (mut parts, body) = request.into_parts();
        let arriving = self.arriving(body, most, &mut taken);
        let body = match tokio::time::timeout(self.time, arriving).await {
            Ok(arrived) => arrived?,
            // RFC 9110 §15.5.9.
            Err(_elapsed) => {
                return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "body-slow"));
            }
        };
        let body = body.unwrap_or_else(|| {
            parts.extensions.insert(TooLarge);
            Bytes::new()
        });
        Ok((Request::from_parts(parts, Body::from(body)), taken))
    }

    /// The body as it arrives; `None` if it is too large. Counts the bytes received, not the announced length.
    async fn arriving(
        &self,
        body: Body,
        most: usize,
        taken: &mut TakenRoom,
    ) -> Result<Option<Bytes>, Problem> {
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        if announced > most {
            return Ok(None);
        }
        let mut whole = BytesMut::new();
        let mut pieces = body.into_data_stream();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|_cut| Problem::bad_request("request-cut-off"))?;
            if whole.len().saturating_add(piece.len()) > most {
                return Ok(None);
            }
            self.take(taken, piece.len())?;
            whole.extend_from_slice(&piece);
        }
        Ok(Some(whole.freeze()))
    }

    fn take(&self, taken: &mut TakenRoom, bytes: usize) -> Result<(), Problem> {
        let amount = u32::try_from(bytes).unwrap_or(u32::MAX);
        let more = taken
            .share
            .grow(bytes, self.each)
            .then(|| Arc::clone(&self.room).try_acquire_many_owned(amount).ok());
        let Some(more) = more.flatten() else {
            metrics::counter!("selfsame_http_turned_away_total", "budget" => "bodies").increment(1);
            let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy");
            return Err(problem.come_back_in(1));
        };
        match &mut taken.room {
            Some(room) => room.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

/// A refusal that closes the connection, since the rest of the body is still unread on it.
pub fn parting(problem: Problem) -> Response {
    let mut refusal = problem.into_response();
    let close = HeaderValue::from_static("close");
    refusal.headers_mut().insert(CONNECTION, close);
    refusal
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::net::SocketAddr;

    use futures_util::stream;

    use super::*;

    fn bodies(room: usize) -> Bodies {
        Bodies::new(&ConnectionLimits {
            bodies: room,
            body: Duration::from_secs(10),
            ..ConnectionLimits::default()
        })
    }

    fn post(body: Body) -> Request {
        Request::post("/").body(body).unwrap()
    }

    /// A body that sends `text` and then stalls for ever.
    fn stalled(text: &'static str) -> Body {
        let first = stream::iter([Ok::<_, Infallible>(Bytes::from_static(text.as_bytes()))]);
        Body::from_stream(first.chain(stream::pending()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_does_not_arrive_in_its_time_is_refused_and_its_room_is_free_again() {
        let bodies = bodies(4);
        let slow = bodies.whole(post(stalled("abcd")), 100).await;
        let refused = slow.err().unwrap();
        assert_eq!(refused.status(), StatusCode::REQUEST_TIMEOUT);
        assert_eq!(parting(refused).headers()[CONNECTION], "close");
        assert!(bodies.whole(post(Body::from("abcd")), 100).await.is_ok());
    }

    #[tokio::test]
    async fn bodies_beyond_the_room_for_all_are_turned_away_until_one_is_done_with() {
        let bodies = bodies(6);
        let first = bodies.whole(post(Body::from("abcd")), 100).await;
        assert!(first.is_ok());
        let second = bodies.whole(post(Body::from("abc")), 100).await;
        let refused = second.err().unwrap();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        drop(first);
        assert!(bodies.whole(post(Body::from("abc")), 100).await.is_ok());
    }

    #[tokio::test]
    async fn the_bodies_of_one_network_leave_room_for_those_of_others() {
        let bodies = bodies(8 * 4);
        let from = |last: u8| {
            let mut request = post(Body::from("abcd"));
            let peer = Peer::from(SocketAddr::from(([203, 0, 113, last], 1)));
            request.extensions_mut().insert(peer);
            bodies.whole(request, 100)
        };
        let first = from(1).await;
        assert!(first.is_ok());
        let refused = from(1).await.err().unwrap();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert!(from(2).await.is_ok());
        drop(first);
        assert!(from(1).await.is_ok());
    }

    #[tokio::test]
    async fn a_body_is_bounded_whether_it_is_announced_or_not() {
        let bodies = bodies(100);
        let pieces = || stream::iter(["abc", "def"].map(Ok::<_, Infallible>));
        for (body, most, large) in [
            (Body::from("abcdef"), 6, false),
            (Body::from("abcdef"), 5, true),
            (Body::from_stream(pieces()), 6, false),
            (Body::from_stream(pieces()), 5, true),
        ] {
            let (request, _taken) = bodies.whole(post(body), most).await.ok().unwrap();
            assert_eq!(request.extensions().get::<TooLarge>().is_some(), large);
            let whole = axum::body::to_bytes(request.into_body(), 100).await;
            assert_eq!(whole.unwrap(), if large { "" } else { "abcdef" });
        }
    }
}
