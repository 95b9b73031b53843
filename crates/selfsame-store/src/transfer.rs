//! Rows as they go from one back end to another: still sealed, so nobody needs the tenants' keys.

use selfsame_crypto::time::UnixTime;

use crate::backend::{Place, SealedEntry, StoredEvent};
use crate::tenant::TenantId;

pub use crate::sqlite::transfer::NewFile;

/// One row.
#[derive(Clone, Debug)]
pub enum StoredRow {
    /// A record, expired or not.
    Record {
        /// The key of the record.
        place: Place,
        /// The sequence number, in order of insertion.
        seq: u64,
        /// The version. The sealed value is bound to it.
        version: u64,
        /// The time from which it reads as absent.
        expires: Option<UnixTime>,
        /// The tag keys, joined by [`crate::frame::join`].
        tags: Vec<u8>,
        /// The sealed value.
        value: Vec<u8>,
    },
    /// A counter.
    Counter {
        /// The tenant.
        tenant: TenantId,
        /// The counter's name.
        counter: String,
        /// The next number that may be handed out.
        next: u64,
    },
    /// An entry of the outbox, or a dead letter.
    Entry {
        /// The entry.
        entry: SealedEntry,
        /// The sequence number within its lane, or among the dead letters.
        seq: u64,
        /// When and why it was given up.
        buried: Option<Burial>,
    },
    /// An event.
    Event(StoredEvent),
}

/// When and why a call was given up.
#[derive(Clone, Debug)]
pub struct Burial {
    /// When.
    pub at: UnixTime,
    /// Why.
    pub reason: String,
}
