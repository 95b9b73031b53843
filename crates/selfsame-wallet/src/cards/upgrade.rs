//! Gives the cards of former versions the tags and the notes by which they are found now, wallet by wallet, when a wallet
//! is first looked through.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_store::{Batch, Expect, Page, Put, Record, StoreError, TenantId};
use serde::{Deserialize, Serialize};

use super::{CARD, CardRecord, tags};
use crate::Wallet;

/// The kind and the id of the record that says how far the cards of a wallet have these tags. New tags need a new id.
const TAGGED: &str = "card_tags";
const VERSION: &str = "4";
/// Cards that get their tags in one commit.
const PORTION: usize = 500;
/// Portions of one pass. The next request goes on.
const PORTIONS: usize = 4;

/// How far the cards of a wallet have their tags.
#[derive(Default, Deserialize, Serialize)]
struct TaggedCards {
    /// The cursor of the last card that has them.
    after: Option<String>,
    /// Whether all have them. Cards that are added later have them from the start.
    done: bool,
}

/// Wallets that are remembered to have their tags. Beyond it, all are looked up again.
const REMEMBERED: usize = 10_000;

/// The work of this process on cards of former versions.
#[derive(Default)]
pub(crate) struct Retagged {
    /// How many cards got their tags since the start.
    cards: AtomicU64,
    /// Wallets whose cards all have their tags.
    wallets: Mutex<HashSet<TenantId>>,
}

impl Retagged {
    fn add(&self, count: usize) {
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        self.cards.fetch_add(count, Ordering::Relaxed);
    }

    fn knows(&self, tenant: &TenantId) -> bool {
        let wallets = self.wallets.lock().unwrap_or_else(PoisonError::into_inner);
        wallets.contains(tenant)
    }

    fn remember(&self, tenant: &TenantId) {
        let mut wallets = self.wallets.lock().unwrap_or_else(PoisonError::into_inner);
        if wallets.len() >= REMEMBERED {
            wallets.clear();
        }
        wallets.insert(tenant.clone());
    }
}

impl Wallet {
    /// How many cards of former versions got their tags since the start.
    #[must_use]
    pub fn cards_retagged(&self) -> u64 {
        self.retagged.cards.load(Ordering::Relaxed)
    }

    /// Whether all cards of a wallet have their tags. If not, the next ones get theirs.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn is_tagged(&self, tenant: &TenantId) -> Result<bool> {
        if self.retagged.knows(tenant) {
            return Ok(true);
        }
        let store = &self.shared.store;
        for _ in 0..PORTIONS {
            let marker = store.read(tenant, TAGGED, VERSION).await?;
            let read = |marker: &Record| decode::<TaggedCards>(&marker.value);
            let known = marker.as_ref().map(read).transpose()?.unwrap_or_default();
            if known.done {
                self.retagged.remember(tenant);
                return Ok(true);
            }
            match self.retag(tenant, marker.as_ref(), known).await {
                // A request that runs beside this one did the same, or has changed one of the cards.
                Ok(()) | Err(StoreError::Conflict { .. }) => {}
                Err(other) => return Err(other.into()),
            }
        }
        Ok(false)
    }

    /// Gives the next portion of cards their tags.
    async fn retag(
        &self,
        tenant: &TenantId,
        marker: Option<&Record>,
        known: TaggedCards,
    ) -> std::result::Result<(), StoreError> {
        let page = Page::first(PORTION);
        let page = match known.after {
            Some(after) => page.after(after),
            None => page,
        };
        let records = self.shared.store.list(tenant, CARD, &page).await?;
        let mut batch = Batch::new(tenant.clone());
        for record in &records {
            if let Some(put) = tagged(record) {
                let version = Expect::Version(record.version);
                batch = batch.expect(CARD, &record.id, version).put(put);
                let note = selfsame_card_index::note(&record.id);
                batch = batch.put(note.map_err(|_| StoreError::Malformed("card note"))?);
            }
        }
        let reached = TaggedCards {
            after: records.last().map(Record::cursor),
            done: records.len() < PORTION,
        };
        let expected = marker.map_or(Expect::Absent, |marker| Expect::Version(marker.version));
        let value = encode(&reached).map_err(|_| StoreError::Malformed("card tags"))?;
        let batch = batch
            .expect(TAGGED, VERSION, expected)
            .put(Put::new(TAGGED, VERSION, value))
            .deferred();
        self.shared.store.commit(batch).await?;
        self.retagged.add(records.len());
        Ok(())
    }
}

/// The card with its tags; `None` for one that can't be read, which no request finds.
fn tagged(record: &Record) -> Option<Put> {
    let mut card = CardRecord::read(record).ok()?;
    card.authorities = card.held().map(|held| tags::authorities(&held)).ok()?;
    card.put().ok()
}
