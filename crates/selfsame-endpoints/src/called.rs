//! The organisation whose address was called.
//!
//! An organisation's addresses are those of the one that every instance has, below `/o/` and its name. Its public
//! documents stand where the specifications put them for its identifier. Both are translated before routing, so that
//! one list of routes serves all organisations. An organisation with a host of its own has the same addresses at that
//! host, as they are; what its people work with stays on the instance's host.

use axum::extract::Request;
use axum::response::{IntoResponse as _, Redirect, Response};
use http::header::LOCATION;
use http::uri::PathAndQuery;
use http::{Extensions, HeaderValue, Method, Uri};
use selfsame_core::organisation::{OrganisationName, Organisations};
use selfsame_driver::{Error, Result};

/// What the addresses of other organisations begin with.
const BELOW: &str = "/o/";
const WELL_KNOWN: &str = "/.well-known/";
/// What the paths of pages begin with that each organisation has.
const OF_EACH: [&str; 7] = [
    "/agent",
    "/issuer",
    "/verifier",
    "/people",
    "/audit",
    "/types",
    "/webhooks",
];

/// The organisation that an address names, among a request's extensions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Called {
    name: OrganisationName,
    at: CalledPlace,
}

/// What of an address names the organisation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CalledPlace {
    /// The beginning of the path, on the instance's host.
    Path,
    /// A host of its own.
    Host,
}

impl Called {
    /// The organisation whose address this request called, unless it is the one that every instance has.
    pub fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get::<Self>()
    }

    /// This organisation, called at a host of its own.
    pub(crate) fn at_host(name: OrganisationName) -> Self {
        let at = CalledPlace::Host;
        Self { name, at }
    }

    /// Its name.
    pub fn name(&self) -> &OrganisationName {
        &self.name
    }

    /// What of the address names it.
    pub fn at(&self) -> CalledPlace {
        self.at
    }

    /// The path of a page or an API address of this organisation where it was called, from that of the one that every
    /// instance has.
    pub fn path(&self, path: &str) -> String {
        match self.at {
            CalledPlace::Path => path_at(&self.name, path),
            CalledPlace::Host => path.to_owned(),
        }
    }

    /// For a visitor who called an organisation on the instance's host that has a host of its own: the same page there.
    /// Its cookies and forms belong to that host.
    ///
    /// # Errors
    /// `NotFound` for a form that is sent here; the store's.
    pub async fn moved(
        &self,
        organisations: &Organisations,
        method: &Method,
        uri: &Uri,
    ) -> Result<Option<Response>> {
        if self.at == CalledPlace::Host {
            return Ok(None);
        }
        let found = organisations.find(&self.name).await?;
        let Some(hosted) = found.filter(|hosted| hosted.record.host.is_some()) else {
            return Ok(None);
        };
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Err(Error::not_found("address-unknown"));
        }
        let place = organisations.place(&hosted)?;
        let target = uri.path_and_query();
        let target = target.map_or("", |target| target.as_str().trim_start_matches('/'));
        let there = format!("{}{target}", place.base);
        Ok(Some(Redirect::permanent(&there).into_response()))
    }
}

/// The path of a page or an API address of an organisation, from that of the one that every instance has.
pub fn path_at(organisation: &OrganisationName, path: &str) -> String {
    match organisation.is_main() {
        true => path.to_owned(),
        false => format!("{BELOW}{organisation}{path}"),
    }
}

/// A response that leads on to a page of the organisation that was called, where it leads to one that each has.
pub fn led(called: Option<&Called>, mut response: Response) -> Response {
    if let (Some(called), Some(location)) = (called, response.headers().get(LOCATION))
        && let Ok(path) = location.to_str()
        && OF_EACH.iter().any(|page| path.starts_with(page))
        && let Ok(location) = HeaderValue::from_str(&called.path(path))
    {
        response.headers_mut().insert(LOCATION, location);
    }
    response
}

/// The organisation whose address a request called.
pub fn organisation(extensions: &Extensions) -> OrganisationName {
    let called = Called::of(extensions).map(Called::name).cloned();
    called.unwrap_or_else(OrganisationName::main)
}

/// What the paths of pages begin with: empty for the organisation that every instance has.
pub fn prefix(extensions: &Extensions) -> String {
    Called::of(extensions).map_or_else(String::new, |called| called.path(""))
}

/// Translates a request to an organisation's address on the instance's host into one to the address that the routes know.
pub(crate) fn translate(mut request: Request) -> Request {
    if let Some((name, path)) = translated(request.uri().path()) {
        let query = request.uri().query();
        let target = query.map_or_else(|| path.clone(), |query| format!("{path}?{query}"));
        if let Ok(target) = target.parse::<PathAndQuery>() {
            let mut parts = request.uri().clone().into_parts();
            parts.path_and_query = Some(target);
            if let Ok(uri) = Uri::from_parts(parts) {
                *request.uri_mut() = uri;
                let at = CalledPlace::Path;
                request.extensions_mut().insert(Called { name, at });
            }
        }
    }
    request
}

/// The organisation that a path names, and the path of the same thing at the one that every instance has.
fn translated(path: &str) -> Option<(OrganisationName, String)> {
    if let Some(document) = path.strip_prefix(WELL_KNOWN) {
        let (document, name) = document.split_once(BELOW)?;
        // The OpenID provider's identifier is one step below the organisation's.
        let (name, of) = match name.strip_suffix("/oidc") {
            Some(name) => (name, "oidc"),
            None => (name, "issuer"),
        };
        let path = format!("{WELL_KNOWN}{document}/{of}");
        let is_one = !document.contains('/');
        return Some((named(name).filter(|_| is_one)?, path));
    }
    let rest = path.strip_prefix(BELOW)?;
    let (name, rest) = rest.split_once('/').unwrap_or((rest, ""));
    let path = match rest {
        "" => "/issuer".to_owned(),
        // The did:web of an organisation is at its identifier.
        "did.json" => "/issuer/did.json".to_owned(),
        rest => format!("/{rest}"),
    };
    Some((named(name)?, path))
}

fn named(name: &str) -> Option<OrganisationName> {
    let name = OrganisationName::parse(name).ok()?;
    // Each address has one form.
    (!name.is_main()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Option<(String, String)> {
        translated(path).map(|(name, path)| (name.to_string(), path))
    }

    #[test]
    fn the_addresses_of_an_organisation_are_those_of_the_first_below_its_name() {
        for (path, same) in [
            ("/o/acme", "/issuer"),
            ("/o/acme/issuer/token", "/issuer/token"),
            ("/o/acme/status/3", "/status/3"),
            ("/o/acme/api/issuer/offers", "/api/issuer/offers"),
            ("/o/acme/did.json", "/issuer/did.json"),
            (
                "/.well-known/openid-credential-issuer/o/acme",
                "/.well-known/openid-credential-issuer/issuer",
            ),
            (
                "/.well-known/oauth-authorization-server/o/acme/oidc",
                "/.well-known/oauth-authorization-server/oidc",
            ),
        ] {
            assert_eq!(
                of(path),
                Some(("acme".to_owned(), same.to_owned())),
                "{path}"
            );
        }
    }

    #[test]
    fn an_address_that_names_no_other_organisation_stays() {
        for path in [
            "/issuer",
            "/o/",
            "/o/main/issuer",
            "/o/Acme/issuer",
            "/o/a%2fb/issuer",
            "/.well-known/openid-credential-issuer/issuer",
            "/.well-known/a/b/o/acme",
            "/.well-known/openid-credential-issuer/o/acme/x",
        ] {
            assert_eq!(of(path), None, "{path}");
        }
    }
}
