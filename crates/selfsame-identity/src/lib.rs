//! Identity systems: who knows people, checks that somebody is one of them, and gives their claims.
//!
//! Owns: the mock identity system, own accounts and credentials of wallets as such systems, what is kept of codes and
//! attempts, and how codes are delivered. Does not own: the seam (selfsame-sign-in), when a code is right (selfsame-otp),
//! how a presentation is verified (its `PresentationDesk`), HTTP.

pub mod accounts;
pub mod blocks;
pub mod config;
pub mod joined;
pub mod links;
pub mod mask;
pub mod mock;
pub mod otp;
pub mod presentation;
pub mod totp;
pub mod upstream;
