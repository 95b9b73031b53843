//! DID exchange 1.0 and 1.1 (RFC 0023): two agents tell each other a DID of their own, signed, after an invitation.

mod messages;
mod signed;
mod state;
mod step;

pub use messages::{DidExchangeMessage, DidRequest, DidResponse};
pub use state::next;
pub use step::{DidExchangeAct, DidExchangeInput, step};
