//! What a verifier asks for, as data. Everything here is pure.
//!
//! Owns: the checks of a definition, the DCQL query made from it, and what it would show a holder. Does not own: where
//! definitions are stored, and how a request is opened.

pub mod check;
pub mod compile;
pub mod preview;
pub mod shown;

pub use selfsame_types::asked::{definition, file};

#[cfg(test)]
mod tests;
