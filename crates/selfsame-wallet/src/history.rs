//! The history of a wallet: what was received from whom, and what was shown to whom.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding;
use selfsame_did::Did;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Reason, Result};
use selfsame_openid_view::uses::CredentialUse;
use selfsame_store::Put;
use url::Url;

use crate::Wallet;
use crate::quota::Shelf;
use crate::view::{HistoryEntry, OneUse, Person};
use selfsame_core::registry::UseKey;

pub(super) const HISTORY: &str = "history";
/// Number of entries kept (slightly more is possible): room is made when a flow begins that will add an entry.
pub(super) const KEPT: Shelf = Shelf {
    kind: HISTORY,
    most: 2_000,
};

/// An entry to be written.
pub(super) struct NewHistoryEntry(HistoryEntry);

impl NewHistoryEntry {
    pub fn new(what: &str, party: &str, cards: Vec<String>, claims: Vec<String>) -> Self {
        Self(HistoryEntry {
            id: String::new(),
            at: String::new(),
            what: what.to_owned(),
            party: party.to_owned(),
            party_name: None,
            cards,
            claims,
            reason: None,
            one_use: Vec::new(),
            used: Vec::new(),
        })
    }

    /// With the other party's name for itself.
    pub fn with(mut self, party_name: Option<String>) -> Self {
        self.0.party_name = party_name;
        self
    }

    /// With the single-use credentials that were shown.
    pub fn giving(mut self, one_use: Vec<OneUse>) -> Self {
        self.0.one_use = one_use;
        self
    }

    /// A flow that failed, and why.
    pub fn failed(party: &str, error: &Error) -> Self {
        Self::new("failed", party, Vec::new(), Vec::new()).because(error.reason.clone())
    }

    pub fn is(&self, what: &str) -> bool {
        self.0.what == what
    }

    pub fn because(mut self, reason: Reason) -> Self {
        self.0.reason = Some(reason);
        self
    }

    pub fn put(mut self, ctx: &Ctx) -> Result<Put> {
        self.0.id = encoding::base64url_encode(&ctx.random::<16>("history/id"));
        self.0.at = ctx.now().rfc3339();
        Ok(Put::new(HISTORY, &self.0.id, encode(&self.0)?))
    }
}

/// The other party's name, if nothing but the URL called is known.
pub(super) fn origin_of(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Where a single-use card that was shown is marked as used.
pub(super) fn one_use(key: &UseKey) -> OneUse {
    OneUse {
        issuer: key.issuer.to_string(),
        digest: encoding::base64url_encode(&key.digest),
    }
}

fn place(one: &OneUse) -> Option<UseKey> {
    let digest = encoding::base64url_decode(&one.digest).ok()?;
    Some(UseKey {
        issuer: Did::parse(&one.issuer).ok()?,
        digest: digest.try_into().ok()?,
    })
}

impl Wallet {
    /// A person's history, newest first, with the later uses of the single-use cards shown.
    ///
    /// # Errors
    /// The store's.
    pub async fn history(&self, person: &Person, paging: &Paging) -> Result<Listing<HistoryEntry>> {
        let store = &self.shared.store;
        let records = store.list(&person.tenant, HISTORY, &page(paging)).await?;
        let mut listed = listing(&records, paging, |record| {
            decode::<HistoryEntry>(&record.value)
        })?;
        let given = listed.items.iter().flat_map(|entry| &entry.one_use);
        let places = given.filter_map(place).collect();
        let seen = self.shared.uses_seen(places).await;
        for entry in &mut listed.items {
            let places = entry.one_use.iter().filter_map(place);
            entry.used = places
                .filter_map(|key| seen.get(&key).map(CredentialUse::of))
                .collect();
        }
        Ok(listed)
    }
}
