//! Whether a secret may be sent to an address: only if the way there is encrypted, or stays on this machine.

use url::{Host, Url};

use crate::{Error, Result};

const LOCALHOST: &str = "localhost";

/// Whether a token or a password may be sent there: over TLS, or to this machine.
///
/// # Errors
/// If others could read it in transit.
pub fn check(url: &Url) -> Result<()> {
    if url.scheme() == "https" || is_here(url) {
        return Ok(());
    }
    let host = url.host_str().unwrap_or_default();
    Err(Error::bad_request("address-unencrypted")
        .with("scheme", url.scheme())
        .with("host", host))
}

fn is_here(url: &Url) -> bool {
    url.scheme() == "http"
        && url.host().is_some_and(|host| match host {
            Host::Domain(name) => name == LOCALHOST,
            Host::Ipv4(ip) => ip.is_loopback(),
            Host::Ipv6(ip) => ip.is_loopback(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn plain_http_is_for_this_machine_alone() {
        for safe in [
            "https://issuer.example/",
            "https://10.0.0.7/",
            "http://localhost:7380/",
            "http://127.0.0.5/",
            "http://[::1]:7380/",
        ] {
            assert!(check(&url(safe)).is_ok(), "{safe}");
        }
        for open in [
            "http://issuer.example/",
            "http://192.0.2.2:7380/",
            "http://10.0.0.7/",
            "http://localhost.example/",
            "http://[::2]/",
        ] {
            let refused = check(&url(open)).unwrap_err();
            assert_eq!(refused.reason.id(), "address-unencrypted", "{open}");
        }
    }
}
