//! Owns: tables of rows in CSV and NDJSON, read strictly and written safely, and printed sheets with QR codes as PDF.
//! Does not own: what a column means, files, the network.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

mod cell;
mod csv;
mod fault;
mod pdf;
mod reader;
mod sheet;
#[cfg(test)]
mod tests;
mod write;

pub use cell::TableCell;
pub use fault::{FaultKind, TableFault};
pub use reader::{ObjectRow, ROW_MAX, TableItem, TableKind, TableReader};
pub use sheet::{SheetCard, sheet};
pub use write::written;
