//! Identity systems: who knows people, checks that somebody is one of them, and gives their claims.
//!
//! Owns: the mock identity system, own accounts as one, what is kept of codes and attempts, and how codes are delivered.
//! Does not own: the seam (selfsame-sign-in), when a code is right (selfsame-otp), HTTP.

pub mod accounts;
pub mod blocks;
pub mod config;
pub mod links;
pub mod mask;
pub mod mock;
pub mod otp;
pub mod totp;
pub mod upstream;
