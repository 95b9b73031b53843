//! Traces that go on: in a stored call, in the next step of a flow, in a call to another process.

use std::sync::Arc;

use crate::context::TraceContext;
use crate::ended::SpanKind;
use crate::present::with_present;
use crate::span::{TraceSpan, below_present};
use crate::switch::is_on;
use crate::tracer::tracer;

/// The headers of an outgoing call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OutgoingTrace {
    /// `traceparent`.
    pub parent: String,
    /// `tracestate` with the stamp, if there is a key.
    pub state: Option<String>,
}

/// Begins a span below one whose context was stored, perhaps by another process. It is nothing without one, if tracing
/// is off, or if that trace is not recorded.
#[inline]
pub fn resumed(stored: Option<TraceContext>, name: &'static str) -> TraceSpan {
    match (stored, tracer()) {
        (Some(stored), Some(tracer)) => tracer.resumed(stored, name, SpanKind::Consumer),
        _ => TraceSpan(None),
    }
}

/// Begins a span below one whose context was stored, as [`resumed`] does; without one, the first span of a new trace.
#[inline]
pub fn begun(stored: Option<TraceContext>, name: &'static str) -> TraceSpan {
    match (stored, tracer()) {
        (None, Some(tracer)) => tracer.begun(name, SpanKind::Consumer),
        _ => resumed(stored, name),
    }
}

/// Begins a span of a flow whose first span was stored with it, perhaps by another process. If the present request
/// begins a trace of its own, as that of a stranger does, the span goes on with the flow's trace and has a link to the
/// request; else it is below the request, with a link to the flow.
#[inline]
pub fn continued(flow: Option<TraceContext>, name: &'static str) -> TraceSpan {
    match (is_on(), flow) {
        (false, _) => TraceSpan(None),
        (true, None) => below_present(name, SpanKind::Internal),
        (true, Some(flow)) => beside_present(flow, name),
    }
}

fn beside_present(flow: TraceContext, name: &'static str) -> TraceSpan {
    // Work outside of a request is not part of a flow.
    let Some(node) = with_present(Arc::clone) else {
        return TraceSpan(None);
    };
    let below = || below_present(name, SpanKind::Internal);
    match tracer() {
        _ if node.context.trace == flow.trace => below(),
        Some(tracer) if node.begins_here => {
            let going_on = tracer.resumed(flow, name, SpanKind::Internal);
            going_on.linked(node.context)
        }
        _ => below().linked(flow),
    }
}

/// The headers for a call to one of the instance's own origins, below the present span; `None` without one.
pub fn outgoing() -> Option<OutgoingTrace> {
    if !is_on() {
        return None;
    }
    let context = with_present(|node| node.context)?;
    let stamp = tracer().and_then(|tracer| tracer.stamp());
    Some(OutgoingTrace {
        parent: context.to_string(),
        state: stamp.map(|stamp| stamp.state(&context)),
    })
}
