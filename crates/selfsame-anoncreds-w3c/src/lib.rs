//! AnonCreds in the form of W3C credentials and presentations (AnonCreds v1.0, "W3C Verifiable Credentials
//! Representation"), as the cryptosuite `anoncreds-2023` of the published library has it.
//!
//! Owns: the conversion of credentials and presentations, both ways; their proof values; the attachments of RFC 0809;
//! what a presentation definition asks of AnonCreds. Does not own: signatures and proofs, which a conversion leaves as they
//! are (selfsame-anoncreds), and any input, output or clock.
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

pub mod attachment;
pub mod credential;
mod document;
mod message_pack;
pub mod presentation;
mod primitive;
mod proof_value;
pub mod request;
mod shape;
pub mod subject;

pub use document::IssuedBy;
pub use selfsame_anoncreds::Error;
