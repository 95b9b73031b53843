//! Rows of a tenant that another store has sealed: they are taken over as they are, with the key that sealed them.

use selfsame_crypto::{Secret, hash};

use super::{Store, key_place, open};
use crate::backend::{KEY_KIND, Place, SealedRecord, Write};
use crate::batch::Batch;
use crate::error::{Result, StoreError};
use crate::outbox;
use crate::record::Expect;
use crate::tenant::TenantId;
use crate::vault::TenantKeys;

impl Store {
    /// Takes over the key of a tenant from another store ([`crate::Vault::bare_key`]). Nothing changes if the tenant has
    /// this key already.
    ///
    /// # Errors
    /// `Conflict` if the tenant has another key; `Malformed` for the instance itself, and for what is no key.
    pub async fn adopt_key(&self, tenant: &TenantId, key: &Secret) -> Result<()> {
        let other = || StoreError::conflict(KEY_KIND, tenant.as_str());
        if self.0.vault.is_destroyed(tenant) {
            return Err(other());
        }
        let place = key_place(tenant);
        if let Some(kept) = self.sealed(&place).await? {
            let kept = self.0.vault.bare_key(tenant, &kept)?;
            let is_this = hash::ct_eq(kept.expose(), key.expose());
            return is_this.then_some(()).ok_or_else(other);
        }
        let (version, value) = self.0.vault.adopted(tenant, key)?;
        let put = Write::Put {
            place: place.clone(),
            version,
            value,
            tags: Vec::new(),
            expires: None,
        };
        let expect = Write::Expect(place, Expect::Absent);
        self.write(self.durable(vec![expect, put])).await.map(drop)
    }

    /// Writes rows of a tenant, which its key has sealed, together with a batch: all or nothing. The rows are records,
    /// entries of the outbox, conditions and counters.
    ///
    /// # Errors
    /// `Malformed` for other rows and for those of another tenant; `Tampered` for a row that the tenant's key does not
    /// open; as [`Store::commit`].
    pub async fn adopt(&self, tenant: &TenantId, rows: Vec<Write>, with: Batch) -> Result<()> {
        let keys = self
            .keys(tenant)
            .await?
            .ok_or(StoreError::Tampered("key"))?;
        for row in &rows {
            check(&keys, tenant, row)?;
        }
        let (mut sealed, _) = self.seal(with).await?;
        sealed.writes.extend(rows);
        self.write(sealed).await.map(drop)
    }

    /// The record as it is stored, unless absent or expired.
    ///
    /// # Errors
    /// The back end's.
    pub async fn sealed(&self, place: &Place) -> Result<Option<SealedRecord>> {
        self.0.backend.read(place, self.now()).await
    }
}

/// Whether a row is one of this tenant, and opens with its key.
fn check(keys: &TenantKeys, tenant: &TenantId, row: &Write) -> Result<()> {
    let (owner, opened) = match row {
        Write::Put {
            place,
            version,
            value,
            ..
        } if place.kind != KEY_KIND => {
            let sealed = SealedRecord {
                id: place.id.clone(),
                seq: 0,
                version: *version,
                expires: None,
                value: value.clone(),
            };
            (
                &place.tenant,
                open(keys, tenant, &place.kind, sealed).map(drop),
            )
        }
        Write::Enqueue(entry) => (&entry.tenant, outbox::open(keys, entry).map(drop)),
        Write::Expect(place, _) => (&place.tenant, Ok(())),
        Write::Reserve(owner, ..) => (owner, Ok(())),
        _ => return Err(StoreError::Malformed("row to take over")),
    };
    match owner == tenant {
        true => opened,
        false => Err(StoreError::Malformed("tenant of a row to take over")),
    }
}
