//! Owns an instance's records in PostgreSQL: a back end of the store that several processes share. Does not own what is
//! sealed in the rows, nor which process executes which call.

mod address;
mod backend;
mod census;
mod checking;
mod commit;
mod copying;
mod failure;
mod figures;
mod group;
mod guard;
mod hosts;
mod layout;
mod moving;
mod parameters;
mod pool;
mod process;
mod reach;
mod readers;
mod restoring;
mod rows;
mod schema;
mod script;
mod sequence;
mod sums;
mod sweep;
mod writer;

pub use address::Address;
pub use backend::{Company, Postgres};
pub use census::RowCount;
pub use checking::ClosedDatabase;
pub use moving::tenant_rows;
pub use pool::pool;
pub use restoring::{RestoreError, restore};
