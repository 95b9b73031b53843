//! Trust ping 1.0 (RFC 0048): one agent asks whether the other is there.

mod messages;
mod state;
mod step;

pub use messages::{Ping, PingResponse, TrustPingMessage};
pub use state::{PingRecord, PingState};
pub use step::{PingInput, step};
