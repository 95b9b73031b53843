//! Copies of a store, and what keeps a copy that is put back from giving out again what was given out since.

use std::path::Path;

use selfsame_crypto::time::UnixTime;

use super::{OWN_KINDS, Store, place};
use crate::backend::{SealedBatch, Write};
use crate::error::{Result, StoreError};
use crate::tenant::TenantId;
use crate::vault::bound;

/// Stands in a copy until somebody has begun with it.
pub(crate) const COPIED: &str = "selfsame.copied";

impl Store {
    /// Writes all that is kept, as of one moment, into the new file `to`, which tells of itself that it is a copy.
    /// It is sealed with the same master key. Commits go on meanwhile.
    ///
    /// # Errors
    /// If the file exists or can't be written, or nothing is kept in files.
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

    /// When this copy was made, if it is one that nobody has begun with.
    ///
    /// # Errors
    /// The store's.
    pub async fn copied_at(&self) -> Result<Option<UnixTime>> {
        let Some(record) = self.read(&TenantId::instance(), COPIED, "").await? else {
            return Ok(None);
        };
        let time = <[u8; 8]>::try_from(record.value.as_slice())
            .map_err(|_| StoreError::Tampered("mark of a copy"))?;
        Ok(Some(UnixTime(u64::from_be_bytes(time))))
    }

    /// Begins with a copy: every counter is raised by `leap`. Whatever of a counter was given out after the copy was
    /// made, unless it was more than that, is left out for ever.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub async fn begin_with_copy(&self, leap: u64) -> Result<()> {
        let mark = place(&TenantId::instance(), COPIED, "");
        let batch = SealedBatch {
            now: self.now(),
            durable: true,
            writes: vec![Write::Leap(leap), Write::Delete(mark)],
        };
        self.write(batch).await.map(drop)
    }
}
