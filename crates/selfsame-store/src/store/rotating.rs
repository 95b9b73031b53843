//! The rotation of the master key: the list of master keys, and tenants' keys that are wrapped again. No record is sealed
//! again, because the keys of the tenants stay the same.

use selfsame_crypto::seal::SealingKey;

use super::{Store, key_place, place};
use crate::backend::{KEY_KIND, LIST_KIND, Place, SealedRecord, Write};
use crate::error::{Result, StoreError};
use crate::record::Expect;
use crate::rotation::{FoundKeys, KeyCheck, KeyTrouble, Rewrapped, RotationState};
use crate::tenant::TenantId;
use crate::vault::{Vault, WrappedKey};

/// How many tenants' keys are wrapped in one commit.
const PORTION: usize = 64;

/// The place of the list of master keys.
fn list_place() -> Place {
    place(&TenantId::instance(), LIST_KIND, "")
}

impl Store {
    /// Finds out under which master key the store is. Returns whether its rows were summed before.
    pub(super) async fn begin_with_keys(&self) -> Result<bool> {
        let place = key_place(&TenantId::instance());
        let own = self.0.backend.read(&place, self.now()).await?;
        let list = self.0.backend.read(&list_place(), self.now()).await?;
        self.0.vault.begin(list.as_ref(), own.as_ref())
    }

