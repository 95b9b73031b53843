//! Decides which URLs and addresses this instance calls (protection against server-side request forgery).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Origin, Url};

/// Maximum length of a URL, in bytes.
pub const MAX_URL_BYTES: usize = 8 * 1024;

/// What names end with that mean this machine (RFC 6761 §6.3).
pub const BELOW_LOCALHOST: &str = ".localhost";

/// Why an address is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum GuardRefusal {
    /// Neither https nor an own origin with http.
    #[error("only https is called")]
    Scheme,
    /// The URL contains a user name or password.
    #[error("the URL carries a user name or password")]
    UserInfo,
    /// The URL has no host.
    #[error("the URL has no host")]
    Host,
    /// The host name is local by definition.
    #[error("the host's name is a local one")]
    LocalName,
    /// The port belongs to another kind of service.
    #[error("the port belongs to another kind of service")]
    Port,
    /// The URL is too long.
    #[error("the URL is too long")]
    TooLong,
    /// The host is, or resolves to, a non-public address.
    #[error("the host's address is not a public one")]
    Address,
    /// A redirect leads from another origin to one of the instance's own.
    #[error("a redirect leads inward")]
    Inward,
}

/// How a URL may be called.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reach {
    /// One of the instance's own origins: any address, http too.
    Own,
    /// A name that may be another one of the instance: https at the port of one of its own origins, to public addresses
    /// and to that origin's. Whether it is, the certificate tells.
    Beside,
    /// Any other origin: https to public addresses.
    Public,
}

/// Checks a URL before its name is resolved.
pub fn check_url(url: &Url, own_origins: &[Origin]) -> Result<Reach, GuardRefusal> {
    if url.as_str().len() > MAX_URL_BYTES {
        return Err(GuardRefusal::TooLong);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(GuardRefusal::UserInfo);
    }
    if is_web(url) && own_origins.iter().any(|own| is_own(own, url)) {
        return Ok(Reach::Own);
    }
    if url.scheme() != "https" {
        return Err(GuardRefusal::Scheme);
    }
    if !is_allowed_port(url.port()) {
        return Err(GuardRefusal::Port);
    }
    match url.host().ok_or(GuardRefusal::Host)? {
        Host::Domain(name) if is_local_name(name) => Err(GuardRefusal::LocalName),
        Host::Domain(_) if own_origins.iter().any(|own| is_beside(own, url)) => Ok(Reach::Beside),
        Host::Domain(_) => Ok(Reach::Public),
        Host::Ipv4(address) if is_public_v4(address) => Ok(Reach::Public),
        Host::Ipv6(address) if is_public_v6(address) => Ok(Reach::Public),
        Host::Ipv4(_) | Host::Ipv6(_) => Err(GuardRefusal::Address),
    }
}

/// Checks the target of a redirect like a first URL. In addition, an own origin or its address may be reached only from an
/// own origin.
pub fn check_hop(from: Reach, to: &Url, own_origins: &[Origin]) -> Result<Reach, GuardRefusal> {
    match (from, check_url(to, own_origins)?) {
        (Reach::Own, reach) => Ok(reach),
        (_, Reach::Own) => Err(GuardRefusal::Inward),
        (_, Reach::Beside | Reach::Public) => Ok(Reach::Public),
    }
}

/// Whether a URL has this own origin, or is a name below `.localhost` at its scheme and port: such names mean this machine
/// (RFC 6761 §6.3), and the port is this instance's.
pub fn is_own(own: &Origin, url: &Url) -> bool {
    let there = url.origin();
    let (Origin::Tuple(scheme, host, port), Origin::Tuple(its_scheme, its_host, its_port)) =
        (own, &there)
    else {
        return false;
    };
    let is_same = host == its_host || is_loopback(host) && is_below_localhost(its_host);
    is_same && (scheme, port) == (its_scheme, its_port)
}

/// The URL without TLS, if that has one of these own origins: an instance on loopback without TLS still fetches its own
/// documents, whose addresses are always those of TLS.
pub fn plain_if_own(plain: &[Url], url: &Url) -> Url {
    let mut without = url.clone();
    let own = without.set_scheme("http").is_ok()
        && without.set_port(url.port()).is_ok()
        && plain
            .iter()
            .any(|origin| is_own(&origin.origin(), &without));
    if own { without } else { url.clone() }
}

fn is_beside(own: &Origin, url: &Url) -> bool {
    matches!(own, Origin::Tuple(scheme, _, port) if scheme == "https" && url.port_or_known_default() == Some(*port))
}

