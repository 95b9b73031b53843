//! The tracer of a process: begins its traces, and decides which are recorded.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use crate::context::TraceContext;
use crate::ended::SpanKind;
use crate::exporter::Exporter;
use crate::node::{SpanNode, SpanPlace};
use crate::otlp::TracedService;
use crate::sampling::Sampling;
use crate::source::SpanSource;
use crate::span::TraceSpan;
use crate::stamp::Stamp;
use crate::switch::{is_on, turn_on};

static TRACER: OnceLock<Arc<Tracer>> = OnceLock::new();

/// Says whether the trace context of a caller at this address is believed.
pub type Callers = Box<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// Begins the traces of one process.
pub struct Tracer {
    sampling: Sampling,
    callers: Callers,
    stamp: OnceLock<Stamp>,
    source: Arc<SpanSource>,
}

/// Turns tracing on: from now on this tracer begins the traces of the process. Later calls change nothing.
pub fn install(tracer: Arc<Tracer>) {
    if TRACER.set(tracer).is_ok() {
        turn_on();
    }
}

/// The tracer of the process; `None` while tracing is off.
#[inline]
pub fn tracer() -> Option<&'static Arc<Tracer>> {
    match is_on() {
        true => TRACER.get(),
        false => None,
    }
}

impl Tracer {
    /// A tracer of this service, and the exporter of its spans.
    pub fn new(
        service: TracedService,
        sampling: Sampling,
        callers: Callers,
    ) -> (Arc<Self>, Exporter) {
        let (source, ended) = SpanSource::new();
        let exporter = Exporter::new(service, source.ids.wide(), ended);
        let tracer = Self {
            sampling,
            callers,
            stamp: OnceLock::new(),
            source: Arc::new(source),
        };
        (Arc::new(tracer), exporter)
    }

    /// Sets the stamp by which processes that share records know each other's trace contexts. Later calls change
    /// nothing.
    pub fn set_stamp(&self, stamp: Stamp) {
        // A second instance in one process, as tests have it, keeps the stamp of the first.
        let _ = self.stamp.set(stamp);
    }

    /// The stamp, once it is set.
    pub fn stamp(&self) -> Option<&Stamp> {
        self.stamp.get()
    }

    /// Whether the settings say that the trace context of a caller at this address is believed.
    pub fn believes(&self, caller: IpAddr) -> bool {
        (self.callers)(caller)
    }

    /// Begins the span of a request: below the caller's, if the caller is believed, else the first of a new trace.
    pub fn request(
        &self,
        believed: Option<TraceContext>,
        name: impl FnOnce() -> String,
    ) -> TraceSpan {
        let place = match believed {
            Some(caller) => SpanPlace::below(&self.source, caller),
            None => self.first(),
        };
        let kind = SpanKind::Server;
        TraceSpan(Some(SpanNode::begin(&self.source, place, kind, name)))
    }

    /// Begins a span below one whose context was stored.
    pub(crate) fn resumed(
        &self,
        stored: TraceContext,
        name: &'static str,
        kind: SpanKind,
    ) -> TraceSpan {
        let place = SpanPlace::below(&self.source, stored);
        let name = || name.to_owned();
        TraceSpan(Some(SpanNode::begin(&self.source, place, kind, name)))
    }

    /// Begins the first span of a new trace, for work that no request is known for.
    pub(crate) fn begun(&self, name: &'static str, kind: SpanKind) -> TraceSpan {
        let (place, name) = (self.first(), || name.to_owned());
        TraceSpan(Some(SpanNode::begin(&self.source, place, kind, name)))
    }

    fn first(&self) -> SpanPlace {
        let trace = self.source.ids.trace();
        SpanPlace {
            context: TraceContext {
                trace,
                span: self.source.ids.span(),
                is_sampled: self.sampling.has(trace),
            },
            parent: None,
            begins_here: true,
        }
    }
}
