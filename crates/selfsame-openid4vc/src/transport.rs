//! Decides which URLs of the other side may be used: https, and plain http for configured origins.

use std::collections::BTreeSet;

use url::Url;

/// Allows https everywhere, and plain http only for exact, configured origins.
#[derive(Clone, Debug, Default)]
pub struct Transport {
    plain: BTreeSet<String>,
}

impl Transport {
    /// Allows plain http for these origins.
    pub fn with_plain_origins<'a>(origins: impl IntoIterator<Item = &'a Url>) -> Self {
        let plain = origins.into_iter().map(origin).collect();
        Self { plain }
    }

    /// Whether `url` may be used: it is https or has one of the plain origins, and contains no user name or password.
    pub fn allows(&self, url: &Url) -> bool {
        let secure = match url.scheme() {
            "https" => true,
            "http" => self.plain.contains(&origin(url)),
            _ => false,
        };
        secure && url.host().is_some() && url.username().is_empty() && url.password().is_none()
    }

    /// Parses `text` as a URL that may be used.
    pub fn parse(&self, text: &str) -> Option<Url> {
        Url::parse(text).ok().filter(|url| self.allows(url))
    }
}

fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_configured_origins_only() {
        let own = Url::parse("http://127.0.0.1:7380/").unwrap();
        let transport = Transport::with_plain_origins([&own]);
        for good in ["https://a.example/x", "http://127.0.0.1:7380/issuer"] {
            assert!(transport.parse(good).is_some(), "{good}");
        }
        for bad in [
            "http://127.0.0.1:7381/issuer",
            "http://localhost:7380/issuer",
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
