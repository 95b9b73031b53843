//! Groups of cards by issuer, type and state, and the cards of one group: found in the index.

use selfsame_card_index::{
    CardGroups, CardIndex, CardRow, Grouping, IndexedCard, IndexedCards, groups, page_of,
};
use selfsame_driver::Result;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_store::{Record, TenantId};

use super::search::{CardOrder, WhichCards};
use super::{CARD, CardRecord};
use crate::Wallet;
use crate::view::{CardSummary, Person};

/// The row of a card in the index.
fn row(record: &Record) -> Option<CardRow> {
    let card = CardRecord::read(record).ok()?;
    Some(CardRow {
        seq: record.seq,
        type_name: card.types.last().cloned().unwrap_or_default(),
        title: card.look.display(&card.types).title,
        issuer_name: card.look.issuer_name,
        issuer: card.issuer,
        seen: card.seen,
        expires: card.expires,
    })
}

impl WhichCards {
    /// Whether the index finds these cards.
    pub(super) fn is_a_group(&self) -> bool {
        let has_words = self.q.as_deref().is_some_and(|q| !q.trim().is_empty());
        !has_words && (self.issuer.is_some() || self.state.is_some())
    }
}

impl Wallet {
    /// The groups of a person's cards, the largest first. No card is opened for them.
    ///
    /// # Errors
    /// `BadRequest` for a cursor that was made up; the store's.
    pub async fn card_groups(&self, person: &Person, grouping: &Grouping) -> Result<CardGroups> {
        let cards = self.indexed(&person.tenant).await?;
        groups(&cards, grouping, self.shared.clock.now())
    }

    /// The cards of a group: found in the index, and only those of the page are opened.
    pub(super) async fn cards_of_group(
        &self,
        person: &Person,
        which: &WhichCards,
    ) -> Result<Listing<CardSummary>> {
        let now = self.shared.clock.now();
        let mut fitting = self.indexed(&person.tenant).await?.rows;
        let is = |wanted: Option<&str>, has: &str| wanted.is_none_or(|one| one == has);
        fitting.retain(|IndexedCard { row, .. }| {
            is(which.issuer.as_deref(), &row.issuer) && is(which.state.as_deref(), row.state(now))
        });
        let paging = Paging {
            after: which.after.clone(),
            limit: which.limit,
        };
        let page = page_of(fitting, which.order == Some(CardOrder::Oldest), &paging)?;
        let mut items = Vec::new();
        for id in &page.items {
            // A card that was deleted meanwhile is left out.
            let Some(record) = self.shared.store.read(&person.tenant, CARD, id).await? else {
                continue;
            };
            let mut card = CardRecord::read(&record)?.summary(now);
            let type_name = which.type_name.as_ref();
            if type_name.is_none_or(|name| card.types.contains(name)) {
                self.show_here(&mut card.display).await?;
                items.push(card);
            }
        }
        let next = page.next;
        Ok(Listing { items, next })
    }

    /// The rows of a wallet's cards. Cards of former versions get theirs first, as far as one request does that.
    async fn indexed(&self, tenant: &TenantId) -> Result<IndexedCards> {
        let is_tagged = self.tag_words(tenant).await?;
        let cards = self.card_index().rows(tenant).await?;
        let is_whole = cards.is_whole && is_tagged;
        Ok(IndexedCards { is_whole, ..cards })
    }

    /// The index of cards.
    pub(super) fn card_index(&self) -> CardIndex<'_, impl Fn(&Record) -> Option<CardRow>> {
        CardIndex {
            store: &self.shared.store,
            kind: CARD,
            read: row,
        }
    }
}
