//! How much one person may keep. Who adds several things at once may pass a bound by as many.

use selfsame_crypto::KeyHandle;
use selfsame_store::{Batch, Page, Record, TenantId};

use super::Wallet;
use super::cards::CARD;
use super::keys::NAMED_KEY;
use crate::accounts::PERSON;
use crate::error::{Error, ErrorKind, Result};
use crate::shared::Shared;
use crate::view::wallet::Person;

/// Offers, and answers, that are under way at once.
const FLOWS_MAX: u64 = 32;
/// What is over its bound is removed in portions of so many.
const REMOVED_AT_ONCE: u64 = 500;

/// What is kept of one kind: where one more comes the oldest goes.
pub(super) struct Shelf {
    pub kind: &'static str,
    pub most: u64,
}

impl Wallet {
    /// Whether one more key may be made.
    pub(super) async fn has_room_for_a_key(&self, person: &Person) -> Result<()> {
        let keys_max = self.shared.config.wallet.keys_max.most();
        let Some(most) = keys_max.filter(|_| is_bounded(&person.tenant)) else {
            return Ok(());
        };
        let store = &self.shared.store;
        let keys = store.weight(&person.tenant, NAMED_KEY, most).await?;
        match keys.records < most {
            true => Ok(()),
            false => Err(full("this wallet has reached its maximum of keys")
                .with_hint("use an existing key")),
        }
    }

    /// Whether so many more cards may be kept.
    pub(super) async fn has_room_for_cards(&self, person: &Person, more: usize) -> Result<()> {
        let config = &self.shared.config.wallet;
        let (cards_max, bytes_max) = (config.cards_max.most(), config.bytes_max.most());
        if !is_bounded(&person.tenant) || (cards_max.is_none() && bytes_max.is_none()) {
            return Ok(());
        }
        let cards_max = cards_max.unwrap_or(u64::MAX);
        let store = &self.shared.store;
        let cards = store.weight(&person.tenant, CARD, cards_max).await?;
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        let fits = cards.records.saturating_add(more) <= cards_max;
        match fits && bytes_max.is_none_or(|most| cards.bytes < most) {
            true => Ok(()),
            false => Err(full("this wallet is full")
                .with_hint("delete cards that you no longer need, then accept the offer again")),
        }
    }

    /// Whether one more flow of this kind may begin: each is kept for as long as the other side gives no answer.
    pub(super) async fn has_room_for_a_flow(&self, person: &Person, kind: &str) -> Result<()> {
        if !self.shared.counts_what_is_kept_of(&person.tenant) {
            return Ok(());
        }
        let store = &self.shared.store;
        let flows = store.weight(&person.tenant, kind, FLOWS_MAX).await?;
        if flows.records < FLOWS_MAX {
            return Ok(());
        }
        let kind = ErrorKind::TooMany { retry_after: 60 };
        let reason = "too many calls of this wallet wait for hosts that do not respond";
        Err(Error::new(kind, reason)
            .with_hint("the history will show the results; try again later"))
    }
}

impl Shared {
    /// A batch that makes room for one more on a shelf, by removing the oldest.
    pub(super) async fn room_on(&self, tenant: &TenantId, shelf: &Shelf) -> Result<Batch> {
        let batch = Batch::new(tenant.clone());
        if !self.counts_what_is_kept_of(tenant) {
            return Ok(batch);
        }
        let Shelf { kind, most } = *shelf;
        let counted = most.saturating_add(REMOVED_AT_ONCE);
        let kept = self.store.weight(tenant, kind, counted).await?.records;
        let beyond = usize::try_from(kept.saturating_add(1).saturating_sub(most)).unwrap_or(0);
        if beyond == 0 {
            return Ok(batch);
        }
        let oldest = self.store.list(tenant, kind, &Page::first(beyond)).await?;
        let without = |batch: Batch, record: &Record| batch.delete(kind, &record.id);
        Ok(oldest.iter().fold(batch, without))
    }

    /// The batch with the end of these keys, which nothing is bound to.
    pub(super) fn without_keys(
        &self,
        batch: Batch,
        tenant: &TenantId,
        keys: &[KeyHandle],
    ) -> Batch {
        keys.iter().fold(batch, |batch, key| {
            self.keys.forget(tenant, key);
            batch.delete(crate::keys::KIND, key.as_str())
        })
    }

    /// Beside cards, whose number has settings of its own: where they are unlimited, so is the rest.
    fn counts_what_is_kept_of(&self, tenant: &TenantId) -> bool {
        is_bounded(tenant) && self.config.wallet.cards_max.most().is_some()
    }
}

/// People's wallets are; what an organisation keeps in one of its own is not.
fn is_bounded(tenant: &TenantId) -> bool {
    tenant.as_str().starts_with(PERSON)
}

fn full(reason: &str) -> Error {
    Error::new(ErrorKind::Full, reason)
}
