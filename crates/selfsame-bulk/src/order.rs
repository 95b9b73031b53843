//! An order and its rows, as they are kept.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_agent::issue::NamedFilter;
use selfsame_aries::formats::CredentialFilter;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::record::encode;
use selfsame_store::{Batch, Put, TenantId};
use serde::{Deserialize, Serialize};

/// The most rows of an order.
pub const ROWS_MAX: usize = 100_000;
/// The kind of orders.
pub(crate) const ORDER: &str = "bulk_order";
/// The kind of chunks of rows.
pub(crate) const CHUNK: &str = "bulk_rows";
/// The kind of the notes of the instance about orders that are worked on.
pub(crate) const RUNNING: &str = "bulk_running";
/// The kind of the turns of processes at orders.
pub(crate) const TURN: &str = "bulk_turn";
/// The rows of a chunk. Their results are written in one commit.
pub(crate) const CHUNK_ROWS: usize = 100;
/// How long an order and its results are kept, in seconds: 30 days.
const KEPT_SECONDS: u64 = 30 * 86_400;
/// How long a holder has for an answer if the order does not say, in seconds.
const ANSWERED_WITHIN: u64 = 600;

/// A new order.
#[derive(Clone, Debug)]
pub struct NewBulk {
    /// The credential definition, and the format of attachments.
    pub filter: NamedFilter,
    /// A text for people, in each offer.
    pub comment: Option<String>,
    /// The credentials.
    pub rows: Vec<BulkRow>,
    /// How long a holder has to answer the offer, in seconds; 600 without it.
    pub answer_within: Option<u64>,
    /// Whether the records of the exchanges are kept.
    pub keep_records: bool,
}

/// One credential of an order.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct BulkRow {
    /// The connection to its holder.
    pub connection_id: String,
    /// The values, by the names of the attributes.
    pub attributes: BTreeMap<String, String>,
    /// The controller's own name for the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// An order as it is kept.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct OrderRecord {
    pub format: String,
    pub filter: CredentialFilter,
    pub comment: Option<String>,
    pub answer_within: u64,
    pub keep_records: bool,
    pub total: usize,
    /// The results of all chunks before this one are known.
    pub next_chunk: usize,
    /// The chunks after it whose results are known too.
    pub ahead: BTreeSet<usize>,
    /// The results of the chunks that are written.
    pub counts: RowCounts,
    pub state: BulkState,
    pub began: UnixTime,
    pub ended: Option<UnixTime>,
    /// What the exchanges of the rows are derived from. Secret.
    pub seed: String,
}

/// How many rows have which result.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct RowCounts {
    pub issued: usize,
    pub failed: usize,
    pub unanswered: usize,
}

/// Where an order stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BulkState {
    /// Its rows are worked on.
    Running,
    /// Each row has a result.
    Done,
    /// It was cancelled. Rows without a result have none.
    Cancelled,
}

/// Rows that follow each other, as they are kept.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct RowChunk {
    pub rows: Vec<BulkRow>,
    /// Their results, in the same order; empty before all of them are known.
    pub results: Vec<RowResult>,
}

/// What came of a row.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) enum RowResult {
    /// The holder has the credential.
    Issued(IssuedRow),
    /// It can't be issued.
    Failed {
        exchange: Option<String>,
        why: String,
    },
    /// The holder did not answer in time. The offer stands.
    Unanswered { exchange: String },
}

/// A credential that its holder has.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct IssuedRow {
    pub exchange: String,
    pub rev_reg_id: Option<String>,
    pub cred_rev_id: Option<u32>,
}

impl OrderRecord {
    /// The record of a new order.
    pub fn new(new: &NewBulk, ctx: &Ctx) -> Self {
        Self {
            format: new.filter.format.clone(),
            filter: new.filter.filter.clone(),
            comment: new.comment.clone(),
            answer_within: new.answer_within.unwrap_or(ANSWERED_WITHIN),
            keep_records: new.keep_records,
            total: new.rows.len(),
            next_chunk: 0,
            ahead: BTreeSet::new(),
            counts: RowCounts::default(),
            state: BulkState::Running,
            began: ctx.now(),
            ended: None,
            seed: ctx.token("bulk/seed"),
        }
    }

    /// The number of its chunks.
    pub fn chunks(&self) -> usize {
        self.total.div_ceil(CHUNK_ROWS)
    }

