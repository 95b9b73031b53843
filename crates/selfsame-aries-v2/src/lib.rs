//! The protocols of an Aries agent as DIDComm v2 writes them.
//!
//! Owns: the table of protocols in both forms and how a message of the one is written as the other; invitations of
//! out-of-band 2.0. Does not own: what a protocol does (selfsame-aries), envelopes and the form of a message
//! (selfsame-didcomm), how a connection is made, keys and deliveries (selfsame-mediation).
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

pub mod forms;
pub mod invitation;
