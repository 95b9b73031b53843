//! The server's public origin, and where it may be served.

use std::net::SocketAddr;
use std::sync::Arc;

use url::{Host, Url};

/// The scheme, host and port of this server's public address.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Origin {
    text: String,
    authority: String,
    port: u16,
    secure: bool,
    loopback: bool,
}

/// The origin that a request called, among its extensions, if it is not the server's own.
#[derive(Clone, Debug)]
pub struct CalledOrigin(pub Arc<Origin>);

/// Why an address cannot be the server's origin.
#[derive(Debug, thiserror::Error)]
pub enum OriginError {
    /// Not http or https with a host.
    #[error("the origin must be an http or https address with a host")]
    NotHttp,
    /// The URL has more parts than an origin.
    #[error("the origin must be scheme, host and port, without path, query, fragment or user")]
    NotBare,
    /// Plain http to another machine.
    #[error("plain http is served on loopback only; use an https origin")]
    PlainHttp,
    /// Plain http on an address that other machines can reach.
    #[error(
        "plain http is served on loopback only: anyone on the network could read the operator's token"
    )]
    PlainAnywhere,
    /// A certificate for plain http.
    #[error("a certificate belongs to an https origin")]
    NeedlessCertificate,
    /// Https without a certificate, on an address that other machines can reach, not only a proxy on this machine.
    #[error(
        "an https origin without a certificate is served on loopback only, to a proxy that has one"
    )]
    NoCertificate,
}

