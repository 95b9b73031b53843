//! Traces: spans of what an instance does, across processes, and their export by OTLP.
//!
//! Owns: the trace context and its text, the present span of a task, sampling, the queue of ended spans, OTLP/JSON,
//! batches and back-off. Does not own: the call to the collector, settings, and whose trace context is believed.

mod attribute;
mod context;
mod exporter;
mod ids;
mod otlp;
mod present;
mod sampling;
mod span;
mod stamp;
mod tracer;

pub use attribute::Attribute;
pub use context::{ContextError, SpanId, TraceContext, TraceId};
pub use exporter::{Delivered, Exporter};
pub use present::{Traced, carried, note, present};
pub use sampling::{Sampling, SamplingError};
pub use span::{SpanEnd, SpanKind, TraceSpan, continued, resumed, span};
pub use stamp::{OutgoingTrace, Stamp, outgoing};
pub use tracer::{Callers, Service, Tracer, install, tracer};

#[cfg(test)]
mod tests;
