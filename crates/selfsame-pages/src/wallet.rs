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

use crate::text::short_name;
use crate::{Frame, hue};

/// How a card looks.
struct CardFace {
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

/// The cards.
#[derive(Template)]
#[template(path = "wallet.html")]
pub struct WalletPage {
    frame: Frame,
    done: Option<&'static str>,
    cards: Vec<CardFace>,
    next: Option<String>,
}

impl WalletPage {
    /// The page with these cards, after the action that `done` names.
    pub fn of(frame: Frame, cards: Listing<CardSummary>, done: Option<&str>) -> Self {
        Self {
            frame: frame.titled("Your wallet"),
            done: match done {
                Some("accepted") => Some("It is in your wallet now."),
                Some("removed") => Some("The card was removed."),
                _ => None,
            },
            cards: cards.items.iter().map(CardFace::of).collect(),
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
    /// The page of this card.
    pub fn of(frame: Frame, card: Card) -> Self {
        let face = CardFace::of(&card.summary);
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
