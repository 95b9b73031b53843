//! The pages: each shows the results of use cases, and decides nothing itself.

pub mod home;
pub mod hue;
pub mod issuer;
pub mod operator;
pub mod pictogram;
pub mod qr;
pub mod reference;
pub mod registry;
pub mod resolver;
pub mod verdict;
pub mod verifier;
pub mod wallet;

use std::fmt;

use askama::Template;
use axum::extract::FromRequestParts;
use axum::response::{Html, IntoResponse};
use http::request::Parts;
use selfsame_app::config::Roles;
pub use selfsame_catalogue::when;
pub use selfsame_http::listing::ListPosition;
use selfsame_ledger::config::RegistryConfig;

use crate::auth::{self, Seat};
use crate::error::{Handled, Problem};
use crate::here;
use crate::server::Server;

/// What every page shows around its content.
pub struct Frame {
    /// The page's title.
    pub title: String,
    /// The section of the site.
    pub section: &'static str,
    /// The form token of its forms.
    pub form: String,
    /// What the paths of the organisation's pages begin with; empty for the one that every instance has.
    pub here: String,
    /// The roles of this instance.
    pub roles: Roles,
    /// Whether the registry is in another process.
    registry_elsewhere: bool,
    seat: Option<Seat>,
    operator: bool,
    person: Option<String>,
}

/// An entry of the main navigation.
pub struct NavigationEntry {
    /// Its link.
    pub href: &'static str,
    /// Its label.
    pub label: &'static str,
    /// Whether this page belongs to it.
    pub current: bool,
}

impl Frame {
    /// The frame with this title.
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The frame of a page shown again after an error. The title starts with the error, so that screen readers
    /// announce it first.
    pub fn failed(self, title: &str) -> Self {
        self.titled(format!("Error: {title}"))
    }

    /// The operator's first page.
    pub fn home(&self) -> &'static str {
        match &self.roles {
            Roles { issuer: true, .. } => "/issuer",
            Roles { verifier: true, .. } => "/verifier",
            Roles { registry: true, .. } => "/registry",
            _ => "/",
        }
    }

    /// The main navigation, by the instance's roles.
    pub fn entries(&self) -> Vec<NavigationEntry> {
        let roles = &self.roles;
        [
            ("issuer", "/issuer", "Issuer", roles.issuer),
            ("wallet", "/wallet", "Wallet", roles.wallet),
            ("verifier", "/verifier", "Verifier", roles.verifier),
            (
                "registry",
                "/registry",
                "Registry",
                roles.registry || self.registry_elsewhere,
            ),
            ("resolver", "/resolver", "Resolver", true),
        ]
        .into_iter()
        .filter(|(.., here)| *here)
        .map(|(section, href, label, _)| NavigationEntry {
            href,
            label,
            current: section == self.section,
        })
        .collect()
    }

    /// The address that ends this page's session, if there is one.
    pub fn sign_out(&self) -> Option<&'static str> {
        match self.seat {
            Some(Seat::Operator { .. }) => Some("/operator/sign-out"),
            Some(Seat::Person { .. }) => Some("/wallet/sign-out"),
            Some(Seat::Visitor { .. }) | None => None,
        }
    }

    /// Whether the operator is signed in.
    pub fn is_operator(&self) -> bool {
        self.operator || matches!(self.seat, Some(Seat::Operator { .. }))
    }

    /// Who is signed in, as text.
    pub fn who(&self) -> &str {
        match &self.seat {
            Some(Seat::Operator { .. }) => "Operator",
            Some(Seat::Person { person, .. }) => &person.email,
            Some(Seat::Visitor { .. }) | None => match &self.person {
                Some(person) => person,
                None if self.operator => "Operator",
                None => "",
            },
        }
    }
}

impl FromRequestParts<Server> for Frame {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let seat = parts.extensions.get::<Seat>().cloned();
        let (operator, person) = match seat {
            Some(_) => (false, None),
            None => auth::signed_in(server, parts).await,
        };
        let form = seat
            .as_ref()
            .map(|seat| seat.form().to_owned())
            .unwrap_or_default();
        Ok(Self {
            title: "Selfsame".to_owned(),
            section: section(parts.uri.path()),
            form,
            here: here::prefix(&parts.extensions),
            roles: server.app().config().roles,
            registry_elsewhere: matches!(
                server.app().config().registry,
                RegistryConfig::Remote { .. }
            ),
            seat,
            operator,
            person: person.map(|person| person.email),
        })
    }
}

