//! Bulk issuance: one order of many credentials for holders who are connected, issued by itself and accounted for row
//! by row.
//!
//! Owns: the records of an order, its check, its pace, which process works on it, the result of each row. Does not own:
//! how a credential is issued (selfsame-agent).

mod bulks;
mod check;
mod order;
mod view;
mod work;

pub use bulks::{BulkRows, Bulks};
pub use order::{BulkRow, BulkState, NewBulk, ROWS_MAX};
pub use view::{BulkRowView, BulkView, RowState};
