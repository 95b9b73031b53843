//! The span of an outbound call, and the trace context that goes along. It goes to the instance's own origins alone: with
//! it, others could tell which of an instance's calls belong together.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use selfsame_traces::{Attribute, SpanEnd, SpanKind, TraceSpan};
use tokio::time::error::Elapsed;

use crate::error::NetError;
use crate::message::{Call, Method, Response};

const PARENT: HeaderName = HeaderName::from_static("traceparent");
const STATE: HeaderName = HeaderName::from_static("tracestate");

/// The span of a call. It says the host; a path or a query may have an identifier in it.
pub(crate) fn of(call: &Call<'_>) -> TraceSpan {
    selfsame_traces::span("call", SpanKind::Client)
        .with(|| Attribute::Method(method(call.method)))
        .with(|| Attribute::Host(call.url.host_str().unwrap_or_default().to_owned()))
}

/// How the span of a call ends.
pub(crate) fn ended(answer: &Result<Result<Response, NetError>, Elapsed>) -> SpanEnd {
    let failed = |failed| SpanEnd {
        failed: Some(failed),
        attribute: None,
    };
    match answer {
        Ok(Ok(response)) => SpanEnd {
            failed: match response.status {
                500.. => Some("5xx"),
                400..=499 => Some("4xx"),
                _ => None,
            },
            attribute: Some(Attribute::Status(response.status)),
        },
        Ok(Err(error)) => failed(word(error)),
        Err(_elapsed) => failed("timeout"),
    }
}

/// Adds the context of the present span to the headers of a call to one of the instance's own origins.
pub(crate) fn tell(headers: &mut HeaderMap) {
    let Some(trace) = selfsame_traces::outgoing() else {
        return;
    };
    let told = [(PARENT, Some(trace.parent)), (STATE, trace.state)];
    for (name, text) in told {
        if let Some(Ok(value)) = text.map(|text| HeaderValue::from_str(&text)) {
            headers.insert(name, value);
        }
    }
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Patch => "PATCH",
        Method::Delete => "DELETE",
    }
}

fn word(error: &NetError) -> &'static str {
    match error {
        NetError::Refused(_) => "refused",
        NetError::Busy { .. } => "busy",
        NetError::UnknownHost => "unknown_host",
        NetError::Unconnected => "unconnected",
        NetError::Unreachable => "unreachable",
        NetError::Tls(_) => "tls",
        NetError::TimedOut => "timeout",
        NetError::TooLarge { .. } => "too_large",
        NetError::Redirected { .. } => "redirected",
        NetError::Malformed(_) | NetError::BadCall(_) => "malformed",
        NetError::Setup(_) => "setup",
    }
}
