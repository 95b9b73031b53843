//! The wallet's pages: a card, offers, consent, history, keys; each belongs to one person.

pub mod history;
pub mod keys;
pub mod offer;
pub mod request;

use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect, Response};
use selfsame_http::origin::Origin;
use selfsame_pages::wallet::path::PathPage;
use selfsame_pages::wallet::{CardPage, link};
use serde::Deserialize;

use super::Frame;
use super::correction::refused;
use crate::error::{Handled, Problem};
use crate::extract::{Form, Owner, Path, Query};
use crate::server::Server;

/// The first page of a wallet.
const HOME: &str = "/wallet";

/// One card with its claims.
pub async fn card(
    State(server): State<Server>,
    frame: Frame,
    Owner(person): Owner,
    Path(id): Path<String>,
) -> Handled {
    let card = server.wallet()?.card(&person, &id).await?;
    super::html(&CardPage::of(frame, card, &server.app().config().origin))
}

/// The address of a credential that a person wants.
#[derive(Deserialize)]
pub struct PathQuery {
    to: Option<String>,
}

/// The way to a credential, across issuers.
pub async fn path(
    State(server): State<Server>,
    frame: Frame,
    Owner(person): Owner,
    Query(asked): Query<PathQuery>,
) -> Handled {
    let Some(to) = asked.to else {
        return super::html(&PathPage::empty(frame));
    };
    match server.wallet()?.path(&person, to.trim()).await {
        Ok(path) => super::html(&PathPage::of(frame, path)),
        Err(error) => {
            let problem = Problem::from(error);
            let told = problem.told().text;
            let page = super::html(&PathPage::refused(frame, &to, told))?;
            Ok(refused(&problem, page))
        }
    }
}

/// Checks the status of the cards, which the list then shows.
pub async fn check(State(server): State<Server>, Owner(person): Owner) -> Handled {
    server.wallet()?.check_cards(&person).await?;
    Ok(Redirect::to("/wallet?done=checked").into_response())
}

/// Removes a card.
pub async fn delete_card(
    State(server): State<Server>,
    Owner(person): Owner,
    Path(id): Path<String>,
) -> Handled {
    server.wallet()?.delete_card(&person, &id).await?;
    Ok(Redirect::to("/wallet?done=removed").into_response())
}

/// Takes any link that the person received, and redirects to the page that handles it.
pub async fn open(State(server): State<Server>, form: Form) -> Handled {
    let uri = form.needed("uri")?;
    let within = within(uri, server.origin());
    let uri = within.as_deref().unwrap_or(uri);
    let scheme = uri
        .split(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let page = match scheme.as_str() {
        "openid-credential-offer" | "haip-vci" => "/wallet/offer",
        "openid4vp" | "haip-vp" => "/wallet/request",
        _ if uri.contains("credential_offer") => "/wallet/offer",
        _ if uri.contains("request_uri") || uri.contains("dcql_query") => "/wallet/request",
        "https" | "http" if uri.contains("/get/") => return Ok(way(uri)),
        _ => {
            return Err(Problem::bad_request("link-unknown"));
        }
    };
    Ok(Redirect::to(&link(page, uri)).into_response())
}

/// Leads to the way to the credential that is got at this address.
fn way(address: &str) -> Response {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    let query = query.append_pair("to", address).finish();
    Redirect::to(&format!("/wallet/path?{query}")).into_response()
}

/// The link inside one of this wallet's own addresses: people copy these from the address bar.
fn within(uri: &str, origin: &Origin) -> Option<String> {
    let url = url::Url::parse(uri).ok()?;
    let ours = url.origin().ascii_serialization() == origin.as_str();
    let page = matches!(url.path(), "/wallet/offer" | "/wallet/request");
    let mut members = url.query_pairs().filter(|_| ours && page);
    members
        .find(|(name, _)| name == "uri")
        .map(|(_, link)| link.into_owned())
}
