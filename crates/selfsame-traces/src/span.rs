//! A span: something that takes time, below another one.

use std::future::Future;
use std::sync::Arc;

use crate::attribute::Attribute;
use crate::context::TraceContext;
use crate::ended::{SpanEnd, SpanKind};
use crate::node::{LiveSpan, SpanNode};
use crate::present::{Traced, with_present};
use crate::switch::is_on;

/// A span that has begun, or nothing if nothing is recorded. It ends when it is dropped.
#[derive(Default)]
pub struct TraceSpan(pub(crate) Option<Arc<SpanNode>>);

/// Begins a span below the present one. It is nothing if tracing is off or there is no present span.
#[inline]
pub fn span(name: &'static str, kind: SpanKind) -> TraceSpan {
    match is_on() {
        true => below_present(name, kind),
        false => TraceSpan(None),
    }
}

pub(crate) fn below_present(name: &'static str, kind: SpanKind) -> TraceSpan {
    TraceSpan(with_present(|node| node.below(name, kind)))
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

    /// The context for what is below it.
    pub fn context(&self) -> Option<TraceContext> {
        self.0.as_ref().map(|node| node.context)
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

    /// Adds a link to a span of another trace, if this one is recorded.
    pub(crate) fn linked(self, to: TraceContext) -> Self {
        if let Some(live) = self.live() {
            live.link(to);
        }
        self
    }

    fn live(&self) -> Option<&LiveSpan> {
        self.0.as_ref().and_then(|node| node.live.as_ref())
    }
}
