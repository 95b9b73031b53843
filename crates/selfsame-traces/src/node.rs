//! A span that has begun, as what is below it sees it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::attribute::Attribute;
use crate::context::{SpanId, TraceContext};
use crate::ended::{BegunSpan, EndedSpan, SpanEnd, SpanFacts, SpanKind};
use crate::source::SpanSource;

/// The longest list of attributes of one span; further ones are left out.
const ATTRIBUTES_MAX: usize = 16;
const LINKS_MAX: usize = 4;

/// A span. It ends when it is dropped.
pub(crate) struct SpanNode {
    pub(crate) context: TraceContext,
    /// Whether the trace begins with the request that is answered here: no other process knows of it.
    pub(crate) begins_here: bool,
    /// `None` in a trace that is not recorded: then the context alone goes on.
    pub(crate) live: Option<LiveSpan>,
}

/// A span that is recorded.
pub(crate) struct LiveSpan {
    source: Arc<SpanSource>,
    begun: BegunSpan,
    began: Instant,
    facts: Mutex<SpanFacts>,
}

/// The place of a new span in its trace.
#[derive(Clone, Copy)]
pub(crate) struct SpanPlace {
    pub(crate) context: TraceContext,
    pub(crate) parent: Option<SpanId>,
    pub(crate) begins_here: bool,
}

impl SpanPlace {
    /// A place below this span.
    pub(crate) fn below(source: &SpanSource, above: TraceContext) -> Self {
        let span = source.ids.span();
        Self {
            context: TraceContext { span, ..above },
            parent: Some(above.span),
            begins_here: false,
        }
    }
}

impl SpanNode {
    /// Begins a span.
    pub(crate) fn begin(
        source: &Arc<SpanSource>,
        place: SpanPlace,
        kind: SpanKind,
        name: impl FnOnce() -> String,
    ) -> Arc<Self> {
        let SpanPlace {
            context,
            parent,
            begins_here,
        } = place;
        let live = || {
            let at = now();
            let begun = BegunSpan {
                name: name(),
                kind,
                parent,
                at,
            };
            LiveSpan::begin(source.clone(), begun)
        };
        Arc::new(Self {
            context,
            begins_here,
            live: context.is_sampled.then(live),
        })
    }

    /// Begins a span below this one. In a trace that is not recorded, it is this one.
    pub(crate) fn below(self: &Arc<Self>, name: &'static str, kind: SpanKind) -> Arc<Self> {
        let Some(live) = &self.live else {
            return self.clone();
        };
        let place = SpanPlace {
            begins_here: self.begins_here,
            ..SpanPlace::below(&live.source, self.context)
        };
        Self::begin(&live.source, place, kind, || name.to_owned())
    }
}

impl LiveSpan {
    #[expect(clippy::disallowed_methods, reason = "a span measures real time")]
    fn begin(source: Arc<SpanSource>, begun: BegunSpan) -> Self {
        Self {
            source,
            begun,
            began: Instant::now(),
            facts: Mutex::default(),
        }
    }

    pub(crate) fn note(&self, attribute: Attribute) {
        self.learn(|facts| {
            if facts.attributes.len() < ATTRIBUTES_MAX {
                facts.attributes.push(attribute);
            }
        });
    }

    pub(crate) fn fail(&self, why: &'static str) {
        self.learn(|facts| {
            facts.failed.get_or_insert(why);
        });
    }

    pub(crate) fn link(&self, to: TraceContext) {
        self.learn(|facts| {
            if facts.links.len() < LINKS_MAX {
                facts.links.push(to);
            }
        });
    }

    pub(crate) fn end_as(&self, end: SpanEnd) {
        if let Some(attribute) = end.attribute {
            self.note(attribute);
        }
        if let Some(why) = end.failed {
            self.fail(why);
        }
    }

    fn learn(&self, change: impl FnOnce(&mut SpanFacts)) {
        change(&mut self.facts.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Drop for SpanNode {
    fn drop(&mut self) {
        let Some(live) = &mut self.live else {
            return;
        };
        let took = u64::try_from(live.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let facts = live.facts.get_mut().unwrap_or_else(PoisonError::into_inner);
        let ended = EndedSpan {
            context: self.context,
            begun: live.begun.clone(),
            ended: live.begun.at.saturating_add(took),
            facts: std::mem::take(facts),
        };
        live.source.keep(ended);
    }
}

/// The time, in nanoseconds since the epoch.
#[expect(clippy::disallowed_methods, reason = "a span measures real time")]
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0))
}
