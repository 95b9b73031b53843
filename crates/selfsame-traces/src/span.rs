//! A span: something that takes time, below another one.

use std::future::Future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::attribute::Attribute;
use crate::context::{SpanId, TraceContext};
use crate::present::{Traced, below_present, beside_present};
use crate::tracer::{Tracer, is_on, tracer};

/// The longest list of attributes of one span; further ones are left out.
const ATTRIBUTES_MAX: usize = 16;
const LINKS_MAX: usize = 4;

/// The role of a span.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SpanKind {
    /// Work within the instance.
    Internal,
    /// The answer to a request.
    Server,
    /// A call to another.
    Client,
    /// The delivery of something that was stored earlier.
    Consumer,
}

/// A span that has begun, or nothing if nothing is recorded. It ends when it is dropped.
#[derive(Default)]
pub struct TraceSpan(pub(crate) Option<Arc<Node>>);

/// How a span ends.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SpanEnd {
    /// Why what it stands for failed: a word of our code, such as `timeout`.
    pub failed: Option<&'static str>,
    /// What is known only now.
    pub attribute: Option<Attribute>,
}

impl SpanEnd {
    /// The end with this result. No error's text becomes part of it.
    pub fn of<T, E>(result: &Result<T, E>) -> Self {
        Self {
            failed: result.is_err().then_some("error"),
            attribute: None,
        }
    }
}

/// A span that the tasks below it share.
pub(crate) struct Node {
    pub(crate) context: TraceContext,
    /// Whether the trace begins with the request that is answered here: nobody else knows of it.
    pub(crate) begins_here: bool,
    /// `None` in a trace that is not recorded: then the context alone goes on.
    pub(crate) live: Option<LiveSpan>,
}

/// A span that is recorded.
pub(crate) struct LiveSpan {
    tracer: Arc<Tracer>,
    begun: Begun,
    began: Instant,
    /// Set when what it stands for is over, though tasks that it began may go on.
    took: OnceLock<Duration>,
    said: Mutex<Said>,
}

/// What is known of a span when it begins.
#[derive(Clone, Debug)]
pub(crate) struct Begun {
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    pub(crate) parent: Option<SpanId>,
    /// When it began, in nanoseconds since the epoch.
    pub(crate) at: u64,
}

/// What was said of a span since.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) failed: Option<&'static str>,
    /// Spans of other traces that it has to do with.
    pub(crate) links: Vec<TraceContext>,
}

/// A span that has ended.
#[derive(Clone, Debug)]
pub(crate) struct EndedSpan {
    pub(crate) context: TraceContext,
    pub(crate) begun: Begun,
    /// When it ended, in nanoseconds since the epoch.
    pub(crate) ended: u64,
    pub(crate) said: Said,
}

/// Begins a span below the present one. It is nothing if tracing is off or there is no present span.
#[inline]
pub fn span(name: &'static str, kind: SpanKind) -> TraceSpan {
    match is_on() {
        true => below_present(name, kind),
        false => TraceSpan(None),
    }
}

/// Begins a span below one whose context was stored, perhaps by another process. It is nothing without one, if tracing
/// is off, or if that trace is not recorded.
#[inline]
pub fn resumed(stored: Option<TraceContext>, name: &'static str) -> TraceSpan {
    match (is_on(), stored) {
        (true, Some(stored)) => match tracer() {
            Some(tracer) => tracer.resumed(stored, name, SpanKind::Consumer),
            None => TraceSpan(None),
        },
        _ => TraceSpan(None),
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

impl TraceSpan {
    /// Adds an attribute, if the span is recorded.
    #[inline]
    pub fn with(self, attribute: impl FnOnce() -> Attribute) -> Self {
        if let Some(live) = self.live() {
            live.note(attribute());
        }
        self
    }

    /// Whether it is recorded.
    #[inline]
    pub fn is_recorded(&self) -> bool {
        self.live().is_some()
    }

    /// Says that what it stands for failed: a word of our code, such as `timeout`.
    pub fn fail(&self, why: &'static str) {
        if let Some(live) = self.live() {
            live.fail(why);
        }
    }

    /// The context for what is below it.
    pub fn context(&self) -> Option<TraceContext> {
        self.0.as_ref().map(|node| node.context)
    }

    /// Adds a link to a span of another trace, if this one is recorded.
    pub(crate) fn linked(self, to: TraceContext) -> Self {
        if let Some(live) = self.live() {
            live.link(to);
        }
        self
    }

    /// Runs a future, in which this is the present span. The span ends with it; if it is dropped before its end, the
    /// span says `cancelled`.
    #[inline]
    pub fn run<F: Future>(self, future: F) -> Traced<F> {
        Traced::new(self.0, future, |_| SpanEnd::default())
    }

    /// As [`Self::run`]; `judge` says how the span ends with this output.
    #[inline]
    pub fn watch<F: Future>(self, future: F, judge: fn(&F::Output) -> SpanEnd) -> Traced<F> {
        Traced::new(self.0, future, judge)
    }

    fn live(&self) -> Option<&LiveSpan> {
        self.0.as_ref().and_then(|node| node.live.as_ref())
    }
}

impl LiveSpan {
    #[expect(clippy::disallowed_methods, reason = "a span measures real time")]
    pub(crate) fn begin(
        tracer: Arc<Tracer>,
        name: String,
        kind: SpanKind,
        parent: Option<SpanId>,
    ) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let at = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0));
        Self {
            tracer,
            begun: Begun {
                name,
                kind,
                parent,
                at,
            },
            began: Instant::now(),
            took: OnceLock::new(),
            said: Mutex::default(),
        }
    }

    pub(crate) fn tracer(&self) -> &Arc<Tracer> {
        &self.tracer
    }

    pub(crate) fn note(&self, attribute: Attribute) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.attributes.len() < ATTRIBUTES_MAX {
            said.attributes.push(attribute);
        }
    }

    pub(crate) fn link(&self, to: TraceContext) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.links.len() < LINKS_MAX {
            said.links.push(to);
        }
    }

    pub(crate) fn end_as(&self, end: SpanEnd) {
        if let Some(attribute) = end.attribute {
            self.note(attribute);
        }
        if let Some(why) = end.failed {
            self.fail(why);
        }
        self.end();
    }

    pub(crate) fn end(&self) {
        self.took.get_or_init(|| self.began.elapsed());
    }

    pub(crate) fn fail(&self, why: &'static str) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.failed.get_or_insert(why);
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let Some(live) = &mut self.live else {
            return;
        };
        live.end();
        let took = live.took.get().map_or(0, Duration::as_nanos);
        let took = u64::try_from(took).unwrap_or(u64::MAX);
        let said = live.said.get_mut().unwrap_or_else(PoisonError::into_inner);
        live.tracer.clone().keep(EndedSpan {
            context: self.context,
            begun: live.begun.clone(),
            ended: live.begun.at.saturating_add(took),
            said: std::mem::take(said),
        });
    }
}
