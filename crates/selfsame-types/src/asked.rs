//! What a verifier asks for, as data: a saved request and its file.

pub mod check;
pub mod definition;
pub mod file;
pub mod listed;
pub mod shown;
