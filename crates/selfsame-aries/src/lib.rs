//! The protocols of an Aries agent, each as a pure machine.
//!
//! Owns: the messages, records and steps of each protocol, one folder a protocol; [`protocol::PROTOCOLS`], the table
//! that names them; attachments with credentials and proofs as opaque bytes with a format.
//! Does not own: envelopes and the form of a message (selfsame-didcomm), the cryptography of credentials
//! (selfsame-anoncreds), and what an agent adds: records, keys, packing, delivery, webhooks.
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

pub mod advance;
pub mod basic_message;
pub mod connection;
pub mod connections;
pub mod coordinate_mediation;
pub mod dialogue;
pub mod did_exchange;
pub mod did_rotate;
pub mod discover_features;
pub mod exchange;
pub mod formats;
pub mod issue_credential;
pub mod key;
pub mod message_pickup;
pub mod notification;
pub mod out_of_band;
pub mod peer_document;
pub mod present_proof;
pub mod protocol;
pub mod revocation_notification;
pub mod trust_ping;
pub mod wire;
