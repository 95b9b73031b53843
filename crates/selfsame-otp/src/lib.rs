//! One-time passwords as state machines: codes that are sent to a person, and codes of authenticator apps.
//!
//! Owns: when a code is accepted, refused or replaced, and what counts towards which limit. Does not own: records,
//! delivery, whose code it is, and any input, output or clock.
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

mod allowance;
mod digits;
pub mod sent;
pub mod totp;

pub use allowance::{AllowanceLimits, OtpAllowance};

#[cfg(test)]
mod tests;
