//! HTTP: protocol endpoints, the API, and the pages.
//!
//! Owns: sockets and TLS, routes, access control, limits, status codes, HTML. Does not own: the meaning of a
//! request; each handler parses, calls one use case of `selfsame-app`, and shows the answer.

mod api;
mod arrival;
mod assets;
mod audience;
mod auth;
mod cookie;
mod counters;
mod error;
mod extract;
mod guarded_body;
mod metrics;
mod middleware;
mod peer;
mod protocol;
mod pulse;
mod router;
mod serve;
mod server;
mod settings;
mod shares;
mod start;
mod stream;
mod supervision;
mod tls;
mod ui;

#[cfg(test)]
mod tests;

pub use audience::API_BODY_MAX;
pub use peer::{Proxies, ProxyError};
pub use settings::{Budget, Limits, NodePeer, Nodes, Origin, OriginError, Settings};
pub use start::serve;
pub use tls::{SelfMade, Tls, TlsError};
