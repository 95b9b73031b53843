//! DID rotate 1.0 (RFC 0794): one side of a connection changes its DID, or ends the connection.

mod messages;
mod state;
mod step;

pub use messages::RotateMessage;
pub use state::{RotateKind, RotateRole, RotateState, RotationRecord, next};
pub use step::{RotateAct, RotateInput, RotateRefusal, step};
