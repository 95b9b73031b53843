//! Tenants: organisations or persons, each with its own keys.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Result, StoreError};

const MAX_LENGTH: usize = 128;

/// Identifies a tenant. Stored unencrypted, so it must not identify a person: use a random token.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String", try_from = "String")]
pub struct TenantId(Arc<str>);

impl TenantId {
    /// Parses a tenant's name: 1 to 128 visible ASCII characters.
    pub fn parse(name: &str) -> Result<Self> {
        let fits = (1..=MAX_LENGTH).contains(&name.len())
            && name.bytes().all(|byte| byte.is_ascii_graphic());
        let parsed = fits.then(|| Self(name.into()));
        parsed.ok_or(StoreError::Malformed("tenant"))
    }

    /// The instance itself, for data that belong to no particular tenant.
    pub fn instance() -> Self {
        Self("instance".into())
    }

    /// The tenant's name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<TenantId> for String {
    fn from(tenant: TenantId) -> Self {
        tenant.0.as_ref().to_owned()
    }
}

impl TryFrom<String> for TenantId {
    type Error = StoreError;

    fn try_from(name: String) -> Result<Self> {
        Self::parse(&name)
    }
}
