//! The spans in which events were told, until somebody who passes the events on asks for them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::context::TraceContext;
use crate::present::present;

/// The most events whose spans are kept; the oldest give way.
const KEPT_MAX: usize = 1_024;

/// The spans in which events were told lately by this process.
#[derive(Debug, Default)]
pub struct ToldTraces(Mutex<VecDeque<ToldTrace>>);

#[derive(Debug)]
struct ToldTrace {
    kind: &'static str,
    id: String,
    trace: TraceContext,
}

impl ToldTraces {
    /// Keeps the present span for an event, if it is recorded.
    #[inline]
    pub fn keep(&self, kind: &'static str, id: &str) {
        if let Some(trace) = present() {
            self.push(kind, id, trace);
        }
    }

    fn push(&self, kind: &'static str, id: &str, trace: TraceContext) {
        let mut kept = self.kept();
        if kept.len() >= KEPT_MAX {
            kept.pop_front();
        }
        let id = id.to_owned();
        kept.push_back(ToldTrace { kind, id, trace });
    }

    /// The span of the oldest event of this kind about this record, once.
    pub fn take(&self, kind: &str, id: &str) -> Option<TraceContext> {
        let mut kept = self.kept();
        let place = kept
            .iter()
            .position(|told| told.kind == kind && told.id == id)?;
        kept.remove(place).map(|told| told.trace)
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<ToldTrace>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{SpanId, TraceId};

    fn context(span: u64) -> TraceContext {
        TraceContext {
            trace: TraceId::of(1).unwrap(),
            span: SpanId::of(span).unwrap(),
            is_sampled: true,
        }
    }

    #[test]
    fn each_event_has_its_span_once_and_those_of_one_record_in_order() {
        let told = ToldTraces::default();
        for (kind, span) in [("issued", 1), ("changed", 2), ("changed", 3)] {
            told.push(kind, "c", context(span));
        }
        assert_eq!(told.take("changed", "c"), Some(context(2)));
        assert_eq!(told.take("changed", "d"), None);
        assert_eq!(told.take("changed", "c"), Some(context(3)));
        assert_eq!(told.take("changed", "c"), None);
        assert_eq!(told.take("issued", "c"), Some(context(1)));
    }

    #[test]
    fn what_nobody_asks_for_gives_way() {
        let told = ToldTraces::default();
        for number in 0..=KEPT_MAX as u64 {
            told.push("issued", &number.to_string(), context(number + 1));
        }
        assert_eq!(told.take("issued", "0"), None);
        assert_eq!(told.take("issued", "1"), Some(context(2)));
        assert_eq!(told.kept().len(), KEPT_MAX - 1);
    }
}
