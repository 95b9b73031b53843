//! What traces tell of the store: the kind of what is read, the number of writes, never a tenant, an id or a value.

use selfsame_traces::{Attribute, SpanEnd, SpanKind, TraceSpan};

use crate::batch::Committed;
use crate::error::{Result, StoreError};

/// The span of a read of this kind.
pub(super) fn of(name: &'static str, kind: &str) -> TraceSpan {
    selfsame_traces::span(name, SpanKind::Internal).with(|| Attribute::RecordKind(kind.to_owned()))
}

/// How the span of a commit ends.
pub(super) fn committed(written: &Result<Committed>) -> SpanEnd {
    SpanEnd {
        failed: written.as_ref().err().map(word),
        attribute: None,
    }
}

fn word(error: &StoreError) -> &'static str {
    match error {
        StoreError::Conflict { .. } => "conflict",
        StoreError::Busy => "busy",
        StoreError::Deadline => "deadline",
        StoreError::Full(_) => "full",
        _ => "error",
    }
}
