//! What is known of a span: when it begins, while it runs, and once it has ended.

use crate::attribute::Attribute;
use crate::context::{SpanId, TraceContext};

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

/// How a span ends.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SpanEnd {
    /// Why what it stands for failed: a word of our code, such as `timeout`.
    pub failed: Option<&'static str>,
    /// What is known only now.
    pub attribute: Option<Attribute>,
}

/// What is known of a span when it begins.
#[derive(Clone, Debug)]
pub(crate) struct BegunSpan {
    pub(crate) name: String,
    pub(crate) kind: SpanKind,
    pub(crate) parent: Option<SpanId>,
    /// When it began, in nanoseconds since the epoch.
    pub(crate) at: u64,
}

/// What is learnt of a span while it runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpanFacts {
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) failed: Option<&'static str>,
    /// Spans of other traces that it has to do with.
    pub(crate) links: Vec<TraceContext>,
}

/// A span that has ended.
#[derive(Clone, Debug)]
pub(crate) struct EndedSpan {
    pub(crate) context: TraceContext,
    pub(crate) begun: BegunSpan,
    /// When it ended, in nanoseconds since the epoch.
    pub(crate) ended: u64,
    pub(crate) facts: SpanFacts,
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
