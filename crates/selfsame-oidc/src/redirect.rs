//! Redirect URIs: which can be registered, and which registered one a request means.

use selfsame_oauth::{Code, Error};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::rules::RedirectMatching;

/// The longest redirect URI, in bytes.
const MAX_BYTES: usize = 2_048;
/// What a registered URI ends with that stands for any path below.
const ANY_BELOW: &str = "/**";
/// What a registered URI ends with that stands for one more part of a path.
const ONE_BELOW: &str = "/*";

/// Where a client runs (OpenID Connect Dynamic Client Registration §2).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ApplicationType {
    /// On a web server.
    #[default]
    Web,
    /// On a person's device.
    Native,
}

/// Checks a URI that is registered.
///
/// # Errors
/// `invalid_redirect_uri`.
pub(crate) fn check(
    uri: &str,
    application: ApplicationType,
    matching: RedirectMatching,
) -> Result<(), Error> {
    let refuse = |reason| Err(Error::new(Code::InvalidRedirectUri, reason));
    if uri.len() > MAX_BYTES || !uri.bytes().all(|byte| byte.is_ascii_graphic()) {
        return refuse("a redirect URI is too long or has characters that URLs don't have");
    }
    let fixed = match matching {
        RedirectMatching::BelowPath => above(uri).map_or(uri, |(above, _)| above),
        RedirectMatching::Exact => uri,
    };
    let Ok(url) = Url::parse(fixed) else {
        return refuse("a redirect URI is not an absolute URL");
    };
    // RFC 6749 §3.1.2.
    if url.fragment().is_some() || fixed.contains('*') {
        return refuse("a redirect URI has a fragment or a wildcard");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("a redirect URI has a user name or a password");
    }
    match (url.scheme(), application) {
        ("https", _) => Ok(()),
        ("http", _) if is_loopback(&url) || matching == RedirectMatching::BelowPath => Ok(()),
        ("http", _) => refuse("a redirect URI needs https, unless it is on the same device"),
        ("javascript" | "data" | "file" | "about" | "blob" | "vbscript", _) => {
            refuse("the scheme of a redirect URI is not allowed")
        }
        // RFC 8252 §7.1: a scheme of one's own is a domain name in reverse order.
        (scheme, ApplicationType::Native) if scheme.contains('.') => Ok(()),
        _ if matching == RedirectMatching::BelowPath => Ok(()),
        _ => refuse("a scheme of one's own is for native clients, and has a dot"),
    }
}

/// Whether a registered URI is that of a request.
pub(crate) fn matches(
    registered: &str,
    asked: &str,
    application: ApplicationType,
    matching: RedirectMatching,
) -> bool {
    if registered == asked {
        return true;
    }
    let is_native = application == ApplicationType::Native;
    (is_native && differs_by_port(registered, asked))
        || (matching == RedirectMatching::BelowPath && is_below(registered, asked))
}

/// RFC 8252 §7.3: a native client on a loopback address gets its port when it starts.
fn differs_by_port(registered: &str, asked: &str) -> bool {
    let (Ok(mut registered), Ok(mut given)) = (Url::parse(registered), Url::parse(asked)) else {
        return false;
    };
    let is_ip = !matches!(registered.host(), Some(Host::Domain(_)));
    let is_plain = given.as_str() == asked && registered.scheme() == "http";
    let is_here = is_loopback(&registered) && is_ip && is_plain;
    let ports = [&mut registered, &mut given].map(|url| url.set_port(None));
    is_here && ports.iter().all(Result::is_ok) && registered == given
}

/// What stands before the wildcard of a registered URI, and whether that is for one part of a path alone.
fn above(registered: &str) -> Option<(&str, bool)> {
    let any = registered
        .strip_suffix(ANY_BELOW)
        .map(|above| (above, false));
    any.or_else(|| Some((registered.strip_suffix(ONE_BELOW)?, true)))
}