fn is_loopback(host: &Host<String>) -> bool {
    match host {
        Host::Domain(name) => name == "localhost" || name.ends_with(BELOW_LOCALHOST),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

fn is_below_localhost(host: &Host<String>) -> bool {
    matches!(host, Host::Domain(name) if name.ends_with(BELOW_LOCALHOST))
}

/// Whether an address is reachable from the whole Internet.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_web(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// 443, or a port outside the range of system services.
fn is_allowed_port(port: Option<u16>) -> bool {
    port.is_none_or(|port| port == 443 || port >= 1024)
}

/// Names that never lead to a public host (RFC 6761, RFC 6762, RFC 8375, RFC 9476, RFC 7686).
fn is_local_name(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    let last = name.rsplit('.').next().unwrap_or_default();
    name.is_empty()
        || matches!(last, "localhost" | "local" | "internal" | "alt" | "onion")
        || name == "home.arpa"
        || name.ends_with(".home.arpa")
}

/// All ranges in the IANA registry of special-purpose addresses that are not globally reachable.
const NOT_PUBLIC_V4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),       // this network
    (Ipv4Addr::new(10, 0, 0, 0), 8),      // private
    (Ipv4Addr::new(100, 64, 0, 0), 10),   // carrier-grade NAT
    (Ipv4Addr::new(127, 0, 0, 0), 8),     // loopback
    (Ipv4Addr::new(169, 254, 0, 0), 16),  // link-local, cloud metadata
    (Ipv4Addr::new(172, 16, 0, 0), 12),   // private
    (Ipv4Addr::new(192, 0, 0, 0), 24),    // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),    // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24),  // 6to4 relays, deprecated
    (Ipv4Addr::new(192, 168, 0, 0), 16),  // private
    (Ipv4Addr::new(198, 18, 0, 0), 15),   // benchmarking
    (Ipv4Addr::new(198, 51, 100, 0), 24), // documentation
    (Ipv4Addr::new(203, 0, 113, 0), 24),  // documentation
    (Ipv4Addr::new(224, 0, 0, 0), 4),     // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4),     // reserved, broadcast
];

/// Non-public ranges within 2000::/3. Addresses outside of this block are refused, which includes loopback, IPv4-mapped
/// and -compatible addresses, NAT64, discard, unique local, link-local and multicast.
const NOT_PUBLIC_V6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // protocol assignments, Teredo, ORCHID
    (Ipv6Addr::new(0x2001, 0x0db8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4: an IPv4 address inside
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !NOT_PUBLIC_V4.iter().any(|(network, length)| {
        let shift = 32u32.saturating_sub(*length);
        bits.checked_shr(shift) == network.to_bits().checked_shr(shift)
    })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, ..] = address.segments();
    first & 0xe000 == 0x2000
        && !is_isatap(address)
        && !NOT_PUBLIC_V6.iter().any(|(network, length)| {
            let shift = 128u32.saturating_sub(*length);
            address.to_bits().checked_shr(shift) == network.to_bits().checked_shr(shift)
        })
}

