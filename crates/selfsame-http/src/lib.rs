//! The HTTP server's kernel: connections, limits, the arrival of requests, errors.
//!
//! Owns: sockets and TLS, event loops, limits of connections, bodies, places and times, Host and Origin, the headers
//! for browsers, the parsing of requests, the mapping of errors to statuses, what a route is. Does not own: which
//! routes there are, who may use them, and what they answer; `selfsame-server` gives that as a router.

pub mod arrival;
pub mod cookie;
pub mod correction;
pub mod error;
pub mod extract;
pub mod form;
mod form_data;
pub mod guarded_body;
pub mod limits;
pub mod listing;
pub mod metrics;
pub mod middleware;
pub mod negotiation;
pub mod origin;
pub mod peer;
pub mod pulse;
pub mod redirect;
pub mod response;
pub mod route;
pub mod serve;
pub mod shares;
pub mod stream;
pub mod supervision;
pub mod tls;
