//! Connections 1.0 (RFC 0160): two agents tell each other a DID of their own, after an invitation.

mod messages;
mod signature;
mod state;
mod step;

pub use messages::{ConnectionInvitation, ConnectionMessage, ConnectionRequest, InvitedTo};
pub use signature::FieldSignature;
pub use state::next;
pub use step::{ConnectionAct, ConnectionInput, Invited, step};