    /// Writes the first list of master keys, unless there is one, and tells the other processes which key this one reads
    /// with.
    pub(super) async fn keep_list(&self) -> Result<()> {
        if self.0.vault.rotation().present.is_none() {
            match self.write_first_list().await {
                Ok(()) => {}
                // Another process was faster.
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
            let list = self.0.backend.read(&list_place(), self.now()).await?;
            let list = list.ok_or(StoreError::Tampered("list of the master keys"))?;
            self.0.vault.adopt(&list)?;
        }
        self.tell_ready().await
    }

    async fn write_first_list(&self) -> Result<()> {
        let own_place = key_place(&TenantId::instance());
        let own = self.0.backend.read(&own_place, self.now()).await?;
        let own = own.ok_or(StoreError::Tampered("key"))?;
        let (list, marked) = (self.0.vault.first_list()?, self.0.vault.marked(&own)?);
        let WrappedKey { version, value, .. } = marked;
        let writes = vec![
            Write::Expect(own_place.clone(), Expect::Version(own.version)),
            Write::Expect(list_place(), Expect::Absent),
            Write::Update {
                place: own_place,
                version,
                value,
            },
            Write::Put {
                place: list_place(),
                version: list.version,
                value: list.value,
                tags: Vec::new(),
                expires: None,
            },
        ];
        self.write(self.durable(writes)).await.map(drop)
    }

    /// The writes that add a tenant's new key.
    pub(super) fn fresh_key(&self, tenant: &TenantId) -> Result<Vec<Write>> {
        self.key_writes(tenant, self.0.vault.fresh(tenant)?)
    }

    /// The writes that add the key of a tenant that moves here, which another vault has wrapped in this row.
    ///
    /// # Errors
    /// `Tampered` if the row does not open.
    pub fn moved_key(
        &self,
        tenant: &TenantId,
        row: &SealedRecord,
        from: &Vault,
    ) -> Result<Vec<Write>> {
        self.key_writes(tenant, self.0.vault.moved(tenant, row, from)?)
    }

    /// The writes that add a tenant's key: only while the list of master keys is what it was when the key was wrapped, so
    /// that no key is wrapped under a former master key alone.
    fn key_writes(&self, tenant: &TenantId, wrapped: WrappedKey) -> Result<Vec<Write>> {
        let WrappedKey {
            version,
            value,
            list,
            is_behind,
        } = wrapped;
        let place = key_place(tenant);
        let mut writes = vec![Write::Expect(place.clone(), Expect::Absent)];
        if let Some(list) = list {
            writes.push(Write::Expect(list_place(), Expect::Version(list)));
        }
        if is_behind {
            // A key that is missing under the next master key changes the list, so that a rotation looks again.
            let list = self.0.vault.same_list()?;
            writes.push(Write::Update {
                place: list_place(),
                version: list.version,
                value: list.value,
            });
        }
        writes.push(Write::Put {
            place,
            version,
            value,
            tags: Vec::new(),
            expires: None,
        });
        Ok(writes)
    }

    /// Reads the list of master keys again if it has changed. Returns whether it had.
    ///
    /// # Errors
    /// `WrongKey` if the store is under a key that this process does not have.
    pub async fn look_at_keys(&self) -> Result<bool> {
        let version = self.0.backend.version(&list_place(), self.now()).await?;
        if version == self.0.vault.list_version() {
            return Ok(false);
        }
        let list = self.0.backend.read(&list_place(), self.now()).await?;
        let list = list.ok_or(StoreError::Tampered("list of the master keys"))?;
        self.0.vault.adopt(&list).map(|()| true)
    }

    /// Asks the source of the master keys again. Returns what it says of the next key.
    pub async fn find_keys(&self) -> String {
        let Some(source) = self.0.vault.source() else {
            return String::new();
        };
        let found = tokio::task::spawn_blocking(move || source.find()).await;
        let FoundKeys { keys, next } = found.unwrap_or_default();
        self.0.vault.hold(&keys);
        next
    }

    /// Adds a master key to those at hand.
    pub fn hold_key(&self, key: &SealingKey) {
        self.0.vault.hold(std::slice::from_ref(key));
    }

    /// How far a rotation is, as far as this process knows.
    #[must_use]
    pub fn rotation(&self) -> RotationState {
        self.0.vault.rotation()
    }

    /// The master keys at hand that the store is not under.
    #[must_use]
    pub fn unlisted_keys(&self) -> Vec<KeyCheck> {
        self.0.vault.unlisted()
    }

    /// Begins a rotation to a key at hand.
    ///
    /// # Errors
    /// `Conflict` if a rotation is under way, or the key is not at hand.
    pub async fn begin_rotation(&self, next: KeyCheck) -> Result<()> {
        let begun = self.0.vault.begun_list(next)?;
        self.replace_list(begun).await
    }

    /// Ends the present stage of the rotation, once all tenants' keys are wrapped as it wants.
    ///
    /// # Errors
    /// `Conflict` if the list of master keys has changed since `since`.
    pub async fn advance_rotation(&self, since: Option<u64>) -> Result<()> {
        if since != self.0.vault.list_version() {
            return Err(StoreError::conflict(LIST_KIND, ""));
        }
        let advanced = self.0.vault.advanced_list()?;
        self.replace_list(advanced).await
    }

    async fn replace_list(&self, list: WrappedKey) -> Result<()> {
        let before = list
            .list
            .ok_or_else(|| StoreError::conflict(LIST_KIND, ""))?;
        let writes = vec![
            Write::Expect(list_place(), Expect::Version(before)),
            Write::Update {
                place: list_place(),
                version: list.version,
                value: list.value,
            },
        ];
        let written = self.write(self.durable(writes)).await;
        self.look_at_keys().await?;
        written?;
        self.tell_ready().await
    }

    /// The version of the list of master keys that this process knows.
    #[must_use]
    pub fn list_version(&self) -> Option<u64> {
        self.0.vault.list_version()
    }

    /// Tells the other processes which is the last listed key that this process has.
    pub async fn tell_ready(&self) -> Result<()> {
        match self.0.vault.newest() {
            Some(newest) => self.0.backend.reads_under(newest).await,
            None => Ok(()),
        }
    }

    /// How many processes that use the records can't read under this master key yet.
    pub async fn unready(&self, check: KeyCheck) -> Result<u64> {
        self.0.backend.unready(check).await
    }

    /// Wraps the keys of one portion of tenants again, in the order of their names.
    ///
    /// # Errors
    /// `Conflict` if another process changed one of them or the list meanwhile: then nothing was written.
    pub async fn rewrap(&self, after: &str) -> Result<Rewrapped> {
        let keys = self.0.backend.keys(after, PORTION).await?;
        let mut done = Rewrapped::default();
        if keys.len() == PORTION {
            done.after = keys.last().map(|(tenant, _)| tenant.as_str().to_owned());
        }
        let mut writes = Vec::new();
        for (tenant, key) in &keys {
            if let Some(again) = self.rewrapped(tenant, key, &mut done)? {
                if writes.is_empty() {
                    let list = again.list.map(Expect::Version).unwrap_or(Expect::Absent);
                    writes.push(Write::Expect(list_place(), list));
                }
                let place = key_place(tenant);
                writes.push(Write::Expect(place.clone(), Expect::Version(key.version)));
                let (version, value) = (again.version, again.value);
                writes.push(Write::Update {
                    place,
                    version,
                    value,
                });
                done.wrapped = done.wrapped.saturating_add(1);
            }
        }
        if !writes.is_empty() {
            self.write(self.durable(writes)).await?;
        }
        Ok(done)
    }

    fn rewrapped(
        &self,
        tenant: &TenantId,
        key: &SealedRecord,
        done: &mut Rewrapped,
    ) -> Result<Option<WrappedKey>> {
        match self.0.vault.wrapped_again(tenant, key) {
            Ok(Some(again)) if again.is_behind => Err(StoreError::WrongKey(KeyTrouble::Early)),
            Err(StoreError::Tampered(_) | StoreError::WrongKey(KeyTrouble::Other)) => {
                done.damaged.push(tenant.as_str().to_owned());
                Ok(None)
            }
            again => again,
        }
    }

    /// The tenant's key as stored, opened. If it does not open, the master keys may have changed meanwhile.
    pub(super) async fn opened_key(
        &self,
        tenant: &TenantId,
    ) -> Result<Option<std::sync::Arc<crate::vault::TenantKeys>>> {
        for is_last in [false, true] {
            let Some(row) = self.0.backend.read(&key_place(tenant), self.now()).await? else {
                return Ok(None);
            };
            let opened = self.0.vault.unwrap(tenant, row.version, &row.value);
            if opened.is_ok() || is_last {
                return opened.map(Some);
            }
            self.find_keys().await;
            self.look_at_keys().await?;
        }
        debug_assert!(false, "the last turn returns ({KEY_KIND})");
        Ok(None)
    }
}
