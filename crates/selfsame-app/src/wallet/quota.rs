//! How much one person may keep. Who adds several things at once may pass a bound by as many.

use selfsame_store::TenantId;

use super::Wallet;
use super::cards::CARD;
use super::keys::NAMED_KEY;
use crate::accounts::PERSON;
use crate::error::{Error, ErrorKind, Result};
use crate::view::wallet::Person;

impl Wallet {
    /// Whether one more key may be made.
    pub(super) async fn has_room_for_a_key(&self, person: &Person) -> Result<()> {
        if !is_bounded(&person.tenant) {
            return Ok(());
        }
        let keys = self.shared.store.weight(&person.tenant, NAMED_KEY).await?;
        match keys.records < self.shared.config.wallet.keys_max {
            true => Ok(()),
            false => Err(full("this wallet has as many keys as it may have")
                .with_hint("use one of those that there are")),
        }
    }

    /// Whether so many more cards may be kept.
    pub(super) async fn has_room_for_cards(&self, person: &Person, more: usize) -> Result<()> {
        if !is_bounded(&person.tenant) {
            return Ok(());
        }
        let config = &self.shared.config.wallet;
        let cards = self.shared.store.weight(&person.tenant, CARD).await?;
        let more = u64::try_from(more).unwrap_or(u64::MAX);
        let fits = cards.records.saturating_add(more) <= config.cards_max;
        match fits && cards.bytes < config.bytes_max {
            true => Ok(()),
            false => Err(full("this wallet is full")
                .with_hint("delete cards that are of no use any more, then take the offer again")),
        }
    }
}

/// People's wallets are; what an organisation keeps in one of its own is not.
fn is_bounded(tenant: &TenantId) -> bool {
    tenant.as_str().starts_with(PERSON)
}

fn full(reason: &str) -> Error {
    Error::new(ErrorKind::Full, reason)
}
