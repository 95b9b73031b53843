//! The organisation whose address was called.
//!
//! An organisation's addresses are those of the one that every instance has, below `/o/` and its name. Its public
//! documents stand where the specifications put them for its identifier. Both are translated before routing, so that
//! one list of routes serves all organisations.

use axum::extract::Request;
use http::uri::PathAndQuery;
use http::{Extensions, Uri};
use selfsame_core::organisation::OrganisationName;

/// What the addresses of other organisations begin with.
const BELOW: &str = "/o/";
const WELL_KNOWN: &str = "/.well-known/";

/// The name of the organisation that an address names, among a request's extensions.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Called(OrganisationName);

impl Called {
    /// The organisation whose address this request called, unless it is the one that every instance has.
    pub fn of(extensions: &Extensions) -> Option<&Self> {
        extensions.get::<Self>()
    }

    /// Its name.
    pub fn name(&self) -> &OrganisationName {
        &self.0
    }

    /// The path of a page or an API address of this organisation, from that of the one that every instance has.
    pub fn path(&self, path: &str) -> String {
        path_at(&self.0, path)
    }
}

/// The path of a page or an API address of an organisation, from that of the one that every instance has.
pub fn path_at(organisation: &OrganisationName, path: &str) -> String {
    match organisation.is_main() {
        true => path.to_owned(),
        false => format!("{BELOW}{organisation}{path}"),
    }
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

/// Translates a request to an organisation's address into one to the address that the routes know.
pub fn translate(mut request: Request) -> Request {
    if let Some((name, path)) = translated(request.uri().path()) {
        let query = request.uri().query();
        let target = query.map_or_else(|| path.clone(), |query| format!("{path}?{query}"));
        if let Ok(target) = target.parse::<PathAndQuery>() {
            let mut parts = request.uri().clone().into_parts();
            parts.path_and_query = Some(target);
            if let Ok(uri) = Uri::from_parts(parts) {
                *request.uri_mut() = uri;
                request.extensions_mut().insert(Called(name));
            }
        }
    }
    request
}

/// The organisation that a path names, and the path of the same thing at the one that every instance has.
fn translated(path: &str) -> Option<(OrganisationName, String)> {
    if let Some(document) = path.strip_prefix(WELL_KNOWN) {
        let (document, name) = document.split_once(BELOW)?;
        let path = format!("{WELL_KNOWN}{document}/issuer");
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
