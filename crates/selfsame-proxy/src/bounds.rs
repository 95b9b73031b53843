//! How many connections and handshakes a proxy has, and how long they last.

use std::time::Duration;

use selfsame_tls_io::{Bounds, Room};

/// The limits of a proxy.
#[derive(Clone, Debug)]
pub struct ProxyBounds {
    /// Maximum number of connections.
    pub connections: usize,
    /// Maximum number of connections from one address; a quarter of all if it is not set.
    pub per_address: Option<usize>,
    /// Maximum number of handshakes in progress.
    pub handshakes: usize,
    /// How long a connection may be without traffic.
    pub idle: Duration,
    /// How long connecting to the other end may take.
    pub dial: Duration,
    /// How long connections may continue after the proxy was told to stop.
    pub grace: Duration,
}

impl ProxyBounds {
    /// The limits for unfinished handshakes; one address has the same share of them as of connections.
    #[must_use]
    pub fn under_way(&self) -> Bounds {
        let share = self.handshakes.saturating_mul(self.share());
        Bounds {
            handshakes: self.handshakes,
            share: share.div_ceil(self.connections.max(1)),
            ..Bounds::default()
        }
    }

    /// The limits for connections. Plain ones come from this machine, so they have no limit per address.
    pub(crate) fn room(&self, is_inward: bool) -> Room {
        let share = if is_inward {
            self.share()
        } else {
            self.connections
        };
        Room::new(self.connections, share)
    }

    /// Maximum number of connections of one address.
    fn share(&self) -> usize {
        let share = self.per_address.unwrap_or(self.connections.div_ceil(4));
        share.clamp(1, self.connections)
    }
}
