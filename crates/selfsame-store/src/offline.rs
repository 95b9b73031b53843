//! Checks of files that no process has open. They change nothing in the files.

pub use crate::ledger::LedgerFile;
pub use crate::looked::{Looked, Tell};
pub use crate::outbox::opens;
pub use crate::sqlite::offline::{FileRow, StoreFile};
pub use crate::store::COPIED;
