//! The keyed sum over all rows. Each row has an element that only the holder of the key can compute. Each process keeps
//! the sum of what it added and took away, in a row of its own that it writes in the same transaction; so processes do
//! not wait for each other. The sum over the processes is the sum over the rows.
//!
//! An element covers what is not sealed. A sealed value is bound to its place and version, which the element covers.

use std::sync::Arc;

use selfsame_crypto::frame;
use selfsame_crypto::hash::sum::{Sum, Tally};
use selfsame_crypto::seal::SealingKey;
use selfsame_store::backend::{OutboxId, Place};
use uuid::Uuid;

use crate::rows::{EntryRow, RecordRow};

/// Computes elements and sums with a key.
#[derive(Clone)]
pub(crate) struct RowSums(Arc<SealingKey>);

impl RowSums {
    pub(crate) fn new(key: Arc<SealingKey>) -> Self {
        Self(key)
    }

    fn element(&self, parts: &[&[u8]]) -> Sum {
        Sum::of(&self.0.mac(&frame::join(parts))).unwrap_or_default()
    }

    pub(crate) fn record(&self, place: &Place, row: &RecordRow) -> Sum {
        self.element(&[
            b"records",
            place.tenant.as_str().as_bytes(),
            place.kind.as_bytes(),
            place.id.as_bytes(),
            &row.seq.to_be_bytes(),
            &row.version.to_be_bytes(),
            &optional(row.expires),
            &row.tags,
        ])
    }

    pub(crate) fn counter(&self, tenant: &str, counter: &str, next: i64) -> Sum {
        let next = next.to_be_bytes();
        self.element(&[b"counters", tenant.as_bytes(), counter.as_bytes(), &next])
    }

    pub(crate) fn entry(&self, id: OutboxId, row: &EntryRow) -> Sum {
        let reason = row.reason.as_deref().unwrap_or_default();
        self.element(&[
            b"outbox",
            &id.0.to_be_bytes(),
            &row.seq.to_be_bytes(),
            row.tenant.as_bytes(),
            &row.lane,
            &row.not_before.to_be_bytes(),
            &row.attempts.to_be_bytes(),
            &row.created.to_be_bytes(),
            &optional(row.buried),
            reason.as_bytes(),
        ])
    }

    /// The position is given by the commit itself, after the sum; the stamp is unique.
    pub(crate) fn event(&self, place: &Place, stamp: i64, at: i64) -> Sum {
        self.element(&[
            b"events",
            place.tenant.as_str().as_bytes(),
            place.kind.as_bytes(),
            place.id.as_bytes(),
            &stamp.to_be_bytes(),
            &at.to_be_bytes(),
        ])
    }

    /// Authenticates the row of a process.
    pub(crate) fn mac(&self, process: Uuid, tally: &Tally, generation: i64) -> [u8; 32] {
        self.0.mac(&frame::join(&[
            b"processes",
            process.as_bytes(),
            &tally.sum.to_bytes(),
            &tally.rows.to_be_bytes(),
            &generation.to_be_bytes(),
        ]))
    }
}

/// Nothing, or eight bytes.
fn optional(number: Option<i64>) -> Vec<u8> {
    number.map_or_else(Vec::new, |number| number.to_be_bytes().to_vec())
}
