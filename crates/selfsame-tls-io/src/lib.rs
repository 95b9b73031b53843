//! `selfsame-tls` over sockets: handshakes with time-outs, evidence gathered concurrently, then a stream of bytes.
//!
//! Owns: when a connection is read and written, how much is buffered, how long a handshake may take, how an end is
//! distinguished from a cut.
//!
//! Does not own: sockets, which the caller passes in; what evidence is gathered and how, which is up to a [`Gather`];
//! the protocol and its policy, which belong to `selfsame-tls`.
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

pub mod blocking;
mod buffer;
mod error;
mod farewell;
mod gather;
mod handshake;
mod name;
mod relay;
mod room;
mod session;
mod settings;
mod stream;
mod watch;

pub use error::{Error, tls_error};
pub use gather::{Gather, GatherBlocking, Offline};
pub use handshake::{Acceptor, Connector};
pub use name::name_of;
pub use relay::{Carried, relay, relay_until};
pub use room::{Bounds, Full, Room, RoomPlace};
pub use settings::{HandshakeClock, HandshakeSettings, system_clock};
pub use stream::Stream;
pub use watch::{Lapse, Watch};

/// Compiles the examples of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/tls-library.md")]
struct Examples;
