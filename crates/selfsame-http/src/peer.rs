//! The peer of a connection: its address, and the network that it belongs to.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use selfsame_driver::crowd::counted_address;

/// The peer of the connection, or of the connection to one of our proxies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Peer {
    address: IpAddr,
    /// Whether it connects through a proxy.
    proxied: bool,
}

/// The unit of counting: an IPv4 address, or the /64 of an IPv6 address, since a single host may use all of a /64.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct AddressBlock(IpAddr);

impl Peer {
    /// The peer that this proxy asks for: the last address of `X-Forwarded-For`, which the proxy wrote itself, or the
    /// last one before those of our other proxies. Anyone can write what stands before it. Without such an address,
    /// the proxy itself.
    pub fn behind(self, headers: &HeaderMap, proxies: &Proxies) -> Self {
        let lines = headers.get_all("x-forwarded-for").iter().rev();
        let named = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
        let mut asking = self.address;
        for name in named {
            let Ok(address) = name.trim().parse::<IpAddr>() else {
                break;
            };
            asking = address.to_canonical();
            if !proxies.have(asking) {
                break;
            }
        }
        Self {
            address: asking,
            proxied: true,
        }
    }

    /// Whether it is one of these proxies.
    pub fn is_among(self, proxies: &Proxies) -> bool {
        proxies.have(self.address)
    }

    /// Whether it is on this machine and not asking through a proxy.
    pub fn is_here(self) -> bool {
        self.address.is_loopback() && !self.proxied
    }

    /// Its address.
    pub fn address(self) -> IpAddr {
        self.address
    }

    /// The network that it is counted as.
    pub fn network(self) -> AddressBlock {
        AddressBlock(counted_address(self.address))
    }

    /// The network whose share is limited. `None` for this machine: a peer on it, such as a proxy that names no
    /// client, speaks for many.
    pub fn bounded(self) -> Option<AddressBlock> {
        (!self.address.is_loopback()).then(|| self.network())
    }
}

/// Networks of proxies that are trusted to name their clients.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Proxies(Vec<Range>);

/// An address and its prefix length in bits (RFC 4632 §3.1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Range {
    address: IpAddr,
    bits: u32,
}

/// Why a text is not a network.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a network such as 10.0.0.0/8, 2001:db8::/32 or 192.0.2.1")]
pub struct ProxyError(String);

impl Proxies {
    /// Parses networks: an address, with a prefix length unless the whole address counts.
    ///
    /// # Errors
    /// If a text is not a network.
    pub fn parse<T: AsRef<str>>(networks: &[T]) -> Result<Self, ProxyError> {
        let ranges = networks.iter().map(|text| {
            let text = text.as_ref();
            Range::parse(text).ok_or_else(|| ProxyError(text.to_owned()))
        });
        ranges.collect::<Result<_, _>>().map(Self)
    }

    /// Whether an address is in one of them.
    pub fn have(&self, address: IpAddr) -> bool {
        self.0.iter().any(|range| range.has(address))
    }
}

impl Range {
    fn parse(text: &str) -> Option<Self> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits.parse::<u32>().ok()?)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok()?;
        let all = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(all);
        (bits <= all).then_some(Self { address, bits })
    }

    fn has(self, other: IpAddr) -> bool {
        let differ = match (self.address, other) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros()
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).leading_zeros()
            }
            _ => return false,
        };
        differ >= self.bits
    }
}

impl std::fmt::Display for AddressBlock {
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

    fn peer(text: &str) -> Peer {
        Peer::from(SocketAddr::new(text.parse().unwrap(), 1))
    }

    /// The client of a proxy at 10.0.0.9 that sends these header lines.
    fn behind(lines: &[&'static str], proxies: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("x-forwarded-for", http::HeaderValue::from_static(line));
        }
        let proxies = Proxies::parse(proxies).unwrap();
        let asking = peer("10.0.0.9").behind(&headers, &proxies);
        assert!(!asking.is_here());
        asking.address.to_string()
    }

    #[test]
    fn a_proxy_asks_for_the_last_address_that_it_names() {
        let named = "203.0.113.7";
        assert_eq!(behind(&["203.0.113.7"], &[]), named);
        assert_eq!(behind(&["10.0.0.1, ::ffff:203.0.113.7"], &[]), named);
        assert_eq!(behind(&["10.0.0.1", "10.0.0.2,203.0.113.7"], &[]), named);
        for nobody in [&[][..], &[""], &["unknown"], &["203.0.113.7, "]] {
            assert_eq!(behind(nobody, &[]), "10.0.0.9");
        }
    }

    #[test]
    fn proxies_of_ours_that_ask_each_other_are_passed_over_and_no_others() {
        let ours = ["10.0.0.0/24", "2001:db8::/32"];
        let through = |line| behind(&[line], &ours);
        assert_eq!(through("9.9.9.9, 203.0.113.7, 10.0.0.1"), "203.0.113.7");
        assert_eq!(through("203.0.113.7, 2001:db8::1, 10.0.0.1"), "203.0.113.7");
        assert_eq!(through("203.0.113.7, 10.0.1.1"), "10.0.1.1");
        assert_eq!(through("203.0.113.7, unknown, 10.0.0.1"), "10.0.0.1");
        assert_eq!(through("10.0.0.2, 10.0.0.1"), "10.0.0.2");
    }

    #[test]
    fn networks_are_written_as_prefixes_or_whole_addresses() {
        let has = |network: &str, address: &str| {
            let proxies = Proxies::parse(&[network]).unwrap();
            peer(address).is_among(&proxies)
        };
        assert!(has("10.0.0.0/8", "10.255.0.1") && !has("10.0.0.0/8", "11.0.0.1"));
        assert!(has("10.0.0.1", "10.0.0.1") && !has("10.0.0.1", "10.0.0.2"));
        assert!(has("0.0.0.0/0", "10.0.0.1") && !has("0.0.0.0/0", "::2"));
        assert!(has("2001:db8::/33", "2001:db8:7fff::1"));
        assert!(!has("2001:db8::/33", "2001:db8:8000::1"));
        for none in [
            "10.0.0.0/33",
            "::/129",
            "10.0.0/8",
            "",
            "proxy.example",
            "10.0.0.0/",
        ] {
            assert!(Proxies::parse(&[none]).is_err(), "{none}");
        }
    }

    #[test]
    fn addresses_that_one_host_may_change_at_will_are_one_network() {
        let network = |text: &str| peer(text).network();
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:ffff::9"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_ne!(network("203.0.113.7"), network("203.0.113.8"));
        assert_eq!(network("2001:db8:1:2::1").to_string(), "2001:db8:1:2::");
        assert_eq!(peer("127.0.0.1").bounded(), None);
        assert!(peer("203.0.113.7").bounded().is_some());
    }
}
