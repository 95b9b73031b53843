//! The recorder in front of an address: takes the request and its answer along, if the organisation wants that.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, LOCATION};
use http::request::Parts;
use selfsame_http::error::Problem;
use selfsame_http::route::Route;
use selfsame_wire::{WireAnswer, WireExchange, WireRequest, WireStep};

use crate::here::{WireHere, told};
use crate::steps;

/// The largest answer that is looked at, in bytes. A larger one goes by.
const ANSWER_MAX: u64 = 256 * 1024;
const PROOF: &str = "dpop";
const NONCE: &str = "dpop-nonce";

/// A step at an address of a server.
struct WatchedStep<S> {
    state: S,
    recorded: RecordedStep,
    /// The place of the identifier among the parts of the path.
    id_at: Option<usize>,
}

/// A step as records name it.
struct RecordedStep {
    step: WireStep,
    /// The method and the pattern of the address.
    head: String,
}

/// The route with a recorder in front of it, if it is a step of a flow.
pub fn watched<S>(mut route: Route<S>, state: &S) -> Route<S>
where
    S: Clone + Send + Sync + 'static,
    WireHere: FromRequestParts<S>,
{
    let Some(step) = steps::of(&route.method, &route.path) else {
        return route;
    };
    let watched = WatchedStep {
        state: state.clone(),
        recorded: RecordedStep {
            step,
            head: format!("{} {}", route.method, route.path),
        },
        id_at: route.path.split('/').position(|part| part == "{id}"),
    };
    let layer = from_fn_with_state(Arc::new(watched), watch::<S>);
    route.handler = route.handler.route_layer(layer);
    route
}

async fn watch<S>(
    State(watched): State<Arc<WatchedStep<S>>>,
    request: Request,
    next: Next,
) -> Response
where
    S: Clone + Send + Sync + 'static,
    WireHere: FromRequestParts<S>,
{
    let (mut parts, body) = request.into_parts();
    let Some(here) = wanted(&watched, &mut parts).await else {
        return next.run(Request::from_parts(parts, body)).await;
    };
    // The body has arrived already and is within its limit.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let asked = AskedMessage::of(&parts, body.clone(), watched.id_at);
    let request = Request::from_parts(parts, Body::from(body));
    recorded(&here, &watched.recorded, asked, next.run(request)).await
}

/// The answer to a request, once both are recorded.
async fn recorded(
    here: &WireHere,
    step: &RecordedStep,
    asked: AskedMessage,
    answer: impl Future<Output = Response>,
) -> Response {
    let at = here.wires.now();
    #[expect(
        clippy::disallowed_methods,
        reason = "measures how long the answer takes"
    )]
    let begun = Instant::now();
    let answer = answer.await;
    let (answer, given) = GivenAnswer::of(answer, begun.elapsed()).await;
    let (request, took) = (asked.request(&step.head), Some(given.took));
    let exchange = WireExchange {
        step: step.step,
        request,
        answer: given.answer(),
        at,
        took,
    };
    here.record(&exchange).await;
    answer
}

/// The organisation that was called, if it wants its flows recorded.
async fn wanted<S>(watched: &WatchedStep<S>, parts: &mut Parts) -> Option<WireHere>
where
    S: Send + Sync,
    WireHere: FromRequestParts<S>,
{
    // Whoever is refused here is refused by the handler, which says why.
    let here = WireHere::from_request_parts(parts, &watched.state)
        .await
        .ok()?;
    match here.is_on().await {
        Ok(is_on) => is_on.then_some(here),
        Err(error) => {
            told(&error);
            None
        }
    }
}

/// What is kept of a request until its answer is there.
struct AskedMessage {
    query: String,
    id: Option<String>,
    headers: HeaderMap,
    body: Bytes,
}

impl AskedMessage {
    fn of(parts: &Parts, body: Bytes, id_at: Option<usize>) -> Self {
        let id = id_at.and_then(|at| parts.uri.path().split('/').nth(at));
        Self {
            query: parts.uri.query().unwrap_or_default().to_owned(),
            id: id.map(str::to_owned),
            headers: parts.headers.clone(),
            body,
        }
    }

    fn request<'a>(&'a self, head: &'a str) -> WireRequest<'a> {
        WireRequest {
            head,
            id: self.id.as_deref(),
            query: &self.query,
            authorization: text(&self.headers, AUTHORIZATION.as_str()),
            proof: text(&self.headers, PROOF),
            media: text(&self.headers, CONTENT_TYPE.as_str()).unwrap_or_default(),
            body: &self.body,
        }
    }
}

/// What is kept of an answer that goes on its way.
struct GivenAnswer {
    status: u16,
    refusal: Option<String>,
    headers: HeaderMap,
    body: Bytes,
    took: Duration,
}

impl GivenAnswer {
    async fn of(answer: Response, took: Duration) -> (Response, Self) {
        let (parts, body) = answer.into_parts();
        let mut given = Self {
            status: parts.status.as_u16(),
            refusal: parts
                .extensions
                .get::<Problem>()
                .map(|problem| problem.reason().id().to_owned()),
            headers: parts.headers.clone(),
            body: Bytes::new(),
            took,
        };
        // Only an answer that is in memory already: a stream goes by.
        if body
            .size_hint()
            .exact()
            .is_none_or(|length| length > ANSWER_MAX)
        {
            return (Response::from_parts(parts, body), given);
        }
        given.body = to_bytes(body, usize::MAX).await.unwrap_or_default();
        let body = Body::from(given.body.clone());
        (Response::from_parts(parts, body), given)
    }

    fn answer(&self) -> WireAnswer<'_> {
        WireAnswer {
            status: self.status,
            location: text(&self.headers, LOCATION.as_str()),
            nonce: text(&self.headers, NONCE),
            refusal: self.refusal.as_deref(),
            media: text(&self.headers, CONTENT_TYPE.as_str()).unwrap_or_default(),
            body: &self.body,
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}
