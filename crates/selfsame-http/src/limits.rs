//! The limits of a server: of connections, of the requests that arrive on them, and of what each audience may ask.

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

/// All limits of the server.
#[derive(Clone, Debug)]
pub struct ServerLimits {
    /// Connections, and the requests that arrive on them.
    pub connections: ConnectionLimits,
    /// How long one request may take after it has arrived.
    pub request: Duration,
    /// Open event streams: this many for the public, and as many for the operator.
    pub streams: usize,
    /// Event streams of one network.
    pub streams_each: usize,
    /// Wallets that one network may make in an hour.
    pub registrations_each: usize,
    /// Requests that visitors from one network may open by links in ten minutes.
    pub visits_each: usize,
    /// Requests of people to their wallets.
    pub people: Budget,
    /// Requests of other wallets, issuers and verifiers.
    pub protocol: Budget,
    /// Requests of the operator.
    pub operator: Budget,
    /// Public reads.
    pub public: Budget,
    /// Status lists, for verifiers. They have their own limit, so that no other request can delay them.
    pub lists: Budget,
    /// The registry's reads, for anyone who verifies it.
    pub registry: Budget,
    /// Responses of other people's wallets, which wait for the hosts of their issuers.
    pub answers: Budget,
    /// Maximum number of these that one network may have under way.
    pub answers_each: usize,
    /// Calls of sign-ins, most of which wait for an identity system.
    pub sign_ins: Budget,
    /// Requests that wait for other hosts: this many of people with an account, as many of the public, and as many
    /// credential requests. Requests that wait behind them are counted per account, network or access token.
    pub abroad: Budget,
    /// Maximum number of these that one account, network or access token may have under way.
    pub abroad_each: usize,
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

impl Default for ServerLimits {
    fn default() -> Self {
        let patience = Duration::from_secs(20);
        Self {
            connections: ConnectionLimits::default(),
            request: Duration::from_secs(29),
            streams: 512,
            streams_each: 64,
            registrations_each: 60,
            visits_each: 600,
            people: Budget {
                running: 64,
                waiting: 2048,
                patience,
            },
            protocol: Budget {
                running: 256,
                waiting: 2048,
                patience,
            },
            operator: Budget {
                running: 64,
                waiting: 2048,
                patience,
            },
            public: Budget {
                running: 128,
                waiting: 1024,
                patience,
            },
            lists: Budget {
                running: 64,
                waiting: 1024,
                patience,
            },
            registry: Budget {
                running: 128,
                waiting: 1024,
                patience,
            },
            answers: Budget {
                running: 64,
                waiting: 2048,
                patience,
            },
            answers_each: 8,
            sign_ins: Budget {
                running: 2048,
                waiting: 8192,
                patience,
            },
            abroad: Budget {
                running: 32,
                waiting: 1024,
                patience,
            },
            abroad_each: 4,
        }
    }
}
