//! The span of a request, and whose trace context is believed: that of a caller on this machine, of one that the
//! settings name, and of another process on the same records. Otherwise anybody could have requests recorded, or join
//! traces of others; a request of theirs begins a trace of its own.

use axum::extract::Request;
use axum::response::Response;
use http::HeaderMap;
use selfsame_traces::{Attribute, SpanEnd, TraceContext, TraceSpan, Tracer, tracer};

use crate::peer::Peer;
use crate::supervision;

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";

/// Begins the span of a request; none while tracing is off, and none for supervisors, who ask every few seconds.
pub fn begin(request: &Request, method: &'static str, route: &str) -> TraceSpan {
    let Some(tracer) = tracer() else {
        return TraceSpan::default();
    };
    if supervision::PATHS.contains(&request.uri().path()) {
        return TraceSpan::default();
    }
    tracer
        .request(believed(tracer, request), || format!("{method} {route}"))
        .with(|| Attribute::Method(method))
        .with(|| Attribute::Route(route.to_owned()))
}

/// How the span of a request ends with this response.
pub fn ended(response: &Response) -> SpanEnd {
    SpanEnd {
        failed: response.status().is_server_error().then_some("5xx"),
        attribute: Some(Attribute::Status(response.status().as_u16())),
    }
}

/// The context that the caller sent, if it is believed.
fn believed(tracer: &Tracer, request: &Request) -> Option<TraceContext> {
    let headers = request.headers();
    // W3C Trace Context §3.2: there is one such header, or none that counts.
    let mut sent = headers.get_all(PARENT).iter();
    let (Some(parent), None) = (sent.next(), sent.next()) else {
        return None;
    };
    let context: TraceContext = parent.to_str().ok()?.parse().ok()?;
    let peer = request.extensions().get::<Peer>();
    let is_known = peer.is_some_and(|peer| peer.is_here() || tracer.believes(peer.address()));
    (is_known || is_stamped(tracer, &context, headers)).then_some(context)
}

/// Whether another process on the same records sent the context.
fn is_stamped(tracer: &Tracer, context: &TraceContext, headers: &HeaderMap) -> bool {
    tracer.stamp().is_some_and(|stamp| {
        let states = headers.get_all(STATE).iter();
        let mut states = states.filter_map(|state| state.to_str().ok());
        states.any(|state| stamp.is_on(context, state))
    })
}
