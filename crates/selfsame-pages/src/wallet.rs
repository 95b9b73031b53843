//! The wallet's pages: cards, offers, consent, history, keys; each belongs to one person.

pub mod groups;
pub mod history;
pub mod keys;
pub mod offer;
pub mod page;
pub mod path;
pub mod request;
pub mod sign_in;

use askama::Template;
use selfsame_card_index::GroupBy;
use selfsame_credential::Format;
use selfsame_driver::paging::Listing;
use selfsame_wallet_view::cards::{Card, CardSummary, Display, PreparedCredential};
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
    /// What is wrong with it, as far as is known.
    over: Option<String>,
}

/// The statuses of cards that verifiers do not accept.
const OVER: [&str; 4] = ["revoked", "suspended", "spent", "expired"];

impl CardFace {
    fn of(card: &CardSummary, own: &Url) -> Self {
        Self {
            id: card.id.clone(),
            look: look(&card.display, own),
            title: card.display.title.clone(),
            kind: format_name(&card.format).to_owned(),
            issuer: (card.issuer_name.clone()).unwrap_or_else(|| short_name(&card.issuer)),
            over: card
                .status
                .clone()
                .filter(|status| OVER.contains(&&**status)),
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
    /// The cards that no verifier accepts.
    over: Vec<CardFace>,
    /// The credentials that their issuers still prepare.
    preparing: Vec<PreparedCredential>,
    cards: Vec<CardFace>,
    next: Option<String>,
    sought: String,
    group: Option<ShownGroup>,
}

/// Where and when the cards are shown.
pub struct CardsShown<'a> {
    /// The action after which they are shown.
    pub done: Option<&'a str>,
    /// The words that they are searched for.
    pub sought: &'a str,
    /// The group that they are of, if they are of one.
    pub group: Option<ShownGroup>,
    /// The origin of the instance.
    pub own: &'a Url,
}

/// The group whose cards are shown.
#[derive(Clone)]
pub struct ShownGroup {
    /// What its cards have in common.
    pub by: GroupBy,
    /// The issuer, the type or the state.
    pub key: String,
}

impl ShownGroup {
    /// What its cards have in common, in words.
    fn words(&self) -> String {
        match self.by {
            GroupBy::Issuer => short_name(&self.key),
            GroupBy::Type => self.key.clone(),
            GroupBy::State => crate::text::words(&self.key),
        }
    }

    /// The part of a query that asks for its cards.
    fn query(&self) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.append_pair(self.by.as_str(), &self.key).finish()
    }
}

impl WalletPage {
    /// The page with these cards.
    pub fn of(frame: Frame, cards: Listing<CardSummary>, at: &CardsShown<'_>) -> Self {
        let CardsShown {
            done,
            sought,
            group,
            own,
        } = at;
        let faces = cards.items.iter().map(|card| CardFace::of(card, own));
        let (over, good) = faces.partition(|face: &CardFace| face.over.is_some());
        Self {
            frame: frame.titled("Your wallet"),
            done: match done {
                Some("accepted") => Some("It is in your wallet now."),
                Some("removed") => Some("The card was removed."),
                Some("checked") => Some("The status of your cards was checked."),
                _ => None,
            },
            over,
            preparing: Vec::new(),
            cards: good,
            next: cards.next,
            sought: (*sought).to_owned(),
            group: group.clone(),
        }
    }

    /// With the credentials that their issuers still prepare.
    #[must_use]
    pub fn preparing(self, preparing: Vec<PreparedCredential>) -> Self {
        Self { preparing, ..self }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn page(statuses: &[Option<&str>]) -> String {
        let own = Url::parse("https://wallet.example").unwrap();
        let card = |(number, status): (usize, &Option<&str>)| CardSummary {
            id: format!("card-{number}"),
            display: Display {
                title: "Ticket".to_owned(),
                color: None,
                text_color: None,
                logo: None,
                icon: None,
            },
            issuer: "did:web:issuer.example".to_owned(),
            issuer_name: None,
            format: "dc+sd-jwt".to_owned(),
            types: Vec::new(),
            added: "2026-01-01T00:00:00Z".to_owned(),
            expires: None,
            status: status.map(str::to_owned),
        };
        let cards = Listing {
            items: statuses.iter().enumerate().map(card).collect(),
            next: None,
        };
        let shown = CardsShown {
            done: None,
            sought: "",
            group: None,
            own: &own,
        };
        let page = WalletPage::of(Frame::of_visitor(), cards, &shown);
        page.render().unwrap()
    }

    #[test]
    fn a_card_that_is_being_prepared_is_shown_with_the_time_of_the_next_look() {
        let own = Url::parse("http://localhost:7380").unwrap();
        let shown = CardsShown {
            done: None,
            sought: "",
            group: None,
            own: &own,
        };
        let cards = Listing {
            items: Vec::new(),
            next: None,
        };
        let preparing = PreparedCredential {
            issuer: "https://issuer.example".to_owned(),
            display: Display {
                title: "Criminal <record>".to_owned(),
                color: None,
                text_color: None,
                logo: None,
                icon: None,
            },
            next_look: "2026-01-02T03:04:05Z".to_owned(),
        };
        let page = WalletPage::of(Frame::of_visitor(), cards, &shown).preparing(vec![preparing]);
        let page = page.render().unwrap();
        assert!(page.contains("Still being prepared"), "{page}");
        assert!(
            page.contains("2026-01-02T03:04:05Z") && page.contains("issuer.example"),
            "{page}"
        );
        assert!(!page.contains("<record>"), "{page}");
    }

    #[test]
    fn cards_that_no_verifier_accepts_come_first_with_a_badge_and_greyed() {
        let shown = page(&[None, Some("revoked"), Some("valid"), Some("unknown")]);
        let (over, good) = shown.split_once("aria-label=\"Cards\"").unwrap();
        assert!(over.contains("Needs attention"), "{over}");
        assert!(
            over.contains("badge is-revoked") && over.contains("is-over"),
            "{over}"
        );
        assert!(
            over.contains("card-1") && !good.contains("card-1"),
            "{good}"
        );
        assert!(
            !good.contains("badge") && !good.contains("is-over"),
            "{good}"
        );
        for card in ["card-0", "card-2", "card-3"] {
            assert!(good.contains(card), "{good}");
        }
        for status in OVER {
            assert!(page(&[Some(status)]).contains(&format!("badge is-{status}")));
        }
        assert!(!page(&[Some("valid")]).contains("Needs attention"));
    }
}
