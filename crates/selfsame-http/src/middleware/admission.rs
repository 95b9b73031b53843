//! Admits a request to a group of addresses: its body arrives, it takes its share and its place, and has its time.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::StatusCode;

use super::budget::{GatePlace, Passage, pass};
use crate::arrival::{Bodies, parting};
use crate::error::{self, Problem};
use crate::guarded_body::GuardedBody;
use crate::peer::Peer;
use crate::shares::{Share, Shares};

/// What a request must pass before it is answered.
pub struct Admission {
    /// The room for bodies.
    pub bodies: Bodies,
    /// The largest body, in bytes.
    pub body_max: usize,
    /// The gate, and the time behind it.
    pub passage: Passage,
    /// Each network's share of event streams.
    pub streams: Shares,
    /// Maximum number of event streams that one network may have open; `None` does not count them.
    pub streams_each: Option<usize>,
}

impl Admission {
    /// The answer to a request that is admitted, or its refusal.
    pub async fn admit(
        &self,
        request: Request,
        answer: impl AsyncFnOnce(Request) -> Response,
    ) -> Response {
        let Self {
            passage, body_max, ..
        } = self;
        // Before the gate: a request takes a place only after it has arrived.
        let (mut request, _room) = match self.bodies.whole(request, *body_max).await {
            Ok(arrived) => arrived,
            Err(refusal) => return error::write(passage.face, parting(refusal)),
        };
        let Some(stream) = self.stream(&request) else {
            let status = StatusCode::TOO_MANY_REQUESTS;
            let problem = Problem::new(status, "event-streams-crowded");
            return error::write(passage.face, parting(problem.come_back_in(1)));
        };
        let place = GatePlace::default();
        request.extensions_mut().insert(place.clone());
        // Boxed, since a future holds its arguments twice: before its first step, and while it waits.
        let answer = Box::pin(answer(request));
        let response = pass(passage, place, answer).await;
        match passage.lasting {
            true => response.map(|body| Body::new(GuardedBody::new(body, stream))),
            false => response,
        }
    }

    /// The share for one more event stream; `None` if the network has its maximum.
    fn stream(&self, request: &Request) -> Option<Share> {
        let peer = request.extensions().get::<Peer>().copied();
        let Some(most) = self.streams_each else {
            return Some(self.streams.open(None));
        };
        self.streams.one(peer.and_then(Peer::bounded), most)
    }
}
