//! Message pickup 2.0 (RFC 0685): an agent without an address fetches its messages from a mediator.

mod messages;
mod state;
mod step;

pub use messages::{Delivered, PickupMessage, QueueStatus};
pub use state::PickupSession;
pub use step::{PickupAct, PickupInput, Queue, step};
