//! Data that come from elsewhere or go there: a tenant that moves to another instance, a wallet of another agent.
//!
//! Owns: the file of a moved tenant, from its lines to the rows in them; the order in which an import writes, so that it
//! can be run again and is seen only when it is whole; the form in which records of wallets are kept. Does not own: the
//! format of wallets (selfsame-askar), how rows are sealed (selfsame-store), what commands print.
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

mod error;
mod export;
mod import;
pub mod line;
pub mod part;
mod rows;
mod tally;
pub mod wallet;

pub use error::MoveError;
pub use export::{ExportTerms, Exported, Leaving, TenantExport};
pub use import::{
    Arrived, FaultyLine, FilledTenant, ImportTerms, LineFault, TenantImport, discard,
};
pub use rows::{KeptIn, RowSource};
pub use tally::{KindTally, RowTally};
