//! New identifiers of traces and spans. They keep nothing secret; they must only not meet.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::context::{SpanId, TraceId};

/// Draws identifiers: a keyed hash of a count, whose key the system's randomness gives once a process.
pub(crate) struct Ids {
    key: RandomState,
    count: AtomicU64,
}

impl Ids {
    pub(crate) fn new() -> Self {
        Self {
            key: RandomState::new(),
            count: AtomicU64::new(0),
        }
    }

    fn number(&self) -> u64 {
        self.key
            .hash_one(self.count.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn wide(&self) -> u128 {
        u128::from(self.number()) << 64 | u128::from(self.number())
    }

    pub(crate) fn trace(&self) -> TraceId {
        loop {
            if let Some(id) = TraceId::of(self.wide()) {
                return id;
            }
        }
    }

    pub(crate) fn span(&self) -> SpanId {
        loop {
            if let Some(id) = SpanId::of(self.number()) {
                return id;
            }
        }
    }
}
