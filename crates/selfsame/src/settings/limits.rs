//! `[limits]`: limits for all clients together, and for one address.

use selfsame_server::{ConnectionLimits, Proxies, ServerLimits};
use selfsame_terminal::exit::Failure;
use serde::Deserialize;

/// The server's limits that can be set.
#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    connections: usize,
    connections_per_address: usize,
    streams: usize,
    streams_per_address: usize,
    registrations_per_address: usize,
    trusted_proxies: Vec<String>,
}

impl Default for LimitSettings {
    fn default() -> Self {
        let limits = ServerLimits::default();
        Self {
            connections: limits.connections.open,
            connections_per_address: limits.connections.each,
            streams: limits.streams,
            streams_per_address: limits.streams_each,
            registrations_per_address: limits.registrations_each,
            trusted_proxies: Vec::new(),
        }
    }
}

impl LimitSettings {
    /// Maximum number of connections: a process can't have more file descriptors.
    const MOST: usize = 1 << 20;

    /// The server's limits.
    ///
    /// # Errors
    /// If a limit would admit no one, or a proxy is not a network.
    pub fn limits(&self) -> Result<ServerLimits, Failure> {
        for (name, value) in [
            ("connections", self.connections),
            ("connections_per_address", self.connections_per_address),
            ("streams", self.streams),
            ("streams_per_address", self.streams_per_address),
            ("registrations_per_address", self.registrations_per_address),
        ] {
            if !(1..=Self::MOST).contains(&value) {
                let hint = format!("from 1 to {}", Self::MOST);
                return Err(Failure::environment(format!("[limits] {name}: {value}")).hint(hint));
            }
        }
        let proxies = Proxies::parse(&self.trusted_proxies)
            .map_err(|wrong| Failure::environment(format!("[limits] trusted_proxies: {wrong}")))?;
        Ok(ServerLimits {
            connections: ConnectionLimits {
                open: self.connections,
                each: self.connections_per_address,
                proxies,
                ..ConnectionLimits::default()
            },
            streams: self.streams,
            streams_each: self.streams_per_address,
            registrations_each: self.registrations_per_address,
            ..ServerLimits::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(text: &str) -> Result<ServerLimits, Failure> {
        toml::from_str::<LimitSettings>(text).unwrap().limits()
    }

    #[test]
    fn limits_are_those_that_are_set_and_else_the_servers_own() {
        let set = limits("connections_per_address = 9\ntrusted_proxies = [\"10.0.0.0/8\"]\n");
        let set = set.unwrap();
        assert_eq!(set.connections.each, 9);
        assert_eq!(
            set.connections.proxies,
            Proxies::parse(&["10.0.0.0/8"]).unwrap()
        );
        assert_eq!(
            set.connections.open,
            ServerLimits::default().connections.open
        );
    }

    #[test]
    fn limits_that_let_no_request_in_and_proxies_that_are_no_network_are_refused() {
        for text in [
            "connections = 0\n",
            "streams_per_address = 0\n",
            "trusted_proxies = [\"proxy.example\"]\n",
        ] {
            let refused = limits(text).err().unwrap();
            assert_eq!(refused.code(), 2, "{text}");
            assert!(refused.message().contains("[limits] "), "{text}");
        }
    }
}
