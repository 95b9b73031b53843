//! Settings of an instance's outbound calls.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use url::Origin;

use crate::message::CallLimits;

/// Settings of [`crate::Net`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// Exact origins (scheme, host, port) of the instance and its parts. Only these may use plain http and private
    /// addresses.
    pub own_origins: Vec<Origin>,
    /// Those of them that are sent the trace context of a call: the instance's own processes and its operator's. It tells
    /// which calls belong together.
    pub traced_origins: Vec<Origin>,
    /// Trusted TLS roots in addition to the system's, as DER certificates.
    pub extra_roots: Vec<Vec<u8>>,
    /// Whether the system's TLS roots are trusted.
    pub native_roots: bool,
    /// Addresses used in place of DNS. The guard checks them like any others.
    pub hosts: BTreeMap<String, Vec<IpAddr>>,
    /// Maximum time to connect to each address.
    pub connect_timeout: Duration,
    /// Default limits of a call.
    pub limits: CallLimits,
    /// Maximum number of redirects of a GET, even if it requests more.
    pub max_redirects: u8,
    /// Maximum number of calls in progress to one origin.
    pub max_in_flight: usize,
    /// Maximum number of calls waiting for one origin. Beyond it a call fails at once.
    pub max_waiting: usize,
    /// Maximum number of idle connections to one origin.
    pub max_idle: usize,
    /// How long a connection is kept idle.
    pub idle_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            own_origins: Vec::new(),
            traced_origins: Vec::new(),
            extra_roots: Vec::new(),
            native_roots: true,
            hosts: BTreeMap::new(),
            connect_timeout: Duration::from_secs(5),
            limits: CallLimits::default(),
            max_redirects: 3,
            max_in_flight: 64,
            max_waiting: 2_048,
            // As many as one process calls at once, where a call allows more than the default.
            max_idle: 1_024,
            // Shorter than common servers' timeouts, so that a call seldom meets a closing connection.
            idle_timeout: Duration::from_secs(15),
        }
    }
}
