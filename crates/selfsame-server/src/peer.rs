//! Who is on the other end: an address, and the network of which it is one of many.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::HeaderMap;

/// Who is on the other end of the connection, or of that to a proxy of ours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Peer {
    address: IpAddr,
    /// Whether it asks by a proxy.
    proxied: bool,
}

/// What is counted as one: an IPv4 address, or the /64 of an IPv6 address, of which a single host may use all.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Network(IpAddr);

impl Peer {
    /// For whom a proxy asks: the last address of `X-Forwarded-For`, which it has written itself. Those before it
    /// anybody can write.
    pub fn forwarded(headers: &HeaderMap) -> Option<Self> {
        let last = headers.get_all("x-forwarded-for").iter().next_back()?;
        let address: IpAddr = last
            .to_str()
            .ok()?
            .rsplit(',')
            .next()?
            .trim()
            .parse()
            .ok()?;
        Some(Self {
            address: address.to_canonical(),
            proxied: true,
        })
    }

    /// For whom this proxy asks; if it names nobody, it is itself.
    pub fn behind(self, headers: &HeaderMap) -> Self {
        Self::forwarded(headers).unwrap_or(Self {
            proxied: true,
            ..self
        })
    }

    /// Whether it is on this machine, and asks for itself.
    pub fn is_here(self) -> bool {
        self.address.is_loopback() && !self.proxied
    }

    /// What it is counted as.
    pub fn network(self) -> Network {
        Network(match self.address {
            IpAddr::V4(_) => self.address,
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
        })
    }

    /// The network whose share is bounded. None for this machine: whoever is on it, be it a proxy that names nobody,
    /// speaks for many.
    pub fn bounded(self) -> Option<Network> {
        (!self.address.is_loopback()).then(|| self.network())
    }
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<SocketAddr> for Peer {
    fn from(address: SocketAddr) -> Self {
        Self {
            address: address.ip().to_canonical(),
            proxied: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_asks_for_the_last_address_that_it_names() {
        let peer = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("x-forwarded-for", http::HeaderValue::from_static(line));
            }
            Peer::forwarded(&headers).map(|peer| peer.address.to_string())
        };
        let named = Some("203.0.113.7".to_owned());
        assert_eq!(peer(&["203.0.113.7"]), named);
        assert_eq!(peer(&["10.0.0.1, ::ffff:203.0.113.7"]), named);
        assert_eq!(peer(&["10.0.0.1", "10.0.0.2,203.0.113.7"]), named);
        for nobody in [&[][..], &[""], &["unknown"], &["203.0.113.7, "]] {
            assert_eq!(peer(nobody), None);
        }
    }

    #[test]
    fn addresses_that_one_host_may_change_at_will_are_one_network() {
        let peer = |text: &str| Peer::from(SocketAddr::new(text.parse().unwrap(), 1));
        let network = |text: &str| peer(text).network();
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_ne!(network("203.0.113.7"), network("203.0.113.8"));
        assert_eq!(network("2001:db8:1:2::1").to_string(), "2001:db8:1:2::");
        assert_eq!(peer("127.0.0.1").bounded(), None);
        assert!(peer("203.0.113.7").bounded().is_some());
    }
}