    /// When the order and its results are removed.
    pub fn kept_until(&self) -> UnixTime {
        self.began.plus(KEPT_SECONDS)
    }

    /// The record to write.
    ///
    /// # Errors
    /// `Internal` if it can't be encoded.
    pub fn put(&self, id: &str) -> Result<Put> {
        Ok(Put::new(ORDER, id, encode(self)?).expires(self.kept_until()))
    }

    /// Counts the results of a chunk, which are known now.
    pub fn count(&mut self, number: usize, chunk: &RowChunk) {
        self.ahead.insert(number);
        while self.ahead.remove(&self.next_chunk) {
            self.next_chunk += 1;
        }
        for result in &chunk.results {
            match result {
                RowResult::Issued(_) => self.counts.issued += 1,
                RowResult::Failed { .. } => self.counts.failed += 1,
                RowResult::Unanswered { .. } => self.counts.unanswered += 1,
            }
        }
    }

    /// How many rows have a result.
    pub fn known(&self) -> usize {
        self.counts.issued + self.counts.failed + self.counts.unanswered
    }
}

impl RowResult {
    /// The exchange whose record is no longer needed.
    pub fn spent(&self) -> Option<&str> {
        match self {
            Self::Issued(issued) => Some(&issued.exchange),
            Self::Failed { exchange, .. } => exchange.as_deref(),
            Self::Unanswered { .. } => None,
        }
    }
}

impl RowChunk {
    /// The record to write.
    ///
    /// # Errors
    /// `Internal` if it can't be encoded.
    pub fn put(&self, id: &str, until: UnixTime) -> Result<Put> {
        Ok(Put::new(CHUNK, id, encode(self)?).expires(until))
    }
}

/// The identifier of a chunk.
pub(crate) fn chunk_id(order: &str, number: usize) -> String {
    format!("{order}.{number:04}")
}

/// The identifier of the instance's note about an order that is worked on.
pub(crate) fn running_id(tenant: &TenantId, order: &str) -> String {
    format!("{}/{order}", tenant.as_str())
}

/// The order that a note is about.
pub(crate) fn noted(id: &str) -> Option<NotedOrder> {
    let (tenant, order) = id.rsplit_once('/')?;
    Some(NotedOrder {
        tenant: TenantId::parse(tenant).ok()?,
        id: order.to_owned(),
    })
}

/// An order that is worked on.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct NotedOrder {
    pub tenant: TenantId,
    pub id: String,
}

impl NotedOrder {
    /// Without the instance's note about it.
    pub fn forgotten(&self, batch: Batch) -> Batch {
        let batch = batch.for_tenant(TenantId::instance());
        let batch = batch.delete(RUNNING, &running_id(&self.tenant, &self.id));
        batch.for_tenant(self.tenant.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_found_by_the_note_about_it() {
        let tenant = TenantId::parse("org/main").unwrap();
        let noted = noted(&running_id(&tenant, "abc")).unwrap();
        assert_eq!((noted.tenant, noted.id.as_str()), (tenant, "abc"));
    }

    fn order(rows: usize) -> OrderRecord {
        let row = BulkRow {
            connection_id: "c".to_owned(),
            attributes: BTreeMap::new(),
            reference: None,
        };
        let new = NewBulk {
            filter: NamedFilter {
                format: "anoncreds".to_owned(),
                filter: CredentialFilter::default(),
            },
            comment: None,
            rows: vec![row; rows],
            answer_within: None,
            keep_records: false,
        };
        OrderRecord::new(&new, &Ctx::new(UnixTime(7), [1; 32]))
    }

    #[test]
    fn the_last_chunk_may_be_short() {
        assert_eq!([1, 100, 101].map(|rows| order(rows).chunks()), [1, 1, 2]);
    }

    #[test]
    fn chunks_that_end_out_of_order_are_counted_once_each() {
        let mut order = order(300);
        let chunk = RowChunk {
            rows: Vec::new(),
            results: vec![RowResult::Unanswered {
                exchange: "e".to_owned(),
            }],
        };
        for (number, next) in [(1, 0), (2, 0), (0, 3)] {
            order.count(number, &chunk);
            assert_eq!(order.next_chunk, next);
        }
        assert!(order.ahead.is_empty());
        assert_eq!(order.known(), 3);
    }
}