impl Origin {
    /// The origin in `url`.
    ///
    /// # Errors
    /// For a scheme other than http and https, for a URL with more parts than an origin (RFC 6454 §4), and for plain
    /// http to another machine.
    pub fn of(url: &Url) -> Result<Self, OriginError> {
        let secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(OriginError::NotHttp),
        };
        let host = url.host().ok_or(OriginError::NotHttp)?;
        let user = !url.username().is_empty() || url.password().is_some();
        if user || url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            return Err(OriginError::NotBare);
        }
        let loopback = is_loopback(&host);
        if !secure && !loopback {
            return Err(OriginError::PlainHttp);
        }
        let port = url.port_or_known_default().ok_or(OriginError::NotHttp)?;
        let authority = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_string(),
        };
        Ok(Self {
            text: format!("{}://{authority}", url.scheme()),
            authority,
            port,
            secure,
            loopback,
        })
    }

    /// Checks that the origin can be served at `listen`: TLS ends here, or in a proxy on this machine that forwards
    /// the Host it received.
    ///
    /// # Errors
    /// For a certificate with plain http, and for an address that other machines can reach with neither https nor a
    /// certificate.
    pub fn can_be_served(&self, listen: SocketAddr, certificate: bool) -> Result<(), OriginError> {
        let here = listen.ip().to_canonical().is_loopback();
        match (self.secure, certificate) {
            (false, true) => Err(OriginError::NeedlessCertificate),
            (false, false) if !here => Err(OriginError::PlainAnywhere),
            (true, false) if !here => Err(OriginError::NoCertificate),
            _ => Ok(()),
        }
    }

    /// Like [`Origin::can_be_served`], if plain http may be served to other machines: in a container that only this
    /// machine can reach.
    ///
    /// # Errors
    /// As [`Origin::can_be_served`].
    pub fn can_be_served_plain(
        &self,
        listen: SocketAddr,
        certificate: bool,
    ) -> Result<(), OriginError> {
        match self.can_be_served(listen, certificate) {
            Err(OriginError::PlainAnywhere) => {
                tracing::warn!(%listen, "plain http is served to anyone who can reach this address");
                Ok(())
            }
            judged => judged,
        }
    }

    /// `scheme://host[:port]`, as browsers write it in the Origin header.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// `host[:port]`, as clients write it in the Host header.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The port, or the scheme's default.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether it is https.
    pub fn secure(&self) -> bool {
        self.secure
    }

    /// The origin of another host that is served beside this one: its scheme and its port.
    pub fn beside(&self, host: &str) -> Self {
        let port = self.authority_port();
        let authority = format!("{host}{port}");
        let scheme = if self.secure { "https" } else { "http" };
        Self {
            text: format!("{scheme}://{authority}"),
            authority,
            ..*self
        }
    }

    /// The host that `authority` names, if it has the port of this origin.
    pub fn host_of<'a>(&self, authority: &'a str) -> Option<&'a str> {
        let host = authority.strip_suffix(self.authority_port())?;
        (!host.contains(':')).then_some(host)
    }

    /// What stands after the host in the authority: nothing for the scheme's default port.
    fn authority_port(&self) -> &str {
        let end = self.authority.rfind(']').map_or(0, |end| end + 1);
        match self.authority[end..].find(':') {
            Some(at) => &self.authority[end + at..],
            None => "",
        }
    }

    /// Whether `authority` is an alias of this origin: the same port on loopback, under any of its names.
    pub fn is_alias(&self, authority: &str) -> bool {
        let Ok(url) = Url::parse(&format!("http://{authority}/")) else {
            return false;
        };
        let port = url.port().unwrap_or(if self.secure { 443 } else { 80 });
        self.loopback && port == self.port && url.host().is_some_and(|host| is_loopback(&host))
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(text: &str) -> Result<Origin, OriginError> {
        Origin::of(&Url::parse(text).unwrap())
    }

    #[test]
    fn plain_http_is_for_loopback_only() {
        assert!(origin("http://127.0.0.1:7380/").is_ok());
        assert!(origin("http://[::1]:7380/").is_ok());
        assert!(matches!(
            origin("http://example.com/"),
            Err(OriginError::PlainHttp)
        ));
        assert!(matches!(
            origin("http://192.168.1.2/"),
            Err(OriginError::PlainHttp)
        ));
        assert!(origin("https://example.com/").is_ok());
        assert!(matches!(
            origin("ftp://example.com/"),
            Err(OriginError::NotHttp)
        ));
    }

    #[test]
    fn an_origin_has_no_path_no_query_no_fragment_and_no_user() {
        for more in [
            "https://example.com/path",
            "https://example.com/?query",
            "https://example.com/#fragment",
            "https://user@example.com/",
            "https://user:word@example.com/",
            "https://:word@example.com/",
        ] {
            assert!(matches!(origin(more), Err(OriginError::NotBare)), "{more}");
        }
        assert!(origin("https://example.com").is_ok());
    }

    #[test]
    fn tls_ends_where_the_certificate_is_or_in_a_proxy_on_this_machine() {
        let (here, anywhere) = (([127, 0, 0, 1], 80).into(), ([0, 0, 0, 0], 80).into());
        let https = origin("https://example.com/").unwrap();
        assert!(https.can_be_served(anywhere, true).is_ok());
        assert!(https.can_be_served(here, false).is_ok());
        assert!(matches!(
            https.can_be_served(anywhere, false),
            Err(OriginError::NoCertificate)
        ));
        let http = origin("http://localhost:7380/").unwrap();
        assert!(http.can_be_served(here, false).is_ok());
        assert!(matches!(
            http.can_be_served(anywhere, false),
            Err(OriginError::PlainAnywhere)
        ));
        assert!(http.can_be_served_plain(anywhere, false).is_ok());
        assert!(matches!(
            https.can_be_served_plain(anywhere, false),
            Err(OriginError::NoCertificate)
        ));
        assert!(matches!(
            http.can_be_served(here, true),
            Err(OriginError::NeedlessCertificate)
        ));
    }

    #[test]
    fn another_host_is_served_at_the_scheme_and_the_port_of_the_origin() {
        for (own, beside) in [
            ("https://id.example/", "https://id.clinic.example"),
            ("https://id.example:8443/", "https://id.clinic.example:8443"),
            ("http://127.0.0.1:7380/", "http://id.clinic.example:7380"),
            ("http://[::1]:7380/", "http://id.clinic.example:7380"),
        ] {
            let own = origin(own).unwrap();
            let clinic = own.beside("id.clinic.example");
            assert_eq!(clinic.as_str(), beside);
            assert_eq!(own.host_of(clinic.authority()), Some("id.clinic.example"));
            assert_eq!(own.host_of("id.clinic.example:7"), None);
        }
        let own = origin("https://id.example/").unwrap();
        assert_eq!(own.host_of("id.clinic.example:443"), None);
    }

    #[test]
    fn only_loopback_names_on_the_same_port_are_aliases() {
        let here = origin("http://127.0.0.1:7380/").unwrap();
        assert!(here.is_alias("localhost:7380"));
        assert!(here.is_alias("[::1]:7380"));
        assert!(!here.is_alias("localhost:7381"));
        assert!(!here.is_alias("rebound.example:7380"));
        assert!(
            !origin("https://example.com/")
                .unwrap()
                .is_alias("localhost:443")
        );
    }
}
