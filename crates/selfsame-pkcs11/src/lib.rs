//! Keys in a hardware security module, called by PKCS#11: it signs for the key store, and wraps the master key.
//!
//! Owns: the addresses of tokens and keys (RFC 7512), the loaded modules of this process, sessions with their threads,
//! what a module's answers mean to an operator, the form of a wrapped master key. Does not own: which key is for what,
//! and where a wrapped key is kept. No private key leaves a token, and no PIN leaves this crate.
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

mod failed;
mod figures;
mod key_pair;
mod module;
mod pin;
mod pool;
mod session;
mod token;
mod uri;
mod wrapped;

pub use pool::{HsmPool, SESSIONS_MAX};
pub use session::TokenKey;
pub use token::{Token, TokenState};
pub use uri::{KeyQuery, TokenQuery, TokenUri};
pub use wrapped::WrappedKey;
