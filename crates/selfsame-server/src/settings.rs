//! What the server is told at its start: its public origin, its certificate, its limits.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use selfsame_app::copies::Copies;
use selfsame_tls_io::Acceptor;
use tokio::net::TcpListener;
use url::{Host, Url};

use crate::peer::Proxies;
use crate::tls::Tls;

/// What the server is told at its start, beside the application's own configuration.
#[derive(Debug, Default)]
pub struct Settings {
    /// The certificate, where TLS ends here.
    pub tls: Option<Tls>,
    /// Where nodes connect that prove who they are by DIDs and credentials, beside everybody else.
    pub nodes: Option<Nodes>,
    /// Where the process is watched over, on a thread of its own; the main listener answers the same.
    pub health: Option<std::net::TcpListener>,
    /// Whether plain http is served where others than this machine connect.
    pub plain_anywhere: bool,
    /// Everything that is bounded.
    pub limits: Limits,
    /// Where copies of the instance are put, if the operator may ask for them.
    pub copies: Option<Copies>,
    /// Whether anybody may register DIDs at `/register`; else only the operator.
    pub open_registration: bool,
}

/// A second listener, for nodes with DIDs and credentials (`docs/tls.md`). They reach the same addresses as everybody.
#[derive(Debug)]
pub struct Nodes {
    /// Where they connect.
    pub listener: TcpListener,
    /// Who is let in.
    pub acceptor: Acceptor,
}

/// The node that a request came from, as an extension of the request: it was let in, and has proved to be this.
#[derive(Clone, Debug)]
pub struct NodePeer(pub Arc<selfsame_tls::identity::Peer>);

/// The scheme, host and port under which everybody addresses this server.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Origin {
    text: String,
    authority: String,
    port: u16,
    secure: bool,
    loopback: bool,
}

/// Why an address cannot be the server's origin.
#[derive(Debug, thiserror::Error)]
pub enum OriginError {
    /// Not http or https with a host.
    #[error("the origin must be an http or https address with a host")]
    NotHttp,
    /// More than an origin.
    #[error(
        "the origin is scheme, host and port; it has no path, no query, no fragment and no user"
    )]
    NotBare,
    /// Plain http to somewhere else than this machine.
    #[error("plain http is served on loopback only; use an https origin")]
    PlainHttp,
    /// Plain http where others than this machine connect.
    #[error(
        "plain http is served on loopback only: whoever is on the network would read the operator's token"
    )]
    PlainAnywhere,
    /// A certificate for plain http.
    #[error("a certificate belongs to an https origin")]
    NeedlessCertificate,
    /// Https without a certificate, where others than a proxy on this machine connect.
    #[error(
        "an https origin without a certificate is served on loopback only, to a proxy that has one"
    )]
    NoCertificate,
}

impl Origin {
    /// Takes the origin that `url` is.
    ///
    /// # Errors
    /// For another scheme than http and https, for a URL that is more than an origin (RFC 6454 §4), and for plain http
    /// to another machine.
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

    /// Whether it can be served where `listen` is: TLS ends here, or in a proxy on this machine, which sends on the
    /// Host that it was asked for.
    ///
    /// # Errors
    /// A certificate for plain http, and neither https nor a certificate where others connect than this machine.
    pub fn can_be_served(&self, listen: SocketAddr, certificate: bool) -> Result<(), OriginError> {
        let here = listen.ip().to_canonical().is_loopback();
        match (self.secure, certificate) {
            (false, true) => Err(OriginError::NeedlessCertificate),
            (false, false) if !here => Err(OriginError::PlainAnywhere),
            (true, false) if !here => Err(OriginError::NoCertificate),
            _ => Ok(()),
        }
    }

    /// The same where plain http may be served to others than this machine: in a container, to which only this machine
    /// has a way.
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
                tracing::warn!(%listen, "plain http is served to whoever reaches this address");
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

    /// The port, the scheme's default included.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether it is https.
    pub fn secure(&self) -> bool {
        self.secure
    }

    /// Whether `authority` is another name of the same door: this port on loopback, by any of its names.
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

/// Everything that is bounded.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Open connections; beyond it a few more are let in for what watches over the process, and the rest refused at
    /// once.
    pub connections: usize,
    /// Open connections of one network, and requests under way of one.
    pub connections_each: usize,
    /// Whose word for whom they ask is taken, beside a proxy on this machine where TLS has ended before us.
    pub proxies: Proxies,
    /// How long a connection may stay silent, be it before, within a head, or between requests.
    pub idle: Duration,
    /// How long a TLS handshake may take.
    pub handshake: Duration,
    /// How long the body of a request may take to arrive.
    pub body: Duration,
    /// Bytes of all bodies that are held at one time.
    pub bodies: usize,
    /// How long one request may take once it has arrived.
    pub request: Duration,
    /// How long open requests are waited for when the server stops.
    pub stop: Duration,
    /// Open event streams: so many of anybody, and as many of the operator.
    pub streams: usize,
    /// Those of one network.
    pub streams_each: usize,
    /// Wallets that one network may make in an hour.
    pub registrations_each: usize,
    /// What people's wallets ask.
    pub people: Budget,
    /// What other wallets, issuers and verifiers ask.
    pub protocol: Budget,
    /// What the operator asks.
    pub operator: Budget,
    /// What anybody may read.
    pub public: Budget,
    /// Status lists, for whoever checks a credential: nothing else shall keep them waiting.
    pub lists: Budget,
    /// The registry's reads, for whoever checks it.
    pub registry: Budget,
    /// Answers of other people's wallets, which wait for the hosts of their issuers.
    pub answers: Budget,
    /// How many of these one network may have under way.
    pub answers_each: usize,
    /// What waits for other hosts: so many of people with an account, as many of anybody, and as many requests for
    /// credentials. Those that wait behind them are counted for each account, network, or access token, by itself.
    pub abroad: Budget,
    /// How many of these one account, one network, or one access token, may have under way.
    pub abroad_each: usize,
}

/// How many requests of one audience run, how many wait behind them, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Running at one time.
    pub running: usize,
    /// Waiting for one of those to end; beyond it 429.
    pub waiting: usize,
    /// How long one waits before it is sent away with 503.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let patience = Duration::from_secs(20);
        Self {
            connections: 4096,
            connections_each: 256,
            proxies: Proxies::default(),
            idle: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            body: Duration::from_secs(10),
            bodies: 64 << 20,
            request: Duration::from_secs(29),
            stop: Duration::from_secs(10),
            streams: 512,
            streams_each: 64,
            registrations_each: 60,
            people: Budget {
                running: 64,
                waiting: 2048,
                patience,
            },
            protocol: Budget {
                running: 256,
                waiting: 2048,
                patience,
            },
            operator: Budget {
                running: 64,
                waiting: 2048,
                patience,
            },
            public: Budget {
                running: 128,
                waiting: 1024,
                patience,
            },
            lists: Budget {
                running: 64,
                waiting: 1024,
                patience,
            },
            registry: Budget {
                running: 128,
                waiting: 1024,
                patience,
            },
            answers: Budget {
                running: 64,
                waiting: 2048,
                patience,
            },
            answers_each: 8,
            abroad: Budget {
                running: 32,
                waiting: 1024,
                patience,
            },
            abroad_each: 4,
        }
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
