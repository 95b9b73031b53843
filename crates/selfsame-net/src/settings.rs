//! What an instance's outbound calls are allowed to do.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use url::Origin;

use crate::message::Limits;

/// Settings of [`crate::Net`].
#[derive(Clone, Debug)]
pub struct Settings {
    /// Exact origins (scheme, host, port) of the instance and its parts: these alone may be plain
    /// http and at private addresses.
    pub own_origins: Vec<Origin>,
    /// Further trusted TLS roots, as DER certificates, beside the system's.
    pub extra_roots: Vec<Vec<u8>>,
    /// Whether the system's TLS roots are trusted.
    pub native_roots: bool,
    /// Answers used in place of DNS; the guard judges them like any others.
    pub hosts: BTreeMap<String, Vec<IpAddr>>,
    /// Time to connect, for each address.
    pub connect_timeout: Duration,
    /// Limits of a call that sets none itself.
    pub limits: Limits,
    /// Most redirects of a GET, whatever it asks for.
    pub max_redirects: u8,
    /// Most calls under way to one origin.
    pub max_in_flight: usize,
    /// Most calls that wait for one of those; past it a call fails at once.
    pub max_waiting: usize,
    /// Idle connections kept for each origin.
    pub max_idle: usize,
    /// How long a connection is kept idle.
    pub idle_timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            own_origins: Vec::new(),
            extra_roots: Vec::new(),
            native_roots: true,
            hosts: BTreeMap::new(),
            connect_timeout: Duration::from_secs(5),
            limits: Limits::default(),
            max_redirects: 3,
            max_in_flight: 64,
            max_waiting: 2_048,
            max_idle: 64,
            // Shorter than what common servers keep, so that a call seldom meets a closing one.
            idle_timeout: Duration::from_secs(15),
        }
    }
}
