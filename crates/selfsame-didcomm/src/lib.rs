//! Owns: DIDComm messages of v1 (Aries RFCs) and v2.1, with their threads, decorators and attachments; their envelopes,
//! and forwarding.
//! Does not own: what a message means, where keys are kept, how DIDs are resolved, and any kind of I/O.
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

mod encoding;
mod error;
pub mod forward;
pub mod keys;
pub mod media;
pub mod message;
mod receive;
pub mod service;
pub mod v1;
pub mod v2;

pub use error::{Error, Inconsistency};
pub use keys::KeyRing;
pub use message::{Attachment, Message, MessageType, Version};
pub use receive::{ArrivedEnvelope, Incoming, IncomingV1, receive, version};
