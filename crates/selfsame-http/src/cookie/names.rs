//! Session cookies: their names.

use crate::origin::Origin;

/// The names of this server's cookies.
///
/// Browsers share cookies between all ports of a host, so the names differ between servers on one machine.
#[derive(Clone, Debug)]
pub struct Names {
    /// The operator's session.
    pub operator: String,
    /// A person's session.
    pub person: String,
    /// Binds sign-in forms to the browser.
    pub visitor: String,
    /// Binds a same-device request to the browser that made it, on its result page: several requests may be open.
    pub binding: String,
    /// Recognises a browser that has signed in to a wallet before.
    pub known: String,
    /// Recognises a browser that has signed in before to the account of a person who works for an organisation.
    pub known_operator: String,
}

impl Names {
    /// The names under this origin. The `__Host-` prefix keeps sister hosts from setting them; it is possible only
    /// for cookies of the whole host.
    pub fn of(origin: &Origin) -> Self {
        let (host, page) = match origin.secure() {
            true => ("__Host-", "__Secure-"),
            false => ("", ""),
        };
        let named = |prefix: &str, what: &str| format!("{prefix}selfsame-{what}-{}", origin.port());
        Self {
            operator: named(host, "operator"),
            person: named(host, "wallet"),
            visitor: named(host, "visitor"),
            binding: named(page, "asked"),
            known: named(host, "known"),
            known_operator: named(host, "known-operator"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use url::Url;

    fn origin(text: &str) -> Origin {
        Origin::of(&Url::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn under_tls_cookies_are_bound_to_the_host() {
        let names = Names::of(&origin("https://selfsame.example/"));
        assert_eq!(names.operator, "__Host-selfsame-operator-443");
    }

    #[test]
    fn two_servers_on_one_machine_have_different_cookies() {
        let one = Names::of(&origin("http://127.0.0.1:7380/"));
        let other = Names::of(&origin("http://127.0.0.1:7381/"));
        assert_ne!(one.person, other.person);
    }
}
