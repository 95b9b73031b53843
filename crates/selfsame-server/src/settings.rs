//! The server's settings: its certificate, its second listener.

use selfsame_app::backup::Backups;
use selfsame_http::origin::Origin;
use selfsame_http::pulse::Pulse;
use selfsame_http::serve::further::FurtherListener;
use selfsame_http::tls::Tls;
use selfsame_vc_api::VcApiConfig;

use crate::nodes::Nodes;

pub use selfsame_http::limits::ServerLimits;

/// The server's settings, beside the application's own configuration.
#[derive(Default)]
pub struct ServerSettings {
    /// The certificate, if this server ends TLS.
    pub tls: Option<Tls>,
    /// A second listener, for nodes that authenticate with DIDs and credentials.
    pub nodes: Option<Nodes>,
    /// Further listeners, each with the addresses that it serves.
    pub further: Vec<FurtherListener>,
    /// A listener for health checks, on a thread of its own; the main listener serves the same checks.
    pub health: Option<std::net::TcpListener>,
    /// A listener for those who work for organisations; the main listener then serves nothing of theirs.
    pub admin: Option<AdminListener>,
    /// Whether to serve plain http to other machines.
    pub plain_anywhere: bool,
    /// All limits.
    pub limits: ServerLimits,
    /// Where backups of the instance are written, if the operator may request them.
    pub backups: Option<Backups>,
    /// Whether anyone may register DIDs at `/register`; otherwise only the operator.
    pub open_registration: bool,
    /// The settings of the W3C's API.
    pub vc_api: VcApiConfig,
    /// The heartbeats of the event loops.
    pub pulse: Pulse,
}

/// A listener for those who work for organisations, and for the metrics.
#[derive(Debug)]
pub struct AdminListener {
    /// The listener.
    pub listener: tokio::net::TcpListener,
    /// Where they call it.
    pub origin: Origin,
}
