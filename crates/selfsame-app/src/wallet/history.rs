//! The history of a wallet: what came from whom, what was shown to whom.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding;
use selfsame_store::Put;
use url::Url;

use super::Wallet;
use crate::accounts::{decode, encode};
use crate::error::{Error, Result};
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
            reason: None,
        })
    }

    /// What did not work out, and why.
    pub fn failed(party: &str, error: &Error) -> Self {
        Self::new("failed", party, Vec::new(), Vec::new()).because(error.reason.clone())
    }

    pub fn is(&self, what: &str) -> bool {
        self.0.what == what
    }

    pub fn because(mut self, reason: String) -> Self {
        self.0.reason = Some(reason);
        self
    }

    pub fn put(mut self, ctx: &Ctx) -> Result<Put> {
        self.0.id = encoding::base64url_encode(&ctx.random::<16>("history/id"));
        self.0.at = ctx.now().rfc3339();
        Ok(Put::new(HISTORY, &self.0.id, encode(&self.0)?))
    }
}

/// Who is meant, where no more is known than where a call went.
pub(super) fn origin_of(url: &Url) -> String {
    url.origin().ascii_serialization()
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
