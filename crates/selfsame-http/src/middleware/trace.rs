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

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use axum::body::Body;
    use selfsame_traces::{Sampling, Stamp, TracedService};

    use super::*;
    use crate::peer::Proxies;

    const SENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn stamp(key: u8) -> Stamp {
        Stamp::new(move |text| [text.iter().fold(key, |sum, byte| sum.wrapping_add(*byte)); 16])
    }

    /// Whether the context of a request is believed that comes from this address with these headers.
    fn is_believed(
        from: &str,
        through: Option<&Proxies>,
        headers: &[(&'static str, &str)],
    ) -> bool {
        let service = TracedService {
            name: "clinic".to_owned(),
            version: "0",
        };
        let gateways = Proxies::parse(&["192.0.2.0/24"]).unwrap();
        let callers = Box::new(move |address| gateways.have(address));
        let (tracer, _exporter) = Tracer::new(service, Sampling::ALL, callers);
        tracer.set_stamp(stamp(7));
        let mut request = Request::new(Body::empty());
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().unwrap());
        }
        let peer = Peer::from(SocketAddr::new(from.parse().unwrap(), 1));
        let peer = match through {
            Some(proxies) => peer.behind(request.headers(), proxies),
            None => peer,
        };
        request.extensions_mut().insert(peer);
        believed(&tracer, &request).is_some_and(|context| context.to_string() == SENT)
    }

    #[test]
    fn a_caller_on_this_machine_or_in_the_settings_is_believed_and_no_stranger() {
        let sent = [("traceparent", SENT)];
        assert!(is_believed("127.0.0.1", None, &sent));
        assert!(is_believed("192.0.2.7", None, &sent));
        assert!(!is_believed("203.0.113.7", None, &sent));
        assert!(!is_believed("127.0.0.1", None, &[]));
    }

    #[test]
    fn a_stranger_behind_a_proxy_on_this_machine_is_not_believed() {
        let proxies = Proxies::default();
        let mut headers = vec![("traceparent", SENT), ("x-forwarded-for", "203.0.113.7")];
        assert!(!is_believed("127.0.0.1", Some(&proxies), &headers));
        headers.pop();
        assert!(!is_believed("127.0.0.1", Some(&proxies), &headers));
        headers.push(("x-forwarded-for", "192.0.2.7"));
        assert!(is_believed("127.0.0.1", Some(&proxies), &headers));
    }

    #[test]
    fn another_process_on_the_same_records_is_believed_whoever_passes_its_call_on() {
        let context = SENT.parse().unwrap();
        let with = |state: &str| {
            let headers = [("traceparent", SENT), ("tracestate", state)];
            is_believed("203.0.113.7", None, &headers)
        };
        assert!(with(&stamp(7).state(&context)));
        assert!(!with(&stamp(8).state(&context)));
        assert!(!with("selfsame=0"));
    }

    #[test]
    fn two_contexts_are_none() {
        let sent = [("traceparent", SENT), ("traceparent", SENT)];
        assert!(!is_believed("127.0.0.1", None, &sent));
        let malformed = [("traceparent", "00-0")];
        assert!(!is_believed("127.0.0.1", None, &malformed));
    }
}
