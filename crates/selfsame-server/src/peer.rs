//! Who is on the other end: an address, and the network of which it is one of many.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::HeaderMap;

/// Who is on the other end of the connection, or of that to a proxy of ours.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Peer(pub IpAddr);

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
        Some(Self(address.to_canonical()))
    }

    /// What it is counted as.
    pub fn network(self) -> Network {
        Network(match self.0 {
            IpAddr::V4(_) => self.0,
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
        })
    }

    /// The network whose share is bounded. None for this machine: whoever is on it, be it a proxy that names nobody,
    /// speaks for many.
    pub fn bounded(self) -> Option<Network> {
        (!self.0.is_loopback()).then(|| self.network())
    }
}

impl std::fmt::Display for Network {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<SocketAddr> for Peer {
    fn from(address: SocketAddr) -> Self {
        Self(address.ip().to_canonical())
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
            Peer::forwarded(&headers).map(|peer| peer.0.to_string())
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
        let network = |text: &str| Peer(text.parse().unwrap()).network();
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_ne!(network("203.0.113.7"), network("203.0.113.8"));
        assert_eq!(network("2001:db8:1:2::1").to_string(), "2001:db8:1:2::");
        assert_eq!(Peer([127, 0, 0, 1].into()).bounded(), None);
        assert!(Peer([203, 0, 113, 7].into()).bounded().is_some());
    }
}