fn is_below(registered: &str, asked: &str) -> bool {
    let Some((above, is_one)) = above(registered) else {
        return false;
    };
    let (Ok(above), Ok(given)) = (Url::parse(above), Url::parse(asked)) else {
        return false;
    };
    let same_place = above.scheme() == given.scheme()
        && above.host() == given.host()
        && above.port_or_known_default() == given.port_or_known_default();
    // The text as parsed: what a browser would make of `..` or a backslash is compared, not what was written.
    let is_plain = given.as_str() == asked && given.username().is_empty();
    let rest = given
        .path()
        .strip_prefix(above.path().trim_end_matches('/'));
    same_place
        && is_plain
        && given.fragment().is_none()
        && rest.is_some_and(|rest| match is_one {
            true => rest
                .strip_prefix('/')
                .is_some_and(|part| !part.is_empty() && !part.contains('/')),
            false => rest.is_empty() || rest.starts_with('/'),
        })
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ApplicationType::{Native, Web};
    use RedirectMatching::{BelowPath, Exact};

    #[test]
    fn a_redirect_uri_is_https_or_on_the_same_device() {
        for (uri, application) in [
            ("https://rp.example/cb?a=b", Web),
            ("http://localhost:3000/cb", Web),
            ("http://127.0.0.1/cb", Native),
            ("com.example.app:/cb", Native),
        ] {
            assert!(check(uri, application, Exact).is_ok(), "{uri}");
        }
        for (uri, application) in [
            ("http://rp.example/cb", Web),
            ("https://rp.example/cb#a", Web),
            ("https://user@rp.example/cb", Web),
            ("https://rp.example/**", Web),
            ("https://*.rp.example/cb", Web),
            ("javascript:alert(1)", Native),
            ("com.example.app:/cb", Web),
            ("app:/cb", Native),
            ("/cb", Web),
            ("https://rp.example/\n", Web),
        ] {
            assert!(check(uri, application, Exact).is_err(), "{uri}");
        }
        for uri in [
            "https://rp.example/**",
            "http://rp.example:3000/**",
            "http://rp.example:5000/registration/*",
            "io.example.app://cb",
        ] {
            assert!(check(uri, Web, BelowPath).is_ok(), "{uri}");
        }
        assert!(check("https://rp.**", Web, BelowPath).is_err());
    }

    #[test]
    fn a_request_means_a_registered_uri_character_by_character() {
        let ours = "https://rp.example/cb";
        assert!(matches(ours, ours, Web, Exact));
        for other in [
            "https://rp.example/cb/",
            "https://rp.example/cb?x",
            "https://RP.example/cb",
            "https://rp.example:443/cb",
            "https://rp.example/a/../cb",
            "https://rp.example.evil.example/cb",
        ] {
            assert!(!matches(ours, other, Web, Exact), "{other}");
            assert!(!matches(ours, other, Native, Exact), "{other}");
        }
    }

    #[test]
    fn a_native_client_on_a_loopback_address_may_choose_its_port() {
        let ours = "http://127.0.0.1/cb";
        assert!(matches(ours, "http://127.0.0.1:5000/cb", Native, Exact));
        assert!(!matches(ours, "http://127.0.0.1:5000/cb", Web, Exact));
        assert!(!matches(ours, "http://127.0.0.1:5000/other", Native, Exact));
        assert!(!matches(
            "http://localhost/cb",
            "http://localhost:5/cb",
            Native,
            Exact
        ));
    }

    #[test]
    fn one_star_stands_for_one_part_of_a_path() {
        let ours = "https://rp.example/a/*";
        assert!(matches(ours, "https://rp.example/a/b", Web, BelowPath));
        for other in ["/a", "/a/", "/a/b/c", "/b/c", "/a/b/.."] {
            let other = format!("https://rp.example{other}");
            assert!(!matches(ours, &other, Web, BelowPath), "{other}");
        }
    }

    #[test]
    fn a_path_below_a_registered_one_counts_only_where_that_is_the_rule() {
        let ours = "https://rp.example/a/**";
        assert!(matches(ours, "https://rp.example/a/b/c", Web, BelowPath));
        assert!(!matches(ours, "https://rp.example/a/b/c", Web, Exact));
        for other in [
            "https://rp.example/ab",
            "https://rp.example/a/../b",
            "https://rp.example/a\\..\\b",
            "https://rp.example.evil.example/a/b",
            "https://rp.example@evil.example/a/b",
            "http://rp.example/a/b",
        ] {
            assert!(!matches(ours, other, Web, BelowPath), "{other}");
        }
    }
}
