//! Records that can be used once or for a limited time. They end when a backup is restored.

use selfsame_store::{Record, TenantId};

use crate::Result;

/// A kind of such records of one tenant.
pub struct ShortLived {
    /// The tenant.
    pub tenant: TenantId,
    /// The kind.
    pub kind: &'static str,
    /// Whether a record stands for something that has not ended.
    pub is_open: fn(&Record) -> Result<bool>,
}

impl ShortLived {
    /// A kind whose records are deleted when they end.
    #[must_use]
    pub fn of(tenant: TenantId, kind: &'static str) -> Self {
        Self {
            tenant,
            kind,
            is_open: |_| Ok(true),
        }
    }
}
