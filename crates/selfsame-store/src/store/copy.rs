//! Copies of a store. A restored copy does not hand out again numbers that were handed out after it was made.

use std::path::Path;

use selfsame_crypto::time::UnixTime;

use super::{OWN_KINDS, Store, place};
use crate::backend::{SealedBatch, Write};
use crate::error::{Result, StoreError};
use crate::tenant::TenantId;
use crate::vault::bound;

/// A record in a copy, until an instance has started from it.
pub const COPIED: &str = "selfsame.copied";

impl Store {
    /// Writes a snapshot of all data to the new file `to`, which is marked as a copy and sealed with the same master
    /// key. Commits continue meanwhile.
    ///
    /// # Errors
    /// If the file exists or can't be written, or the back end has no file.
    pub async fn copy(&self, to: &Path) -> Result<()> {
        debug_assert!(COPIED.starts_with(OWN_KINDS));
        let (instance, now) = (TenantId::instance(), self.now());
        let keys = self.instance_keys().await?;
        let place = place(&instance, COPIED, "");
        let version = keys.stamp();
        let bound = bound(&instance, COPIED, "", version);
        let value = keys.seal(version, &bound, &now.0.to_be_bytes())?;
        let put = Write::Put {
            place,
            version,
            value,
            tags: Vec::new(),
            expires: None,
        };
        let mark = SealedBatch {
            now,
            durable: true,
            writes: vec![put],
        };
        self.0.backend.copy(to, mark).await
    }

    /// When this copy was made; `None` if the store is not a copy or has been started from.
    ///
    /// # Errors
    /// The errors of the store.
    pub async fn copied_at(&self) -> Result<Option<UnixTime>> {
        let Some(record) = self.read(&TenantId::instance(), COPIED, "").await? else {
            return Ok(None);
        };
        let time = <[u8; 8]>::try_from(record.value.as_slice())
            .map_err(|_| StoreError::Tampered("mark of a copy"))?;
        Ok(Some(UnixTime(u64::from_be_bytes(time))))
    }

    /// Starts from a copy: raises every counter by `leap`. Numbers handed out after the copy was made are skipped for
    /// ever, unless there were more of them than that.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub async fn begin_with_copy(&self, leap: u64) -> Result<()> {
        let mark = place(&TenantId::instance(), COPIED, "");
        let batch = self.durable(vec![Write::Leap(leap), Write::Delete(mark)]);
        self.write(batch).await.map(drop)
    }
}
