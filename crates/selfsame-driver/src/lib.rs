//! What every use case stands on: errors, clock, keys, records, pages of lists and private files.
//!
//! Owns: who must act on an error, the reading of time, sealed keys, the form of records. Does not own: what a role, a
//! protocol or a registry does.

mod bound;
pub mod clock;
mod cpu_pool;
mod error;
pub mod keys;
pub mod paging;
pub mod private_file;
pub mod record;
pub mod room;

pub use bound::Bound;
pub use cpu_pool::CpuPool;
pub use error::{Error, ErrorKind, Result};
