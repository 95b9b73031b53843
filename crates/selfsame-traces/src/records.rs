//! Spans of records: the kind of what is read, the number of writes, never a tenant, an id or a value.

use std::future::Future;

use crate::attribute::Attribute;
use crate::ended::{SpanEnd, SpanKind};
use crate::present::Traced;
use crate::span::span;

/// Reads records of this kind.
#[inline]
pub fn reading<T, E, F>(name: &'static str, kind: &str, read: F) -> Traced<F>
where
    F: Future<Output = Result<T, E>>,
{
    let span = span(name, SpanKind::Internal).with(|| Attribute::RecordKind(kind.to_owned()));
    span.watch(read, SpanEnd::of)
}

/// Commits this number of writes.
#[inline]
pub fn committing<T, E, F>(writes: usize, commit: F) -> Traced<F>
where
    F: Future<Output = Result<T, E>>,
{
    let span = span("store commit", SpanKind::Internal).with(|| Attribute::Writes(writes));
    span.watch(commit, SpanEnd::of)
}
