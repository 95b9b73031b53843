//! Decides which URLs of the other side may be used: https, and plain http for configured origins.

use url::{Host, Url};

/// What names end with that mean this machine.
const BELOW_LOCALHOST: &str = ".localhost";

/// Allows https everywhere, and plain http only for exact, configured origins.
#[derive(Clone, Debug, Default)]
pub struct Transport {
    plain: Vec<Url>,
}

impl Transport {
    /// Allows plain http for these origins.
    ///
    /// An origin on this machine stands for the names below `.localhost` at its port too (RFC 6761 §6.3).
    pub fn with_plain_origins<'a>(origins: impl IntoIterator<Item = &'a Url>) -> Self {
        let plain = origins.into_iter().cloned().collect();
        Self { plain }
    }

    /// Whether `url` may be used: it is https or has one of the plain origins, and contains no user name or password.
    pub fn allows(&self, url: &Url) -> bool {
        let secure = match url.scheme() {
            "https" => true,
            "http" => self.plain.iter().any(|plain| is_plain(plain, url)),
            _ => false,
        };
        secure && url.host().is_some() && url.username().is_empty() && url.password().is_none()
    }

    /// Parses `text` as a URL that may be used.
    pub fn parse(&self, text: &str) -> Option<Url> {
        Url::parse(text).ok().filter(|url| self.allows(url))
    }
}

/// Whether a plain URL has this origin, or is a name of this machine at its port.
fn is_plain(plain: &Url, url: &Url) -> bool {
    let name = plain.domain().unwrap_or_default();
    let is_loopback = match plain.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        _ => name == "localhost" || name.ends_with(BELOW_LOCALHOST),
    };
    let is_same = (plain.scheme(), plain.port()) == (url.scheme(), url.port());
    let is_local = url
        .host_str()
        .is_some_and(|host| host.ends_with(BELOW_LOCALHOST));
    plain.origin() == url.origin() || is_loopback && is_same && is_local
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_configured_origins_only() {
        let own = Url::parse("http://127.0.0.1:7380/").unwrap();
        let transport = Transport::with_plain_origins([&own]);
        for good in [
            "https://a.example/x",
            "http://127.0.0.1:7380/issuer",
            "http://id.clinic.localhost:7380/issuer",
        ] {
            assert!(transport.parse(good).is_some(), "{good}");
        }
        for bad in [
            "http://127.0.0.1:7381/issuer",
            "http://localhost:7380/issuer",
            "http://id.clinic.localhost:7381/issuer",
            "http://id.clinic.localhost/issuer",
            "http://a.example/",
            "https://user@a.example/",
            "file:///etc/passwd",
            "did:web:a.example",
        ] {
            assert!(transport.parse(bad).is_none(), "{bad}");
        }
        assert!(
            Transport::default()
                .parse("http://127.0.0.1:7380/")
                .is_none()
        );
    }
}
