//! The audit trail: who did what for which organisation, chained by hashes.
//!
//! Owns: entries, chains, exports and their verification. Does not own: which acts are written.

mod chain;
mod entry;
mod export;
mod trail;
mod verify;

#[cfg(test)]
mod tests;

pub use chain::{ChainHead, ChainLink, LinkHash};
pub use entry::{AuditEntry, AuditResult, AuditedActor};
pub use export::{ExportLine, ExportPage};
pub use trail::{Act, AuditFilter, ChainAnchor, DueAnchors, Trail};
pub use verify::{TrailFault, Verified, verify};
