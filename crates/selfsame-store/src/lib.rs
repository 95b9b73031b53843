//! Owns all stored data: encrypted records, their outbox and counters, and the ledger's storage. Does not own the
//! meaning of the values, the time when calls are executed, or the use of a counter's numbers.

pub mod backend;
mod batch;
mod error;
pub mod ledger;
mod looked;
mod memory;
mod meter;
pub mod offline;
mod outbox;
mod record;
pub mod rotation;
mod sqlite;
mod store;
mod tenant;
mod vault;

pub use backend::OutboxId;
pub use batch::{Batch, Committed};
pub use error::{Result, StoreError};
pub use memory::Memory;
pub use outbox::{DeadLetter, Leased, NewOutbox, OutboxEntry};
pub use record::{Expect, MAX_PAGE, Page, Put, Record, Tag};
pub use sqlite::Sqlite;
pub use store::{ClockFn, Store};
pub use tenant::TenantId;
pub use vault::Vault;
