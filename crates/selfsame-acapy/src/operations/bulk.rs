//! Bulk issuance: one call names many credentials. These operations are this agent's own; ACA-Py has none like them.

use selfsame_bulk::{BulkRow, BulkRows, NewBulk, RowState};
use selfsame_driver::Reason;
use selfsame_driver::paging::Paging;
use serde::Deserialize;
use serde_json::json;

use super::exchange::{ByFormat, filters};
use crate::answer::{OperationError, OperationResult, cannot, told};
use crate::call::OperationCall;

/// The number of rows that are shown if the caller does not say, and at most.
const ROWS: [usize; 2] = [100, 10_000];

#[derive(Deserialize)]
struct BulkBody {
    filter: ByFormat,
    rows: Vec<BulkRow>,
    comment: Option<String>,
    answer_within: Option<u64>,
    auto_remove: Option<bool>,
}

/// Issues a credential for each row.
pub async fn give(call: OperationCall) -> OperationResult {
    let body: BulkBody = call.body()?;
    let mut filters = filters(body.filter)?;
    let one = filters.pop().filter(|_| filters.is_empty());
    let one = one.ok_or_else(|| cannot(Reason::new("bulk-format")))?;
    let new = NewBulk {
        filter: one,
        comment: body.comment,
        rows: body.rows,
        answer_within: body.answer_within,
        keep_records: body.auto_remove == Some(false),
    };
    told(&call.admin.bulks().give(call.tenant()?, new).await?)
}

/// The newest orders.
pub async fn list(call: OperationCall) -> OperationResult {
    let bulks = call.admin.bulks();
    let listed = bulks.list(call.tenant()?, &Paging::longest()).await?;
    told(&json!({ "results": listed.items }))
}

/// An order.
pub async fn show(call: OperationCall) -> OperationResult {
    let id = call.at("bulk_id")?;
    told(&call.admin.bulks().one(call.tenant()?, id).await?)
}

#[derive(Deserialize)]
struct RowsQuery {
    state: Option<String>,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
}

/// The rows of an order with their results.
pub async fn rows(call: OperationCall) -> OperationResult {
    let asked: RowsQuery = call.query()?;
    let unknown = || {
        OperationError::field(
            "state",
            "Must be one of: waiting, issued, failed, unanswered.",
        )
    };
    let state = match &asked.state {
        Some(name) => Some(RowState::named(name).ok_or_else(unknown)?),
        None => None,
    };
    let [usual, most] = ROWS;
    let rows = BulkRows {
        state,
        offset: asked.offset,
        limit: asked.limit.unwrap_or(usual).min(most),
    };
    let id = call.at("bulk_id")?;
    let results = call.admin.bulks().rows(call.tenant()?, id, rows).await?;
    told(&json!({ "results": results }))
}

/// Begins no further row of an order.
pub async fn cancel(call: OperationCall) -> OperationResult {
    let id = call.at("bulk_id")?;
    told(&call.admin.bulks().cancel(call.tenant()?, id).await?)
}
