//! The state of a recipient's line to its mediator. It lives as long as the line: a new one begins without live
//! delivery (RFC 0685, "Live Mode").

use serde::{Deserialize, Serialize};

/// A line between recipient and mediator.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct PickupSession {
    /// Whether new messages are delivered at once.
    pub live_delivery: bool,
}