/// RFC 5214 §6.1: an IPv4 address after the interface identifier `[02]00:5efe`.
fn is_isatap(address: Ipv6Addr) -> bool {
    let [_, _, _, _, high, low, _, _] = address.segments();
    low == 0x5efe && high & 0xfdff == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str) -> Result<Reach, GuardRefusal> {
        let own = [Url::parse("http://127.0.0.1:7380/").unwrap().origin()];
        check_url(&Url::parse(url).unwrap(), &own)
    }

    #[test]
    fn public_https_is_called() {
        for url in [
            "https://issuer.example/x?y#z",
            "https://issuer.example:8443/",
            "https://93.184.215.14/",
            "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/",
            "https://localhost.example/",
        ] {
            assert_eq!(check(url), Ok(Reach::Public), "{url}");
        }
    }

    #[test]
    fn plain_http_is_for_the_exact_own_origin() {
        assert_eq!(check("http://127.0.0.1:7380/a"), Ok(Reach::Own));
        assert_eq!(check("http://127.0.0.1:7381/a"), Err(GuardRefusal::Scheme));
        assert_eq!(check("http://localhost:7380/a"), Err(GuardRefusal::Scheme));
        assert_eq!(check("http://issuer.example/"), Err(GuardRefusal::Scheme));
        assert_eq!(check("https://127.0.0.1:7380/"), Err(GuardRefusal::Address));
        assert_eq!(check("file:///etc/passwd"), Err(GuardRefusal::Scheme));
        assert_eq!(check("ftp://issuer.example/"), Err(GuardRefusal::Scheme));
    }

    #[test]
    fn an_own_origin_in_another_spelling_is_the_same_address_or_none() {
        // The URL parser normalises these to 127.0.0.1, so they are the own origin.
        assert_eq!(check("http://2130706433:7380/"), Ok(Reach::Own));
        assert_eq!(
            check("http://127.0.0.1:7380@evil.example/"),
            Err(GuardRefusal::UserInfo)
        );
        assert_eq!(
            check("http://u:p@127.0.0.1:7380/"),
            Err(GuardRefusal::UserInfo)
        );
    }

    #[test]
    fn literal_addresses_that_are_not_public_are_refused_in_every_spelling() {
        for host in [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "0x7f.0.0.1",
            "0",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "198.19.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "[::]",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:8.8.8.8]",
            "[::ffff:0:127.0.0.1]",
            "[::127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[64:ff9b::808:808]",
            "[64:ff9b:1::1]",
            "[100::1]",
            "[2001::1]",
            "[2001:db8::1]",
            "[2002:7f00:1::1]",
            "[2002:808:808::1]",
            "[3fff::1]",
            "[fc00::1]",
            "[fd12:3456::1]",
            "[fe80::1]",
            "[fec0::1]",
            "[ff02::1]",
            "[2606:2800:21f:cb07:0:5efe:a00:1]",
            "[2606:2800:21f:cb07:200:5efe:a00:1]",
        ] {
            assert_eq!(
                check(&format!("https://{host}/")),
                Err(GuardRefusal::Address),
                "{host}"
            );
        }
    }

    #[test]
    fn a_redirect_from_outside_never_leads_to_an_own_origin() {
        let own = [Url::parse("http://127.0.0.1:7380/").unwrap().origin()];
        let inward = Url::parse("http://127.0.0.1:7380/api").unwrap();
        let outward = Url::parse("https://issuer.example/").unwrap();
        assert_eq!(
            check_hop(Reach::Public, &inward, &own),
            Err(GuardRefusal::Inward)
        );
        assert_eq!(check_hop(Reach::Own, &inward, &own), Ok(Reach::Own));
        assert_eq!(check_hop(Reach::Own, &outward, &own), Ok(Reach::Public));
        assert_eq!(check_hop(Reach::Public, &outward, &own), Ok(Reach::Public));
    }

    #[test]
    fn a_name_below_localhost_at_an_own_port_is_an_own_origin() {
        assert_eq!(check("http://id.clinic.localhost:7380/a"), Ok(Reach::Own));
        for (url, refusal) in [
            ("http://id.clinic.localhost:7381/", GuardRefusal::Scheme),
            ("https://id.clinic.localhost:7380/", GuardRefusal::LocalName),
            ("http://localhost:7380/", GuardRefusal::Scheme),
        ] {
            assert_eq!(check(url), Err(refusal), "{url}");
        }
        let public = [Url::parse("https://id.example/").unwrap().origin()];
        let url = Url::parse("https://id.clinic.localhost/").unwrap();
        assert_eq!(check_url(&url, &public), Err(GuardRefusal::LocalName));
    }

    #[test]
    fn a_name_at_the_port_of_an_own_origin_may_have_its_address_unless_a_redirect_leads_there() {
        let own = [Url::parse("https://id.example/").unwrap().origin()];
        let check = |url: &str| check_url(&Url::parse(url).unwrap(), &own);
        assert_eq!(check("https://id.clinic.example/"), Ok(Reach::Beside));
        assert_eq!(check("https://id.clinic.example:8443/"), Ok(Reach::Public));
        assert_eq!(
            check("http://id.clinic.example/"),
            Err(GuardRefusal::Scheme)
        );
        assert_eq!(check("https://10.0.0.1/"), Err(GuardRefusal::Address));
        let clinic = Url::parse("https://id.clinic.example/").unwrap();
        for (from, reach) in [
            (Reach::Own, Reach::Beside),
            (Reach::Beside, Reach::Public),
            (Reach::Public, Reach::Public),
        ] {
            assert_eq!(check_hop(from, &clinic, &own), Ok(reach));
        }
    }

    #[test]
    fn neighbours_of_refused_networks_are_public() {
        for address in [
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:db7::1",
            "2003::1",
            "3ffe::1",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn local_names_are_refused_before_they_are_resolved() {
        for host in [
            "localhost",
            "LOCALHOST.",
            "a.localhost",
            "printer.local",
            "metadata.google.internal",
            "x.onion",
            "router.home.arpa",
        ] {
            assert_eq!(
                check(&format!("https://{host}/")),
                Err(GuardRefusal::LocalName),
                "{host}"
            );
        }
    }

    #[test]
    fn system_ports_and_user_info_and_long_urls_are_refused() {
        assert_eq!(check("https://issuer.example:22/"), Err(GuardRefusal::Port));
        assert_eq!(check("https://issuer.example:0/"), Err(GuardRefusal::Port));
        assert_eq!(
            check("https://u@issuer.example/"),
            Err(GuardRefusal::UserInfo)
        );
        assert_eq!(
            check("https://:p@issuer.example/"),
            Err(GuardRefusal::UserInfo)
        );
        let long = format!("https://issuer.example/{}", "a".repeat(MAX_URL_BYTES));
        assert_eq!(check(&long), Err(GuardRefusal::TooLong));
    }
}
