//! The history of a wallet: what came from whom, what was shown to whom.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding;
use selfsame_store::Put;

use super::Wallet;
use crate::accounts::{decode, encode};
use crate::error::Result;
use crate::issuer::{listing, page};
use crate::view::wallet::{HistoryEntry, Person};
use crate::view::{Listing, Paging};

pub(super) const HISTORY: &str = "history";

/// An entry to be written.
pub(super) struct Entry(HistoryEntry);

impl Entry {
    pub fn new(what: &str, party: &str, cards: Vec<String>, claims: Vec<String>) -> Self {
        Self(HistoryEntry {
            id: String::new(),
            at: String::new(),
            what: what.to_owned(),
            party: party.to_owned(),
            cards,
            claims,
        })
    }

    pub fn put(mut self, ctx: &Ctx) -> Result<Put> {
        self.0.id = encoding::base64url_encode(&ctx.random::<16>("history/id"));
        self.0.at = ctx.now().rfc3339();
        Ok(Put::new(HISTORY, &self.0.id, encode(&self.0)?))
    }
}

impl Wallet {
    /// A person's history, newest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn history(&self, person: &Person, paging: &Paging) -> Result<Listing<HistoryEntry>> {
        let records = self
            .shared
            .store
            .list(&person.tenant, HISTORY, &page(paging))
            .await?;
        listing(&records, paging, |record| decode(&record.value))
    }
}
