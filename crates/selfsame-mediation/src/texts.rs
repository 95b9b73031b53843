//! Texts for people that went between an agent and a peer (RFC 0095). The newest of each connection are kept, for a while.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_driver::record::{decode, encode};
use selfsame_store::{Batch, Page, Put, Record, Store, Tag, TenantId};
use serde::{Deserialize, Serialize};

/// The kind of their records.
const TEXT: &str = "aries_text";
/// The texts of a connection that are kept, and how long, in seconds.
const KEPT: usize = 50;
const KEPT_SECONDS: u64 = 90 * 86_400;
/// The characters of a text that are kept.
const CHARS_MAX: usize = 4_000;

/// A text that came or went on a connection.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct KeptText {
    /// Its beginning. What a peer writes is untrusted.
    pub content: String,
    /// Whether this agent sent it.
    pub is_ours: bool,
    /// When it came or went.
    pub at: UnixTime,
}

/// The texts of one connection of a tenant.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// Where they are kept.
    pub store: &'a Store,
    /// The tenant.
    pub tenant: &'a TenantId,
    /// The connection's identifier.
    pub connection: &'a str,
}

impl KeptText {
    /// A text that comes or goes now.
    #[must_use]
    pub fn now(content: &str, is_ours: bool, ctx: &Ctx) -> Self {
        Self {
            content: content.chars().take(CHARS_MAX).collect(),
            is_ours,
            at: ctx.now(),
        }
    }
}

impl Texts<'_> {
    /// The writes that keep a text, in place of the oldest one if there are many.
    ///
    /// # Errors
    /// The store's.
    pub async fn kept(&self, text: &KeptText, ctx: &Ctx) -> Result<Batch> {
        let id = hex_encode(&ctx.random::<16>("aries/text"));
        let put = Put::new(TEXT, id, encode(text)?);
        let put = put.tag(self.tag()).expires(ctx.now().plus(KEPT_SECONDS));
        let batch = Batch::new(self.tenant.clone()).put(put);
        let before = self.records().await?;
        let old = before.iter().skip(KEPT.saturating_sub(1));
        Ok(old.fold(batch, |batch, record| batch.delete(TEXT, &record.id)))
    }

    /// The texts, the oldest first.
    ///
    /// # Errors
    /// The store's.
    pub async fn all(&self) -> Result<Vec<KeptText>> {
        let records = self.records().await?;
        let texts = records.iter().rev().map(|record| decode(&record.value));
        texts.collect()
    }

    /// The writes that remove all of them.
    ///
    /// # Errors
    /// The store's.
    pub async fn forgotten(&self) -> Result<Batch> {
        let records = self.records().await?;
        let batch = Batch::new(self.tenant.clone());
        Ok(records
            .iter()
            .fold(batch, |batch, record| batch.delete(TEXT, &record.id)))
    }

    /// The newest records. Two texts at the same moment may leave one too many, which the next one removes.
    async fn records(&self) -> Result<Vec<Record>> {
        let (tag, page) = (self.tag(), Page::newest(KEPT.saturating_mul(2)));
        Ok(self.store.find(self.tenant, TEXT, &tag, &page).await?)
    }

    fn tag(&self) -> Tag {
        Tag::hashed("connection", self.connection)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use selfsame_crypto::seal::SealingKey;
    use selfsame_store::{Memory, Vault};

    use super::*;

    #[tokio::test]
    async fn the_newest_texts_of_a_connection_are_kept_in_their_order_and_forgotten_with_it() {
        let vault = Vault::from_master(SealingKey::from_bytes([7; 32]));
        let store = Store::open(Arc::new(Memory::new()), vault).await.unwrap();
        let tenant = TenantId::parse("agent").unwrap();
        let [ours, other] = ["c1", "c2"].map(|connection| Texts {
            store: &store,
            tenant: &tenant,
            connection,
        });
        for number in 0..60_u8 {
            for (place, texts) in [(0, ours), (1, other)] {
                let mut seed = [number; 32];
                seed[0] = place;
                let ctx = Ctx::new(UnixTime(4_000_000_000 + u64::from(number)), seed);
                let text = KeptText::now(&format!("text {number}"), number % 2 == 0, &ctx);
                let batch = texts.kept(&text, &ctx).await.unwrap();
                store.commit(batch).await.unwrap();
            }
        }
        let kept = ours.all().await.unwrap();
        assert_eq!(kept.len(), KEPT);
        assert_eq!(
            (kept[0].content.as_str(), kept[0].is_ours),
            ("text 10", true)
        );
        assert_eq!(kept.last().unwrap().content, "text 59");
        store.commit(ours.forgotten().await.unwrap()).await.unwrap();
        assert_eq!(ours.all().await.unwrap(), []);
        assert_eq!(other.all().await.unwrap().len(), KEPT);
    }

    #[test]
    fn a_long_text_is_kept_in_part() {
        let ctx = Ctx::new(UnixTime(1), [1; 32]);
        let text = KeptText::now(&"ü".repeat(5_000), false, &ctx);
        assert_eq!(text.content.chars().count(), CHARS_MAX);
    }
}
