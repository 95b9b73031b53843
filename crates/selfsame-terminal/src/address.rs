//! Addresses from the command line or a settings file: parsing, and the check that they may be called.

use url::Url;

use crate::exit::Failure;

/// The address of an instance or a node from the command line.
///
/// # Errors
/// If its scheme is neither http nor https. [`check`] decides whether it may be called.
pub fn parse(text: &str) -> Result<Url, String> {
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(url),
        _ => {
            Err("begin the URL with https:// or http://, such as http://localhost:7380/".to_owned())
        }
    }
}

/// Whether a token or a password may be sent there: over TLS, or to this machine.
///
/// # Errors
/// If others could read it in transit.
pub fn check(url: &Url) -> Result<(), Failure> {
    Ok(selfsame_driver::address::check(url)?)
}

/// As [`check`], for an address from the settings, where plain http can be allowed by exact origin.
///
/// # Errors
/// As [`check`].
pub fn check_unless_trusted(url: &Url, trusted: &[Url]) -> Result<(), Failure> {
    let mut trusted = trusted.iter();
    if url.scheme() == "http" && trusted.any(|trusted| trusted.origin() == url.origin()) {
        return Ok(());
    }
    check(url).map_err(|failure| {
        failure.hint(
            "use https; plain http is only for this machine and for [trust] origins (--trust-origin)",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        parse(text).unwrap()
    }

    #[test]
    fn an_address_has_a_scheme_of_the_web() {
        for wrong in ["localhost:7380", "issuer.example", "ftp://localhost/", ""] {
            assert!(
                parse(wrong).unwrap_err().contains("http://localhost"),
                "{wrong}"
            );
        }
        for right in ["http://localhost:7380", "https://issuer.example/"] {
            assert!(parse(right).is_ok(), "{right}");
        }
    }

    #[test]
    fn plain_http_is_for_this_machine_and_for_origins_that_are_trusted_by_name() {
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
            let failure = check(&url(open)).unwrap_err();
            assert_eq!(failure.code(), 2, "{open}");
            assert!(failure.what_to_do().unwrap().contains("https"), "{open}");
            assert!(check_unless_trusted(&url(open), &[url(open)]).is_ok());
        }
        let trusted = [url("http://10.0.0.7:7380/")];
        let beside = url("http://10.0.0.7:7381/");
        assert!(check_unless_trusted(&beside, &trusted).is_err());
    }
}
