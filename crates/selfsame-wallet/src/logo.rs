//! Logos that people see on cards, and beside the name of an issuer or a verifier. As the name, a logo is the party's own
//! word.

use selfsame_core::below;
use selfsame_core::organisation::Organisations;
use selfsame_driver::Result;
use url::{Origin, Url};

use crate::Wallet;
use crate::view::Display;

/// What the path of a logo has after the base of its organisation, before a digest.
const LOGO: &str = "/logo/";

impl Wallet {
    /// The logo of an organisation of this instance, at one of whose endpoints the logo's owner is called, at the instance's
    /// own host.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn own_logo(&self, logo: &Url, endpoint: &Url) -> Result<Option<String>> {
        let own = &self.shared.config.origin;
        if let Some(shown) = own_logo(&own.origin(), logo, endpoint) {
            return Ok(Some(shown));
        }
        match own_logo(&logo.origin(), logo, endpoint) {
            Some(_) => self.below_own_host(logo).await,
            None => Ok(None),
        }
    }

    /// Has a card show its logo from the instance's own host, if an organisation of this instance serves the logo at a host
    /// of its own: a page loads nothing from other hosts.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn show_here(&self, display: &mut Display) -> Result<()> {
        let logo = display
            .logo
            .as_deref()
            .and_then(|logo| Url::parse(logo).ok());
        if let Some(logo) = logo.filter(is_of_type)
            && let Some(here) = self.below_own_host(&logo).await?
        {
            display.logo = Some(here);
        }
        Ok(())
    }

    /// The address at the instance's own host of what an organisation has at a host of its own, at the instance's port.
    async fn below_own_host(&self, there: &Url) -> Result<Option<String>> {
        let own = &self.shared.config.origin;
        let is_beside = (there.scheme(), there.port()) == (own.scheme(), own.port());
        let Some(host) = there.host_str().filter(|_| is_beside) else {
            return Ok(None);
        };
        let organisations = Organisations::new(self.shared.clone());
        let found = organisations.of_host(host).await?;
        let path = found.map(|name| format!("o/{name}{}", there.path()));
        let here = path.map(|path| below(own, &path)).transpose()?;
        Ok(here.map(String::from))
    }
}

/// Whether this is the address of the logo of a credential type.
fn is_of_type(logo: &Url) -> bool {
    let is_logo = logo.path().starts_with("/types/") && logo.path().ends_with("/logo");
    is_logo && logo.query().is_none()
}

/// The logo's address, if an organisation of this instance serves the logo and has the endpoint that the wallet calls.
/// A wallet loads no logo from elsewhere, since a fetch would tell when a person looks at a request. An organisation
/// can't show the logo of another one.
fn own_logo(own: &Origin, logo: &Url, endpoint: &Url) -> Option<String> {
    let is_here = logo.origin() == *own && endpoint.origin() == *own;
    let (base, digest) = logo.path().split_once(LOGO)?;
    let rest = endpoint.path().strip_prefix(base)?;
    let is_its_own = rest.starts_with("/issuer/") || rest.starts_with("/verifier/");
    let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_plain = logo.query().is_none() && logo.fragment().is_none();
    (is_here && is_its_own && is_digest && is_plain).then(|| logo.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

    fn shown(logo: &str, endpoint: &str) -> bool {
        let own: Url = "https://host.example/".parse().unwrap();
        let logo = logo.replace("DIGEST", DIGEST).parse().unwrap();
        own_logo(&own.origin(), &logo, &endpoint.parse().unwrap()).is_some()
    }

    #[test]
    fn an_organisation_of_this_instance_shows_its_own_logo() {
        for (logo, endpoint) in [
            (
                "https://host.example/logo/DIGEST",
                "https://host.example/issuer/credential",
            ),
            (
                "https://host.example/o/acme/logo/DIGEST",
                "https://host.example/o/acme/verifier/responses/1",
            ),
        ] {
            assert!(shown(logo, endpoint), "{logo}");
        }
    }

    #[test]
    fn only_the_logo_of_a_type_is_shown_on_a_card_from_another_host() {
        let of_type = |url: &str| is_of_type(&url.parse().unwrap());
        assert!(of_type("https://clinic.example/types/immunization/1/logo"));
        for other in [
            "https://clinic.example/logo/1",
            "https://clinic.example/types/immunization/1/logo?x=1",
            "https://clinic.example/types/../operator/sign-out",
            "https://clinic.example/types/immunization/1/schema",
        ] {
            assert!(!of_type(other), "{other}");
        }
    }

    #[test]
    fn no_logo_is_loaded_from_elsewhere_or_shown_for_another_organisation() {
        let acme = "https://host.example/o/acme/verifier/responses/1";
        for (logo, endpoint) in [
            (
                "https://elsewhere.example/logo/DIGEST",
                "https://elsewhere.example/issuer/credential",
            ),
            (
                "https://host.example/logo/DIGEST",
                "https://elsewhere.example/verifier/responses/1",
            ),
            ("https://host.example/logo/DIGEST", acme),
            ("https://host.example/o/ac/logo/DIGEST", acme),
            ("https://host.example/o/other/logo/DIGEST", acme),
            ("https://host.example/o/acme/logo/DIGEST?x=1", acme),
            ("https://host.example/o/acme/operator/sign-out", acme),
            ("https://host.example/o/acme/logo/../operator", acme),
            ("data:image/png;base64,AAAA", acme),
        ] {
            assert!(!shown(logo, endpoint), "{logo} {endpoint}");
        }
    }
}
