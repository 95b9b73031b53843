//! The search of cards: by words of their title and their issuer, and by type, all of which are found by tags. Groups are
//! found in the index.

use selfsame_book::text::words;
use selfsame_card_index::UNCHECKED;
use selfsame_driver::Result;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_store::{Page, Record, Tag, TenantId};
use serde::Deserialize;
use utoipa::IntoParams;

use super::{CARD, CardRecord};
use crate::Wallet;
use crate::view::{CardSummary, Person};

/// The words by which a card is found.
const WORDS_MAX: usize = 12;
/// The cards that one request looks through at most; a next page goes on after them.
const LOOKED_AT: usize = 2_000;
/// The fewest cards that are read at a time.
const READ_MIN: usize = 20;
/// Portions of cards of former versions that get their tags before a search.
const RETAGGED_MAX: usize = 10;

/// Which cards to list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct WhichCards {
    /// Only cards whose title and issuer have all these words, without regard to case and accents.
    pub q: Option<String>,
    /// Only cards of this type: a `vct`, or a W3C type.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    /// Only cards of this issuer, by its identifier.
    pub issuer: Option<String>,
    /// Only cards with this status when it was last checked: `valid`, `revoked`, `suspended`, `expired`, `unchecked` and so
    /// on, as the groups by state have them.
    pub state: Option<String>,
    /// `oldest` for the cards in the order in which they were received; the newest come first without it.
    pub order: Option<CardOrder>,
    /// The `next` of the previous page.
    pub after: Option<String>,
    /// Maximum number of entries; 50 by default, 200 at most.
    #[serde(default, deserialize_with = "selfsame_driver::paging::at_least_one")]
    #[param(minimum = 1)]
    pub limit: Option<usize>,
}

/// The order of cards.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CardOrder {
    /// The card that was received last comes first.
    Newest,
    /// The card that was received first comes first.
    Oldest,
}

impl CardRecord {
    /// The tags of its words.
    pub(super) fn word_tags(&self) -> impl Iterator<Item = Tag> {
        self.words().into_iter().take(WORDS_MAX).map(of_word)
    }

    fn words(&self) -> Vec<String> {
        let title = self.look.display(&self.types).title;
        let issuer = self.look.issuer_name.as_deref();
        words(&format!("{title} {}", issuer.unwrap_or(&self.issuer)))
    }
}

impl Wallet {
    /// The cards of a person that fit. A page can have fewer entries than asked for, and a next page.
    ///
    /// # Errors
    /// `BadRequest` for a cursor that was made up; the store's.
    pub async fn find_cards(
        &self,
        person: &Person,
        which: &WhichCards,
    ) -> Result<Listing<CardSummary>> {
        if which.is_a_group() {
            return self.cards_of_group(person, which).await;
        }
        let sought = words(which.q.as_deref().unwrap_or_default());
        // The longest word is that of the fewest cards, as a rule.
        let rarest = sought.iter().max_by_key(|word| word.chars().count());
        let tag = match (rarest, &which.type_name) {
            (Some(word), _) => Some(of_word(word.clone())),
            (None, Some(name)) => Some(Tag::hashed("type", name.clone())),
            (None, None) => None,
        };
        if rarest.is_some() {
            self.tag_words(&person.tenant).await?;
        }
        let mut paging = Paging {
            after: which.after.clone(),
            limit: which.limit,
        };
        let (room, now) = (paging.limit(), self.shared.clock.now());
        let (mut items, mut looked) = (Vec::new(), 0_usize);
        let next = loop {
            paging.limit = Some(room.saturating_sub(items.len()));
            let page = ordered(which.order, &paging);
            let records = self.read_cards(person, tag.as_ref(), &page).await?;
            let listed = listing(&records, &paging, CardRecord::read)?;
            looked = looked.saturating_add(listed.items.len());
            let fitting = listed.items.into_iter();
            let fitting = fitting.filter(|card| fits(card, which, &sought));
            let fitting = fitting.map(|card| card.summary(now));
            items.extend(fitting.filter(|card| is_in_state(card, which)));
            let is_full = room.saturating_sub(items.len()) < READ_MIN.min(room);
            if listed.next.is_none() || is_full || looked >= LOOKED_AT {
                break listed.next;
            }
            paging.after = listed.next;
        };
        for card in &mut items {
            self.show_here(&mut card.display).await?;
        }
        Ok(Listing { items, next })
    }

    async fn read_cards(
        &self,
        person: &Person,
        tag: Option<&Tag>,
        page: &Page,
    ) -> Result<Vec<Record>> {
        let store = &self.shared.store;
        Ok(match tag {
            Some(tag) => store.find(&person.tenant, CARD, tag, page).await?,
            None => store.list(&person.tenant, CARD, page).await?,
        })
    }

    /// Gives cards of former versions their tags, as far as one request does that; whether all have them.
    pub(super) async fn tag_words(&self, tenant: &TenantId) -> Result<bool> {
        for _ in 0..RETAGGED_MAX {
            if self.is_tagged(tenant).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn ordered(order: Option<CardOrder>, paging: &Paging) -> Page {
    Page {
        newest_first: order != Some(CardOrder::Oldest),
        ..page(paging)
    }
}

/// The tag of the cards with this word.
fn of_word(word: String) -> Tag {
    Tag::hashed("word", word)
}

fn fits(card: &CardRecord, which: &WhichCards, sought: &[String]) -> bool {
    let has = card.words();
    sought.iter().all(|word| has.contains(word))
        && which
            .type_name
            .as_ref()
            .is_none_or(|name| card.types.contains(name))
        && (which.issuer.as_ref()).is_none_or(|issuer| card.issuer == *issuer)
}

fn is_in_state(card: &CardSummary, which: &WhichCards) -> bool {
    let state = card.status.as_deref().unwrap_or(UNCHECKED);
    which.state.as_deref().is_none_or(|wanted| wanted == state)
}
