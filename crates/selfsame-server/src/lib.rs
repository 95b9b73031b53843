//! HTTP: the API and the pages, and who may use which address.
//!
//! Owns: routes, access control, budgets of audiences. Does not own: connections, the arrival of requests and the
//! statuses of errors, which are of `selfsame-http`; protocol endpoints, which are of `selfsame-endpoints`; HTML, which
//! is of `selfsame-pages`; nor the meaning of a request: each handler parses, calls one use case of `selfsame-app`, and
//! shows the answer.

mod agent_host;
mod api;
mod assets;
mod audience;
mod audited;
mod auth;
mod door_host;
mod endpoint_host;
mod esignet_host;
mod extract;
mod here;
mod middleware;
mod nodes;
mod problem;
mod router;
mod server;
mod settings;
mod start;
mod supervision;
mod ui;

#[cfg(test)]
mod tests;

pub use nodes::Nodes;
pub use selfsame_http::limits::{Budget, ConnectionLimits};
pub use selfsame_http::origin::{Origin, OriginError};
pub use selfsame_http::peer::{Proxies, ProxyError};
pub use selfsame_http::pulse::Pulse;
pub use selfsame_http::serve::further::FurtherListener;
pub use selfsame_http::serve::nodes::NodePeer;
pub use selfsame_http::tls::{SelfMade, ShownEnd, Tls, TlsError, TlsHost};
pub use settings::{AdminListener, ServerLimits, ServerSettings};
pub use start::serve;

// What nearly every handler names.
use selfsame_http::{error, peer, stream};
