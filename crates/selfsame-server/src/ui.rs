//! The pages: each shows the results of use cases, and decides nothing itself. `selfsame-pages` makes their HTML.

pub mod ask;
pub mod audit;
pub mod home;
pub mod operator;
pub mod organisations;
pub mod people;
pub mod reference;
pub mod registry;
pub mod resolver;
pub mod saved;
pub mod trust;
pub mod types;
pub mod verifier;
pub mod wallet;

use axum::extract::FromRequestParts;
use axum::response::{Html, IntoResponse};
use http::request::Parts;
use selfsame_app::App;
use selfsame_core::organisation::OrganisationName;
use selfsame_endpoints::called::{self, Called};
use selfsame_http::correction;
pub use selfsame_http::listing::ListPosition;
use selfsame_http::origin::CalledOrigin;
use selfsame_ledger::config::RegistryConfig;
use selfsame_operators::Actor;
pub use selfsame_pages::Frame;
use selfsame_pages::Template;
use selfsame_pages::frame::{FrameOrganisation, FrameParts, InstanceRoles, RegistryPlace, Visitor};

use crate::auth::{self, Seat};
use crate::error::{Handled, Problem};
use crate::server::Server;

impl FromRequestParts<Server> for Frame {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, server: &Server) -> Result<Self, Problem> {
        let seat = parts.extensions.get::<Seat>();
        let form = seat.map(|seat| seat.form().to_owned()).unwrap_or_default();
        Ok(Self::new(FrameParts {
            path: parts.uri.path(),
            form,
            here: called::prefix(&parts.extensions),
            instance: instance(server, parts),
            roles: roles(server.app()),
            organisation: organisation(server, parts).await?,
            visitor: visitor(server, parts).await,
        }))
    }
}

/// What the instance's own addresses begin with on a page at another host.
fn instance(server: &Server, parts: &Parts) -> String {
    let elsewhere = parts.extensions.get::<CalledOrigin>();
    elsewhere.map_or_else(String::new, |_| server.origin().as_str().to_owned())
}

async fn visitor(server: &Server, parts: &Parts) -> Visitor {
    match parts.extensions.get::<Seat>() {
        Some(Seat::Operator { authority, .. }) => Visitor::Operator {
            email: email(&authority.actor),
        },
        Some(Seat::Person { person, .. }) => Visitor::Person {
            email: person.email.clone(),
        },
        Some(Seat::Visitor { .. }) => Visitor::Anyone {
            operator: None,
            person: None,
        },
        None => {
            let (operator, person) = auth::signed_in(server, parts).await;
            let operator = operator.map(|authority| email(&authority.actor));
            let operator = operator.map(|email| email.unwrap_or_else(|| "Operator".to_owned()));
            let person = person.map(|person| person.email);
            Visitor::Anyone { operator, person }
        }
    }
}

/// The e-mail address of a person who works for an organisation.
fn email(actor: &Actor) -> Option<String> {
    match actor {
        Actor::Person { email, .. } => Some(email.clone()),
        Actor::Token | Actor::Key { .. } => None,
    }
}

/// The title of an organisation.
async fn title(server: &Server, organisation: &OrganisationName) -> Handled<String> {
    if organisation.is_main() {
        return Ok(server.app().config().issuer.name.clone());
    }
    let found = server.app().organisations().find(organisation).await?;
    Ok(found.map_or_else(|| organisation.to_string(), |found| found.record.title))
}

/// What stands around the pages of the organisation that was called, unless it is the one that every instance has.
async fn organisation(server: &Server, parts: &Parts) -> Handled<Option<FrameOrganisation>> {
    let Some(called) = Called::of(&parts.extensions) else {
        return Ok(None);
    };
    let authority = parts.extensions.get::<Seat>().and_then(Seat::authority);
    let framed = organisations::framed(server, called.name(), authority.map(AsRef::as_ref));
    framed.await.map(Some)
}

fn roles(app: &App) -> InstanceRoles {
    let (config, roles) = (app.config(), &app.config().roles);
    InstanceRoles {
        issuer: roles.issuer,
        wallet: roles.wallet,
        verifier: roles.verifier,
        agent: app.has_agent(&OrganisationName::main()),
        registry: match &config.registry {
            _ if roles.registry => RegistryPlace::Here,
            RegistryConfig::Remote { .. } => RegistryPlace::Elsewhere,
            RegistryConfig::Embedded { .. } | RegistryConfig::None => RegistryPlace::Nowhere,
        },
    }
}

/// A page as a response.
pub fn html(page: &impl Template) -> Handled {
    Ok(Html(selfsame_pages::render(page)?).into_response())
}
