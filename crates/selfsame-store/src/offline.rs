//! Files that no process has open, for who looks through all of one: nothing in them is changed.

pub use crate::ledger::LedgerFile;
pub use crate::looked::{Looked, Tell};
pub use crate::sqlite::offline::StoreFile;
