//! Which proven credentials a new one needs: the condition, its checks, the path to a credential, what fills the form.
//!
//! Owns: the declaration, when it is wrong or met, and the query for it. Does not own: records, the verification of what
//! a wallet shows, offers, sentences for people, and any input, output or clock.
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

pub mod check;
mod day;
pub mod document;
pub mod fill;
pub mod judge;
mod model;
pub mod path;
pub mod query;
mod span;

pub use day::Day;
pub use model::{ClaimOf, Condition, Fill, Helper, KnownClaim, Prerequisite, Prerequisites};

#[cfg(test)]
mod tests;
