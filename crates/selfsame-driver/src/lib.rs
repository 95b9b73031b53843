//! What every use case stands on: errors, clock, keys, records, pages of lists, private files and data directories.
//!
//! Owns: who must act on an error, the reading of time, sealed keys, the form of records, the names of the files beside
//! them. Does not own: what a role, a protocol or a registry does.

pub mod address;
mod bound;
mod boxed;
pub mod clock;
mod cpu_pool;
pub mod crowd;
pub mod data_directory;
mod error;
pub mod hsm;
pub mod keys;
pub mod lanes;
pub mod lines;
pub mod paging;
pub mod private_file;
mod reason;
pub mod record;
mod reported;
pub mod room;
mod short_lived;
pub mod turn;

pub use bound::Bound;
pub use boxed::BoxedWork;
pub use cpu_pool::CpuPool;
pub use error::{Error, ErrorKind, Result};
pub use reason::{Reason, Reasons, Value};
pub use reported::{Reported, WhoActs};
pub use short_lived::ShortLived;
