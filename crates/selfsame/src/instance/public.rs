//! The public base of the URLs of an instance.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use selfsame_server::{Origin, OriginError};
use selfsame_terminal::exit::Failure;
use url::Url;

use super::Launch;

const ITS_ORIGIN: &str = "set --origin to the instance's public https URL; TLS ends here (--tls-certificate with --tls-key, or --tls-self-made) or in a reverse proxy";
const ITS_CERTIFICATE: &str = "give its certificate (--tls-certificate with --tls-key, or --tls-self-made), or listen on loopback (--listen 127.0.0.1:7380) behind a reverse proxy that has the certificate, passes on Host and sets X-Forwarded-For";
const PLAIN: &str = "listen on loopback (--listen 127.0.0.1:7380), or serve https; in a container that only this machine can reach: --allow-plain-http";
const WITH_HTTPS: &str = "write --origin with https, or leave out the certificate";
const BARE: &str = "write --origin as https://issuer.example/";

impl Launch {
    /// The public base of its URLs, if it can be served there.
    ///
    /// # Errors
    /// If it can't, and what to do about it.
    pub(super) fn public_origin(&self, bound: SocketAddr) -> Result<Url, Failure> {
        let origin = match &self.origin {
            Some(origin) => origin.clone(),
            None => self.origin_of(bound)?,
        };
        let certificate = self.tls.is_some();
        let can_be_served = Origin::of(&origin).and_then(|parsed| match self.plain_anywhere {
            true => parsed.can_be_served_plain(bound, certificate),
            false => parsed.can_be_served(bound, certificate),
        });
        match can_be_served {
            Ok(()) => Ok(origin),
            Err(wrong) => {
                let hint = match wrong {
                    OriginError::NeedlessCertificate => WITH_HTTPS,
                    OriginError::NoCertificate => ITS_CERTIFICATE,
                    OriginError::PlainAnywhere => PLAIN,
                    OriginError::NotBare => BARE,
                    _ => ITS_ORIGIN,
                };
                Err(Failure::environment(format!("{}: {wrong}", shown(origin))).hint(hint))
            }
        }
    }

    pub(super) fn origin_of(&self, bound: SocketAddr) -> Result<Url, Failure> {
        if bound.ip().is_unspecified() {
            let what =
                format!("{bound} means every address of this machine, not a name for clients");
            return Err(Failure::environment(what).hint(ITS_ORIGIN));
        }
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        Url::parse(&format!(
            "{scheme}://{}:{}/",
            host_of(bound.ip()),
            bound.port()
        ))
        .map_err(|error| Failure::ours(error.to_string()))
    }
}

/// The host for an address: its name if that leads there, since did:web excludes IP addresses.
fn host_of(ip: IpAddr) -> String {
    match ip.to_canonical() {
        IpAddr::V4(Ipv4Addr::LOCALHOST) | IpAddr::V6(Ipv6Addr::LOCALHOST) => "localhost".to_owned(),
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// The URL without parts that may be secret.
fn shown(mut url: Url) -> Url {
    // A URL that can't have a user name has none to remove.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url
}
