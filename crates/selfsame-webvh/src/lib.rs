//! did:webvh 1.0: logs of DID documents, verified and written.
//!
//! Owns: the entries of a log with their hashes, proofs, parameters and times; the approval by witnesses; the document
//! and the metadata of a version; new entries as bytes to sign; the did:web beside a did:webvh.
//!
//! Does not own: the DID and its URL (selfsame-did), fetching and caching (selfsame-core), private keys.
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

mod entry;
pub mod fault;
mod hosted;
mod log;
mod parallel;
mod parameters;
mod proof;
mod resolve;
mod time;
mod witness;
mod write;

pub use fault::{EntryFault, LogError};
pub use hosted::HostedLog;
pub use log::{Log, LogReading, LogVersion, MAX_LOG};
pub use parallel::{ParallelError, draft, parallel, with_web};
pub use parameters::{Active, Witnesses};
pub use resolve::behind;
pub use time::VersionTime;
pub use witness::MAX_WITNESS_FILE;
pub use write::{
    Approval, Next, ParameterChange, UnsignedEntry, WriteError, commitment, create, update,
};

#[cfg(test)]
mod tests;
