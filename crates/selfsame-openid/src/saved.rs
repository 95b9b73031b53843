//! Saved requests: what a verifier asks for, as data. Everything here is pure.
//!
//! Owns: the file of a saved request, its checks, the DCQL query made from it, and what it would show a holder. Does not
//! own: where saved requests are stored, and how one is opened.

pub mod check;
pub mod compile;
pub mod preview;
pub mod shown;

pub use selfsame_types::asked::{definition, file};

#[cfg(test)]
mod tests;
