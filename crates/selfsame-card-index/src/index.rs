//! The index of a wallet's cards: a short row for each card, a few hundred to a record. Groups are counted, and cards of
//! one group are found, without opening the cards.
//!
//! Whatever writes or deletes a card writes a note of it in the same commit. A reader of the index first puts the noted
//! cards in, so the index is right for every process, and no writer of a card waits for another one.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_store::{Batch, Expect, Page, Put, Record, Store, StoreError, TenantId};
use serde::{Deserialize, Serialize};

/// The kind of the records with the rows.
const ROWS: &str = "card_rows";
/// The kind of the notes of cards that were written or deleted.
const NOTE: &str = "card_note";
/// Records among which the rows of a wallet are spread, by the first letter of a card's id.
const SHARDS: usize = 64;
/// Notes that are worked off in one commit.
const PORTION: usize = 500;
/// Portions of one request. The next request goes on.
const PORTIONS: usize = 24;

/// A card, as far as it is grouped.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct CardRow {
    /// The card's place in the order in which cards were received.
    #[serde(rename = "q")]
    pub seq: u64,
    /// Its issuer.
    #[serde(rename = "i")]
    pub issuer: String,
    /// The issuer's name for itself.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub issuer_name: Option<String>,
    /// Its `vct`, its document type, or its most specific W3C type.
    #[serde(rename = "t")]
    pub type_name: String,
    /// Its title.
    #[serde(rename = "l")]
    pub title: String,
    /// Its status when it was last checked.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// Until when it is valid.
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<UnixTime>,
}

impl CardRow {
    /// The word for its state at this time.
    #[must_use]
    pub fn state(&self, now: UnixTime) -> &str {
        match self.expires {
            Some(expires) if expires <= now => "expired",
            _ => self.seen.as_deref().unwrap_or(UNCHECKED),
        }
    }
}

/// The state of a card whose status was never checked.
pub const UNCHECKED: &str = "unchecked";

/// Rows by the ids of their cards.
type CardRows = BTreeMap<String, CardRow>;

/// The rows of a wallet's cards.
pub struct IndexedCards {
    /// The rows.
    pub rows: Vec<IndexedCard>,
    /// Whether every card is among them.
    pub is_whole: bool,
}

/// A card of the index.
pub struct IndexedCard {
    /// The card's id.
    pub id: String,
    /// Its row.
    pub row: CardRow,
}

/// A card that was written or deleted.
#[derive(Deserialize, Serialize)]
struct CardNote {}

/// The index of the cards in a store, whose records are of this kind.
#[derive(Clone, Copy)]
pub struct CardIndex<'a, R> {
    /// The store.
    pub store: &'a Store,
    /// The kind of the records that are cards.
    pub kind: &'static str,
    /// Reads the row of a card; `None` for one that can't be read, which no request finds.
    pub read: R,
}

/// The note that a card was written or deleted, for the commit that does so.
///
/// # Errors
/// None that occurs.
pub fn note(id: &str) -> Result<Put> {
    Ok(Put::new(NOTE, id, encode(&CardNote {})?))
}

impl<R: Fn(&Record) -> Option<CardRow>> CardIndex<'_, R> {
    /// The rows of a wallet's cards, with everything that was committed before.
    ///
    /// # Errors
    /// The store's.
    pub async fn rows(&self, tenant: &TenantId) -> Result<IndexedCards> {
        let mut is_whole = false;
        for _ in 0..PORTIONS {
            is_whole = self.work_off_notes(tenant).await?;
            if is_whole {
                break;
            }
        }
        let page = Page::first(SHARDS);
        let mut rows = Vec::new();
        for record in self.store.list(tenant, ROWS, &page).await? {
            let read: CardRows = decode(&record.value)?;
            rows.extend(read.into_iter().map(|(id, row)| IndexedCard { id, row }));
        }
        Ok(IndexedCards { rows, is_whole })
    }

    /// Puts the next noted cards in; whether none were left.
    ///
    /// # Errors
    /// The store's.
    pub async fn work_off_notes(&self, tenant: &TenantId) -> Result<bool> {
        let notes = self.store.list(tenant, NOTE, &Page::first(PORTION)).await?;
        if notes.is_empty() {
            return Ok(true);
        }
        let batch = self.noted(tenant, &notes).await?;
        match self.store.commit(batch.deferred()).await {
            Ok(_) => Ok(notes.len() < PORTION),
            // A request that runs beside this one did the same, or has changed one of the cards.
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(other) => Err(other.into()),
        }
    }

    /// The commit that puts the cards of these notes in.
    async fn noted(&self, tenant: &TenantId, notes: &[Record]) -> Result<Batch> {
        let mut batch = Batch::new(tenant.clone());
        let shards: BTreeSet<String> = notes.iter().map(|note| shard(&note.id)).collect();
        for shard_id in shards {
            let before = self.store.read(tenant, ROWS, &shard_id).await?;
            let read = before.as_ref().map(|record| decode(&record.value));
            let mut rows: CardRows = read.transpose()?.unwrap_or_default();
            for note in notes.iter().filter(|note| shard(&note.id) == shard_id) {
                let record = self.store.read(tenant, self.kind, &note.id).await?;
                match record.as_ref().and_then(&self.read) {
                    Some(row) => rows.insert(note.id.clone(), row),
                    None => rows.remove(&note.id),
                };
                let version = Expect::Version(note.version);
                batch = batch.expect(NOTE, &note.id, version).delete(NOTE, &note.id);
            }
            let expected = before.map_or(Expect::Absent, |record| Expect::Version(record.version));
            let put = Put::new(ROWS, &shard_id, encode(&rows)?);
            batch = batch.expect(ROWS, &shard_id, expected).put(put);
        }
        Ok(batch)
    }
}

