//! The wallet's pages: cards, offers, consent, history, keys; each belongs to one person.

pub mod history;
pub mod keys;
pub mod offer;
pub mod request;
pub mod sign_in;

use askama::Template;
use selfsame_credential::Format;
use selfsame_driver::paging::Listing;
use selfsame_wallet::view::{Card, CardSummary, Display};
use url::Url;

use crate::Frame;
use crate::look::CardLook;
use crate::text::short_name;

/// How a card looks.
struct CardFace {
    id: String,
    look: CardLook,
    title: String,
    kind: String,
    issuer: String,
}

impl CardFace {
    fn of(card: &CardSummary, own: &Url) -> Self {
        Self {
            id: card.id.clone(),
            look: look(&card.display, own),
            title: card.display.title.clone(),
            kind: format_name(&card.format).to_owned(),
            issuer: (card.issuer_name.clone()).unwrap_or_else(|| short_name(&card.issuer)),
        }
    }
}

/// The look of a card. Its logo is shown only if this instance has it: nothing is loaded from elsewhere.
fn look(display: &Display, own: &Url) -> CardLook {
    let address = display
        .logo
        .as_deref()
        .and_then(|logo| Url::parse(logo).ok());
    let logo = address.filter(|logo| logo.origin() == own.origin());
    CardLook {
        icon: display.icon.clone().unwrap_or_default(),
        logo: logo.map(|logo| logo.path().to_owned()).unwrap_or_default(),
        ..CardLook::of(display.color.as_deref(), display.text_color.as_deref())
    }
}

/// The cards.
#[derive(Template)]
#[template(path = "wallet.html")]
pub struct WalletPage {
    frame: Frame,
    done: Option<&'static str>,
    cards: Vec<CardFace>,
    next: Option<String>,
}

/// Where and when the cards are shown.
pub struct CardsShown<'a> {
    /// The action after which they are shown.
    pub done: Option<&'a str>,
    /// The origin of the instance.
    pub own: &'a Url,
}

impl WalletPage {
    /// The page with these cards.
    pub fn of(frame: Frame, cards: Listing<CardSummary>, at: &CardsShown<'_>) -> Self {
        let CardsShown { done, own } = at;
        Self {
            frame: frame.titled("Your wallet"),
            done: match done {
                Some("accepted") => Some("It is in your wallet now."),
                Some("removed") => Some("The card was removed."),
                _ => None,
            },
            cards: cards
                .items
                .iter()
                .map(|card| CardFace::of(card, own))
                .collect(),
            next: cards.next,
        }
    }
}

/// One card with its claims.
#[derive(Template)]
#[template(path = "wallet_card.html")]
pub struct CardPage {
    frame: Frame,
    face: CardFace,
    card: Card,
}

impl CardPage {
    /// The page of this card of an instance with this origin.
    pub fn of(frame: Frame, card: Card, own: &Url) -> Self {
        let face = CardFace::of(&card.summary, own);
        Self {
            frame: frame.titled(&face.title),
            face,
            card,
        }
    }
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
