//! The parameters of links.

use std::collections::BTreeMap;

use url::{Host, Url};

/// The parameters of a link. One that is repeated has its last value.
pub type LinkParameters = BTreeMap<String, String>;

/// Whether an address is one of https, or of this machine, where people try things without certificates.
pub fn is_secure(url: &Url) -> bool {
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || is_here && url.scheme() == "http"
}
