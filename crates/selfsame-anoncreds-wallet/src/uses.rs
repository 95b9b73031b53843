//! Uses and revocations of credentials by their handles, as records.

mod machine;
mod record;
mod shown;

pub(crate) use machine::Uses;
pub use record::UsedUp;
pub(crate) use record::{USE, UseProgress, UseRecord};
pub(crate) use shown::{ShownHandle, shown};