fn section(path: &str) -> &'static str {
    match path.split('/').nth(1) {
        Some("issuer") => "issuer",
        Some("wallet") => "wallet",
        Some("verifier") => "verifier",
        Some("registry" | "browse") => "registry",
        Some("resolver") => "resolver",
        Some("operator") => "operator",
        _ => "home",
    }
}

/// A page as a response.
pub fn html(page: &impl Template) -> Handled {
    match page.render() {
        Ok(text) => Ok(Html(text).into_response()),
        Err(error) => Err(selfsame_driver::Error::internal(error).into()),
    }
}

/// An identifier from the API as text for people: `not_yet_valid` becomes "not yet valid".
pub fn words(text: &(impl fmt::Display + ?Sized)) -> String {
    text.to_string().replace('_', " ")
}

/// A reason as a complete sentence.
pub fn sentence(reason: &str) -> String {
    let reason = reason.replace('`', "");
    let mut letters = reason.chars();
    let first = letters.next().map(|first| first.to_uppercase());
    let end = if reason.ends_with(['.', '?', '!']) {
        ""
    } else {
        "."
    };
    match first {
        Some(first) => format!("{first}{}{end}", letters.as_str()),
        None => String::new(),
    }
}

/// A client identifier without its prefix (OpenID4VP 1.0 §5.9.3).
pub fn bare_name(client_id: &str) -> &str {
    let prefixes = [
        "decentralized_identifier:",
        "x509_san_dns:",
        "redirect_uri:",
    ];
    let bare = |prefix: &&str| client_id.strip_prefix(*prefix);
    prefixes.iter().find_map(bare).unwrap_or(client_id)
}

/// An identifier shortened to fit a line: the host of an address, the ends of a DID.
pub fn short_name(identifier: &str) -> String {
    if let Ok(url) = url::Url::parse(identifier)
        && let Some(host) = url.host_str()
    {
        return match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
    }
    let letters: Vec<char> = identifier.chars().collect();
    match (
        letters.get(..22),
        letters.get(letters.len().saturating_sub(8)..),
    ) {
        (Some(start), Some(end)) if letters.len() > 34 => {
            format!(
                "{}…{}",
                start.iter().collect::<String>(),
                end.iter().collect::<String>()
            )
        }
        _ => identifier.to_owned(),
    }
}

#[cfg(test)]
impl Frame {
    /// The frame of a page for a visitor without a session.
    fn nobodys(roles: Roles) -> Self {
        Self {
            title: String::new(),
            section: "wallet",
            here: String::new(),
            form: "token".to_owned(),
            roles,
            registry_elsewhere: false,
            seat: None,
            operator: false,
            person: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_become_sentences() {
        assert_eq!(sentence("this offer is taken"), "This offer is taken.");
        assert_eq!(sentence("Why?"), "Why?");
        assert_eq!(sentence("`up` prints it"), "Up prints it.");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn a_name_is_shown_without_its_prefix() {
        assert_eq!(bare_name("x509_san_dns:a.example"), "a.example");
        assert_eq!(
            bare_name("decentralized_identifier:did:web:a.example"),
            "did:web:a.example"
        );
        assert_eq!(
            bare_name("http://a.example/issuer"),
            "http://a.example/issuer"
        );
    }

    #[test]
    fn long_identifiers_are_shown_by_their_host_or_their_ends() {
        assert_eq!(
            short_name("https://clinic.example/issuer"),
            "clinic.example"
        );
        assert_eq!(short_name("http://127.0.0.1:7380/issuer"), "127.0.0.1:7380");
        let long = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";
        assert_eq!(short_name(long), "did:key:z6MkhaXgBZDvot…EGta2doK");
        assert_eq!(short_name("did:web:a.example"), "did:web:a.example");
    }
}