/// The record that has the row of a card. The ids of cards are in base64url.
fn shard(id: &str) -> String {
    id.chars().next().unwrap_or('-').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seen: Option<&str>, expires: Option<u64>) -> CardRow {
        CardRow {
            seq: 1,
            issuer: "https://issuer.example".to_owned(),
            issuer_name: None,
            type_name: "urn:x".to_owned(),
            title: "Card".to_owned(),
            seen: seen.map(str::to_owned),
            expires: expires.map(UnixTime),
        }
    }

    #[test]
    fn a_card_is_expired_from_its_time_on_whatever_was_seen_of_it() {
        let now = UnixTime(100);
        assert_eq!(row(Some("valid"), Some(100)).state(now), "expired");
        assert_eq!(row(Some("valid"), Some(101)).state(now), "valid");
        assert_eq!(row(Some("revoked"), None).state(now), "revoked");
        assert_eq!(row(None, None).state(now), "unchecked");
    }

    #[test]
    fn a_row_reads_as_it_was_written_and_has_nothing_but_what_groups_need() {
        let rows: CardRows = [("a".to_owned(), row(Some("valid"), Some(7)))].into();
        let text = encode(&rows).unwrap();
        assert_eq!(decode::<CardRows>(&text).unwrap(), rows);
        assert!(text.len() < 200, "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn the_rows_of_cards_are_spread_among_sixty_four_records() {
        let ids = (0..=255_u8).map(|first| {
            let mut bytes = [7; 16];
            bytes[0] = first;
            selfsame_crypto::encoding::base64url_encode(&bytes)
        });
        let shards: BTreeSet<String> = ids.map(|id| shard(&id)).collect();
        assert_eq!(shards.len(), SHARDS);
    }

    use std::sync::Arc;

    use selfsame_crypto::seal::SealingKey;
    use selfsame_store::{Memory, Vault};

    use crate::{GroupBy, Grouping, groups};

    const CARD: &str = "test_card";

    async fn store() -> Store {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        Store::open(Arc::new(Memory::new()), vault).await.unwrap()
    }

    /// A card whose value is its issuer.
    fn read(record: &Record) -> Option<CardRow> {
        let issuer = String::from_utf8(record.value.clone()).ok()?;
        Some(CardRow {
            seq: record.seq,
            issuer,
            ..row(None, None)
        })
    }

    fn index(store: &Store) -> CardIndex<'_, fn(&Record) -> Option<CardRow>> {
        CardIndex {
            store,
            kind: CARD,
            read,
        }
    }

    fn id(number: u32) -> String {
        let hash = selfsame_crypto::hash::sha256(&number.to_be_bytes());
        selfsame_crypto::encoding::base64url_encode(&hash[..16])
    }

    /// Writes cards of three issuers.
    async fn write(store: &Store, tenant: &TenantId, numbers: std::ops::Range<u32>) {
        let mut batch = Batch::new(tenant.clone());
        for number in numbers {
            let issuer = format!("did:example:{}", number % 3);
            batch = batch.put(Put::new(CARD, id(number), issuer.into_bytes()));
            batch = batch.put(note(&id(number)).unwrap());
        }
        store.commit(batch).await.unwrap();
    }

    fn counts(indexed: &IndexedCards) -> Vec<usize> {
        let grouping = Grouping {
            by: GroupBy::Issuer,
            after: None,
            limit: None,
        };
        let groups = groups(indexed, &grouping, UnixTime(1)).unwrap();
        groups.items.iter().map(|group| group.cards).collect()
    }

    #[tokio::test]
    async fn the_index_follows_what_is_written_changed_and_deleted() {
        let (store, tenant) = (store().await, TenantId::parse("person").unwrap());
        write(&store, &tenant, 0..1_200).await;
        let indexed = index(&store).rows(&tenant).await.unwrap();
        assert!(indexed.is_whole);
        assert_eq!(counts(&indexed), [400, 400, 400]);
        let changed = Put::new(CARD, id(0), b"did:example:other".to_vec());
        let batch = Batch::new(tenant.clone());
        let batch = batch.put(changed).put(note(&id(0)).unwrap());
        let batch = batch.delete(CARD, &id(1)).put(note(&id(1)).unwrap());
        store.commit(batch).await.unwrap();
        let indexed = index(&store).rows(&tenant).await.unwrap();
        assert_eq!(counts(&indexed), [400, 399, 399, 1]);
        let left = store.list(&tenant, NOTE, &Page::first(9)).await.unwrap();
        assert!(left.is_empty());
        let other = TenantId::parse("other").unwrap();
        assert!(index(&store).rows(&other).await.unwrap().rows.is_empty());
    }

    #[tokio::test]
    async fn two_readers_at_once_leave_the_index_right() {
        let (store, tenant) = (store().await, TenantId::parse("person").unwrap());
        write(&store, &tenant, 0..300).await;
        let (one, other) = (index(&store), index(&store));
        let both = tokio::join!(one.rows(&tenant), other.rows(&tenant));
        for indexed in [both.0.unwrap(), both.1.unwrap()] {
            assert_eq!(counts(&indexed), [100, 100, 100]);
        }
    }
}
