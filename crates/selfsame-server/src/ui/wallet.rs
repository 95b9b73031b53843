//! The wallet's pages: cards, offers, consent, history, keys; each belongs to one person.

pub mod history;
pub mod keys;
pub mod offer;
pub mod request;
pub mod sign_in;

use askama::Template;
use axum::extract::State;
use axum::response::{IntoResponse as _, Redirect};
use selfsame_credential::Format;
use selfsame_http::origin::Origin;
use selfsame_wallet::view::{Card, CardSummary, Display};
use serde::Deserialize;

use super::{Frame, hue, short_name};
use crate::error::{Handled, Problem};
use crate::extract::{Form, Owner, Path, Query};
use crate::server::Server;

/// The first page of a wallet.
const HOME: &str = "/wallet";

/// How a card looks.
pub struct CardFace {
    id: String,
    hue: &'static str,
    icon: String,
    title: String,
    kind: String,
    issuer: String,
}

impl CardFace {
    fn of(card: &CardSummary) -> Self {
        let Display { title, color, icon } = &card.display;
        Self {
            id: card.id.clone(),
            hue: hue::of(color.as_deref().unwrap_or_default()),
            icon: icon.clone().unwrap_or_default(),
            title: title.clone(),
            kind: format_name(&card.format).to_owned(),
            issuer: (card.issuer_name.clone()).unwrap_or_else(|| short_name(&card.issuer)),
        }
    }
}

#[derive(Template)]
#[template(path = "wallet.html")]
struct WalletPage {
    frame: Frame,
    tab: &'static str,
    done: Option<&'static str>,
    cards: Vec<CardFace>,
    next: Option<String>,
}

#[derive(Template)]
#[template(path = "wallet_card.html")]
struct CardPage {
    frame: Frame,
    face: CardFace,
    card: Card,
}

/// Where the list continues, and the action just completed.
#[derive(Deserialize)]
pub struct WalletPosition {
    after: Option<String>,
    #[serde(default, deserialize_with = "selfsame_driver::paging::at_least_one")]
    limit: Option<usize>,
    done: Option<String>,
}

/// The cards.
pub async fn page(
    State(server): State<Server>,
    frame: Frame,
    Owner(person): Owner,
    Query(at): Query<WalletPosition>,
) -> Handled {
    let paging = selfsame_driver::paging::Paging {
        after: at.after,
        limit: at.limit,
    };
    let listed = server.wallet()?.cards(&person, &paging).await?;
    let done = match at.done.as_deref() {
        Some("accepted") => Some("It is in your wallet now."),
        Some("removed") => Some("The card was removed."),
        _ => None,
    };
    let cards = listed.items.iter().map(CardFace::of).collect();
    super::html(&WalletPage {
        frame: frame.titled("Your wallet"),
        tab: "cards",
        done,
        cards,
        next: listed.next,
    })
}

/// One card with its claims.
pub async fn card(
    State(server): State<Server>,
    frame: Frame,
    Owner(person): Owner,
    Path(id): Path<String>,
) -> Handled {
    let card = server.wallet()?.card(&person, &id).await?;
    let face = CardFace::of(&card.summary);
    super::html(&CardPage {
        frame: frame.titled(&face.title),
        face,
        card,
    })
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
        "openid-credential-offer" => "/wallet/offer",
        "openid4vp" => "/wallet/request",
        _ if uri.contains("credential_offer") => "/wallet/offer",
        _ if uri.contains("request_uri") || uri.contains("dcql_query") => "/wallet/request",
        _ => {
            return Err(Problem::bad_request("link-unknown"));
        }
    };
    Ok(Redirect::to(&link(page, uri)).into_response())
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

/// The address of this wallet's page that takes a link.
pub fn link(page: &str, uri: &str) -> String {
    let uri: String = url::form_urlencoded::byte_serialize(uri.as_bytes()).collect();
    format!("{page}?uri={uri}")
}

/// A format's name for people.
fn format_name(format: &str) -> &str {
    let known = format.parse::<Format>();
    known.map_or(format, |format| format.describe().title)
}
