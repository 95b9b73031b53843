//! The limits of connections, and of the requests that arrive on them.

use std::time::Duration;

use crate::peer::Proxies;

/// The largest form; also the limit of every body that is authenticated by a cookie.
pub const API_BODY_MAX: usize = 256 * 1024;

/// The limits of connections, and of the requests that arrive on them.
#[derive(Clone, Debug)]
pub struct ConnectionLimits {
    /// Open connections. Beyond the limit a few more are accepted for the process's supervisor; the rest are refused
    /// at once.
    pub open: usize,
    /// Open connections of one network, and also its requests under way.
    pub each: usize,
    /// Proxies that are trusted to name their clients, beside a proxy on this machine that ends TLS.
    pub proxies: Proxies,
    /// How long a connection may stay silent: before a request, within its head, or between requests.
    pub idle: Duration,
    /// How long a TLS handshake may take.
    pub handshake: Duration,
    /// How long the body of a request may take to arrive.
    pub body: Duration,
    /// Total bytes of all bodies held at one time.
    pub bodies: usize,
    /// How long a server that stops waits for open requests.
    pub stop: Duration,
}

/// How many requests of one audience run, how many more wait, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Running at one time.
    pub running: usize,
    /// Waiting for a running one to end; beyond it 429.
    pub waiting: usize,
    /// How long one waits before it is refused with 503.
    pub patience: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            open: 4096,
            each: 256,
            proxies: Proxies::default(),
            idle: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            body: Duration::from_secs(10),
            bodies: 64 << 20,
            stop: Duration::from_secs(10),
        }
    }
}
