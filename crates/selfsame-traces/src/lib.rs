//! Traces: spans of what an instance does, across processes, and their export by OTLP.
//!
//! Owns: the trace context and its text, the present span of a task, sampling, the queue of ended spans, OTLP/JSON,
//! batches and back-off. Does not own: the call to the collector, settings, and whose trace context is believed.

mod attribute;
mod context;
mod ended;
mod exporter;
mod flow;
mod ids;
mod node;
mod otlp;
mod present;
mod records;
mod sampling;
mod source;
mod span;
mod stamp;
mod switch;
mod told;
mod tracer;

pub use attribute::Attribute;
pub use context::TraceContext;
pub use ended::{SpanEnd, SpanKind};
pub use exporter::{Delivered, Exporter};
pub use flow::{OutgoingTrace, begun, continued, outgoing, resumed};
pub use otlp::TracedService;
pub use present::{Traced, present};
pub use records::{committing, reading};
pub use sampling::Sampling;
pub use span::{TraceSpan, span};
pub use stamp::Stamp;
pub use told::ToldTraces;
pub use tracer::{Callers, Tracer, install, tracer};

#[cfg(test)]
mod tests;
