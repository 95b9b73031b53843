//! Reads the wallets of Askar, in SQLite and PostgreSQL, record by record, so that they can be imported.
//!
//! Owns: the format of such a wallet, from its address and its store key to opened records; a hash over each record,
//! with which an import is proven; what a wallet holds in numbers. Does not own: what a record means to the agent that
//! wrote it, and where it goes. It never writes: a file is opened for reading, and a database in a transaction that
//! only reads.
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

mod address;
mod cursor;
mod error;
mod expiry;
mod key_entry;
mod profile_key;
mod protection;
mod record;
mod sealed;
mod source;
mod summary;
mod tally;
mod wallet;

pub use address::WalletAddress;
pub use cursor::RecordCursor;
pub use error::{ItemPart, Unread, WalletError};
pub use expiry::Expiry;
pub use key_entry::{KeyEntry, KeyEntryError};
pub use profile_key::ProfileKey;
pub use protection::{Protection, StoreKey};
pub use record::{RecordKind, RecordTag, WalletRecord};
pub use summary::{ProfileSummary, Summary};
pub use tally::{RecordTally, record_hash};
pub use wallet::{RecordBatch, Wallet, WalletProfile};
