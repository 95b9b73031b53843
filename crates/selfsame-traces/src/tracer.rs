//! The tracer: begins traces, decides which are recorded, and keeps ended spans until they are exported.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::mpsc::{Receiver, Sender, channel};

use crate::context::{SpanId, TraceContext};
use crate::exporter::Exporter;
use crate::ids::Ids;
use crate::sampling::Sampling;
use crate::span::{EndedSpan, LiveSpan, Node, SpanKind, TraceSpan};
use crate::stamp::Stamp;

/// Ended spans that wait for the exporter; further ones are dropped. A span has about 300 bytes.
const WAITING_MAX: usize = 8_192;

static IS_ON: AtomicBool = AtomicBool::new(false);
static TRACER: OnceLock<Arc<Tracer>> = OnceLock::new();

/// What names this process in its spans.
#[derive(Clone, Debug)]
pub struct Service {
    /// `service.name`.
    pub name: String,
    /// `service.version`.
    pub version: &'static str,
}

/// Says whether the trace context of a caller at this address is believed.
pub type Callers = Box<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// Begins and keeps the spans of one process.
pub struct Tracer {
    sampling: Sampling,
    callers: Callers,
    stamp: OnceLock<Stamp>,
    ids: Ids,
    waiting: Sender<EndedSpan>,
}

/// The place of a new span in its trace.
struct SpanPlace {
    context: TraceContext,
    parent: Option<SpanId>,
    begins_here: bool,
}

/// Turns tracing on: from now on this tracer begins the traces of the process. Later calls change nothing.
pub fn install(tracer: Arc<Tracer>) {
    if TRACER.set(tracer).is_ok() {
        IS_ON.store(true, Ordering::Release);
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

/// Turns tracing on for tests that have tracers of their own.
#[cfg(test)]
pub(crate) fn switch_on() {
    IS_ON.store(true, Ordering::Release);
}

/// Whether a tracer is installed, in this process or in a test.
#[inline]
pub(crate) fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

impl Tracer {
    /// A tracer of this service, and the exporter of its spans.
    pub fn new(service: Service, sampling: Sampling, callers: Callers) -> (Arc<Self>, Exporter) {
        let (waiting, ended): (_, Receiver<EndedSpan>) = channel(WAITING_MAX);
        let tracer = Self {
            sampling,
            callers,
            stamp: OnceLock::new(),
            ids: Ids::new(),
            waiting,
        };
        let instance = tracer.ids.wide();
        let exporter = Exporter::new(service, instance, ended);
        (Arc::new(tracer), exporter)
    }

    /// Sets the stamp by which processes that share records know each other's trace contexts. Later calls change
    /// nothing.
    pub fn set_stamp(&self, stamp: Stamp) {
        // A second instance in one process, as tests have it, keeps the stamp of the first.
        let _ = self.stamp.set(stamp);
    }

    /// Whether the settings say that the trace context of a caller at this address is believed.
    pub fn believes(&self, caller: IpAddr) -> bool {
        (self.callers)(caller)
    }

    /// The stamp, once it is set.
    pub fn stamp(&self) -> Option<&Stamp> {
        self.stamp.get()
    }

    /// Begins the span of a request: below the caller's, if the caller is believed, else the first of a new trace.
    pub fn request(
        self: &Arc<Self>,
        believed: Option<TraceContext>,
        name: impl FnOnce() -> String,
    ) -> TraceSpan {
        let place = match believed {
            Some(caller) => self.place_below(caller),
            None => SpanPlace {
                context: self.first(),
                parent: None,
                begins_here: true,
            },
        };
        self.begin(place, SpanKind::Server, name)
    }

    /// Begins a span below another one of this process.
    pub(crate) fn below(
        self: &Arc<Self>,
        above: &Node,
        name: &'static str,
        kind: SpanKind,
    ) -> TraceSpan {
        let place = SpanPlace {
            begins_here: above.begins_here,
            ..self.place_below(above.context)
        };
        self.begin(place, kind, || name.to_owned())
    }

    /// Begins a span below one whose context was stored.
    pub(crate) fn resumed(
        self: &Arc<Self>,
        stored: TraceContext,
        name: &'static str,
        kind: SpanKind,
    ) -> TraceSpan {
        self.begin(self.place_below(stored), kind, || name.to_owned())
    }

    fn begin(
        self: &Arc<Self>,
        place: SpanPlace,
        kind: SpanKind,
        name: impl FnOnce() -> String,
    ) -> TraceSpan {
        let SpanPlace {
            context,
            parent,
            begins_here,
        } = place;
        let live = || LiveSpan::begin(self.clone(), name(), kind, parent);
        TraceSpan(Some(Arc::new(Node {
            context,
            begins_here,
            live: context.is_sampled.then(live),
        })))
    }

    fn place_below(&self, above: TraceContext) -> SpanPlace {
        let span = self.ids.span();
        SpanPlace {
            context: TraceContext { span, ..above },
            parent: Some(above.span),
            begins_here: false,
        }
    }

    fn first(&self) -> TraceContext {
        let trace = self.ids.trace();
        TraceContext {
            trace,
            span: self.ids.span(),
            is_sampled: self.sampling.has(trace),
        }
    }

    /// Keeps an ended span for the exporter, or drops it: what ends a span never waits.
    pub(crate) fn keep(&self, ended: EndedSpan) {
        if self.waiting.try_send(ended).is_err() {
            metrics::counter!("selfsame_traces_dropped_total", "cause" => "queue").increment(1);
        }
    }
}
