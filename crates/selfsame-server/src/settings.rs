//! The server's settings: its certificate, its second listener, its limits.

use std::time::Duration;

use selfsame_app::backup::Backups;
use selfsame_http::limits::{Budget, ConnectionLimits};
use selfsame_http::serve::further::FurtherListener;
use selfsame_http::tls::Tls;

use crate::nodes::Nodes;

/// The server's settings, beside the application's own configuration.
#[derive(Debug, Default)]
pub struct ServerSettings {
    /// The certificate, if this server ends TLS.
    pub tls: Option<Tls>,
    /// A second listener, for nodes that authenticate with DIDs and credentials.
    pub nodes: Option<Nodes>,
    /// Further listeners, each with the addresses that it serves.
    pub further: Vec<FurtherListener>,
    /// A listener for health checks, on a thread of its own; the main listener serves the same checks.
    pub health: Option<std::net::TcpListener>,
    /// Whether to serve plain http to other machines.
    pub plain_anywhere: bool,
    /// All limits.
    pub limits: ServerLimits,
    /// Where backups of the instance are written, if the operator may request them.
    pub backups: Option<Backups>,
    /// Whether anyone may register DIDs at `/register`; otherwise only the operator.
    pub open_registration: bool,
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
    /// Requests that wait for other hosts: this many of people with an account, as many of the public, and as many
    /// credential requests. Requests that wait behind them are counted per account, network or access token.
    pub abroad: Budget,
    /// Maximum number of these that one account, network or access token may have under way.
    pub abroad_each: usize,
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
            abroad: Budget {
                running: 32,
                waiting: 1024,
                patience,
            },
            abroad_each: 4,
        }
    }
}
