//! Limits on what one person may keep. A person who adds several things at once may exceed a limit by that number.

use std::sync::Arc;

use selfsame_accounts::PERSON;
use selfsame_crypto::KeyHandle;
use selfsame_driver::keys::{KIND as KEY, Keys};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Page, Record, TenantId};

use crate::cards::CARD;
use crate::config::WalletConfig;
use crate::keys::NAMED_KEY;
use crate::view::Person;
use selfsame_core::Shared;

/// Offers, and answers, that may be in progress at once.
const FLOWS_MAX: u64 = 32;
/// Entries beyond a limit are removed in portions of this size.
const REMOVED_AT_ONCE: u64 = 500;

/// Records of one kind with a maximum number: adding one beyond it removes the oldest.
pub(super) struct Shelf {
    pub kind: &'static str,
    pub most: u64,
}

/// The limits on what people keep.
pub(super) struct Quotas {
    shared: Arc<Shared>,
    config: WalletConfig,
}

impl Quotas {
    pub fn new(shared: Arc<Shared>, config: WalletConfig) -> Self {
        Self { shared, config }
    }

    /// Checks that one more key may be created.
    pub(super) async fn has_room_for_a_key(&self, person: &Person) -> Result<()> {
        let keys_max = self.config.keys_max.most();
        let Some(most) = keys_max.filter(|_| is_bounded(&person.tenant)) else {
            return Ok(());
        };
        let store = &self.shared.store;
        let keys = store.count(&person.tenant, NAMED_KEY, most).await?;
        match keys < most {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Full, "wallet-keys-full")),
        }
    }

    /// Checks that `more` further cards may be kept.
    pub(super) async fn has_room_for_cards(&self, person: &Person, more: usize) -> Result<()> {
        let config = &self.config;
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
            false => Err(Error::new(ErrorKind::Full, "wallet-full")),
        }
    }

    /// Checks that one more flow of this kind may begin: a flow is kept as long as the other side does not answer.
    pub(super) async fn has_room_for_a_flow(&self, person: &Person, kind: &str) -> Result<()> {
        if !self.counts_what_is_kept_of(&person.tenant) {
            return Ok(());
        }
        let store = &self.shared.store;
        let flows = store.count(&person.tenant, kind, FLOWS_MAX).await?;
        if flows < FLOWS_MAX {
            return Ok(());
        }
        let kind = ErrorKind::TooMany { retry_after: 60 };
        Err(Error::new(kind, "wallet-calls-waiting"))
    }

    /// A batch that makes room for one more record on a shelf, by removing the oldest.
    pub(super) async fn room_on(&self, tenant: &TenantId, shelf: &Shelf) -> Result<Batch> {
        let batch = Batch::new(tenant.clone());
        if !self.counts_what_is_kept_of(tenant) {
            return Ok(batch);
        }
        let Shelf { kind, most } = *shelf;
        let counted = most.saturating_add(REMOVED_AT_ONCE);
        let kept = self.shared.store.count(tenant, kind, counted).await?;
        let beyond = usize::try_from(kept.saturating_add(1).saturating_sub(most)).unwrap_or(0);
        if beyond == 0 {
            return Ok(batch);
        }
        let oldest = self
            .shared
            .store
            .list(tenant, kind, &Page::first(beyond))
            .await?;
        let without = |batch: Batch, record: &Record| batch.delete(kind, &record.id);
        Ok(oldest.iter().fold(batch, without))
    }

    /// Whether limits apply besides that on cards, which has its own settings: if cards are unlimited, all else is too.
    fn counts_what_is_kept_of(&self, tenant: &TenantId) -> bool {
        is_bounded(tenant) && self.config.cards_max.most().is_some()
    }
}

/// The batch with the deletion of these keys, which no card is bound to.
pub(super) fn without_keys(
    keys: &Keys,
    batch: Batch,
    tenant: &TenantId,
    unused: &[KeyHandle],
) -> Batch {
    unused.iter().fold(batch, |batch, key| {
        keys.forget(tenant, key);
        batch.delete(KEY, key.as_str())
    })
}

/// Limits apply to people's wallets, not to what an organisation keeps in a wallet of its own.
fn is_bounded(tenant: &TenantId) -> bool {
    tenant.as_str().starts_with(PERSON)
}
