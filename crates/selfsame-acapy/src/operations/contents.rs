//! The table of contents, by what the operations are about.

pub mod connecting;
pub mod exchanging;
pub mod instance;
pub mod publishing;
