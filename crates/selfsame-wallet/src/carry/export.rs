//! The export of a wallet: begun with the password of its owner, then read page by page, the oldest card first.

use selfsame_accounts::Whence;
use selfsame_crypto::encoding;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::paging::{Listing, Paging};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Page, Put, TenantId};
use serde::{Deserialize, Serialize};

use super::{bound_to, for_keys, sealing_key};
use crate::Wallet;
use crate::cards::{CARD, CardRecord, tags};
use crate::quota::Shelf;
use crate::view::Person;
use crate::view::carried::{CarriedCredential, CarriedKey, NewWalletExport, WalletExport};

/// The exports of a person that can be read.
const EXPORTS: Shelf = Shelf {
    kind: "wallet_export",
    most: 5,
};
/// Seconds for which an export can be read. Another one goes on where it ended.
const EXPORT_SECONDS: u64 = 6 * 3_600;

/// An export as it is stored.
#[derive(Deserialize, Serialize)]
struct ExportRecord {
    sealing_key: Option<[u8; 32]>,
}

impl Wallet {
    /// Begins an export of a person's cards.
    ///
    /// # Errors
    /// `Unauthenticated` for a wrong password, `TooMany` after many of them; `BadRequest` for a malformed sealing key.
    pub async fn begin_export(
        &self,
        person: &Person,
        new: NewWalletExport,
        whence: &Whence,
    ) -> Result<WalletExport> {
        let sealing_key = new.sealing_key.as_ref().map(sealing_key).transpose()?;
        let accounts = self.accounts();
        accounts.confirm(person, new.password, whence).await?;
        let id = self.shared.clock.ctx().token("wallet_export/id");
        let expires = self.shared.clock.now().plus(EXPORT_SECONDS);
        let put = Put::new(EXPORTS.kind, &id, encode(&ExportRecord { sealing_key })?);
        let batch = self.quotas.room_on(&person.tenant, &EXPORTS).await?;
        let batch = batch.put(put.expires(expires));
        self.shared.store.commit(batch).await?;
        tracing::info!(with_keys = sealing_key.is_some(), "a wallet is exported");
        let expires = expires.rfc3339();
        Ok(WalletExport { id, expires })
    }

    /// A page of an export.
    ///
    /// # Errors
    /// `Gone` for an export that was not begun, or can't be read any more.
    pub async fn exported(
        &self,
        person: &Person,
        id: &str,
        paging: &Paging,
    ) -> Result<Listing<CarriedCredential>> {
        let (store, tenant) = (&self.shared.store, &person.tenant);
        let export = store.read(tenant, EXPORTS.kind, id).await?;
        let over = || Error::new(ErrorKind::Gone, "wallet-export-over");
        let export: ExportRecord = decode(&export.ok_or_else(over)?.value)?;
        let key = export.sealing_key.map(for_keys);
        // One more than shown, to know whether there is a next page.
        let page = Page::first(paging.limit().saturating_add(1));
        let page = match paging.cursor() {
            Some(cursor) => page.after(cursor),
            None => page,
        };
        let records = store.list(tenant, CARD, &page).await?;
        let more = records.len() > paging.limit();
        let mut items = Vec::with_capacity(paging.limit());
        for record in records.iter().take(paging.limit()) {
            let card = CardRecord::read(record)?;
            let at = Some(record.cursor());
            let carried = self.carried(tenant, card, key.as_ref()).await?;
            items.push(CarriedCredential { at, ..carried });
        }
        let next = items.last().filter(|_| more);
        let next = next.and_then(|last| last.at.clone());
        Ok(Listing { items, next })
    }

    async fn carried(
        &self,
        tenant: &TenantId,
        card: CardRecord,
        seal: Option<&SealingKey>,
    ) -> Result<CarriedCredential> {
        let key = tags::key_of(&card.raw);
        let holder = match &card.key {
            None => None,
            Some(handle) => {
                let sealed = match seal {
                    None => None,
                    Some(seal) => {
                        let secret = self.shared.keys.stored(tenant, handle).await?;
                        let nonce = self.shared.clock.ctx().random(&format!("seal/{key}"));
                        let sealed = seal.seal(nonce, &bound_to(&key), secret.expose());
                        Some(encoding::base64url_encode(
                            &sealed.map_err(Error::internal)?,
                        ))
                    }
                };
                Some(CarriedKey {
                    sealed,
                    kid: card.kid.clone(),
                    own: self.is_named(tenant, handle).await?,
                })
            }
        };
        Ok(CarriedCredential {
            key,
            format: card.format.as_str().to_owned(),
            issuer: card.issuer,
            look: serde_json::to_value(&card.look).map_err(Error::internal)?,
            added: Some(card.added.rfc3339()),
            credential: card.raw,
            holder,
            at: None,
        })
    }
}
