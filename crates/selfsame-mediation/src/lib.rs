//! How messages reach the peers of Aries agents: directly, by an envelope that waits until they come, or through a
//! mediator.
//!
//! Owns: destinations and the envelopes for them, of both versions of DIDComm; the agents' keys, DIDs and the routes to
//! them; the making of a connection over DIDComm v2; what connections are given and what steps give; envelopes that
//! wait, and what becomes of deliveries; texts for people that came and went; which peers are connected to this
//! process; mediation for other agents, and pickup; what agents ask of a format of attachments that another crate
//! makes. Does not own: the rules of protocols (selfsame-aries), connections (selfsame-agent), sockets and listeners.

pub mod beside;
pub mod destination;
pub mod error;
pub mod given;
pub mod grants;
pub mod keys;
pub mod line;
pub mod local_dids;
pub mod mailbox;
mod mediated;
pub mod notice;
pub mod opening;
pub mod own_did;
pub mod own_side;
mod packing;
pub mod peers;
pub mod pickup;
mod presence;
pub mod public_did;
pub mod queue;
pub mod relation;
mod room;
pub mod speaker;
pub mod taken;
pub mod terms;
pub mod texts;
pub mod v2;
pub mod wishes;

mod mediation;

pub use mediation::Mediation;
