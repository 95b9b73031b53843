//! The link secrets of holders: one for each tenant, made when it is first needed.

use std::sync::Arc;

use selfsame_anoncreds::cl::LinkSecret;
use selfsame_anoncreds::holder::create_link_secret;
use selfsame_core::Shared;
use selfsame_crypto::Secret;
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Put, Record, StoreError, TenantId};

use crate::bounded::Bounded;

/// The kind of their records. The value is the secret's decimal number.
const LINK_SECRET: &str = "anoncreds_link_secret";
const ID: &str = "own";
/// Secrets held unsealed; each is wiped when it leaves.
const HELD_MAX: usize = 1_024;

/// The link secrets of the tenants of one process.
pub(crate) struct LinkSecrets {
    shared: Arc<Shared>,
    /// By the version of the record, which the store gives once.
    held: Bounded<u64, LinkSecret>,
}

impl LinkSecrets {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let held = Bounded::new(HELD_MAX);
        Self { shared, held }
    }

    /// The link secret of a tenant.
    pub(crate) async fn of(&self, tenant: &TenantId) -> Result<LinkSecret> {
        let store = &self.shared.store;
        if let Some(version) = store.version(tenant, LINK_SECRET, ID).await?
            && let Some(held) = self.held.get(&version)
        {
            return Ok(held);
        }
        if let Some(stored) = store.read(tenant, LINK_SECRET, ID).await? {
            return self.opened(stored);
        }
        let secret = create_link_secret(&self.shared.clock.ctx());
        let value = secret.to_decimal().as_bytes().to_vec();
        let batch = Batch::new(tenant.clone())
            .expect(LINK_SECRET, ID, Expect::Absent)
            .put(Put::new(LINK_SECRET, ID, value));
        match store.commit(batch).await {
            Ok(_) => Ok(secret),
            // Another request was faster, and its secret is the one.
            Err(StoreError::Conflict { .. }) => {
                let stored = store.read(tenant, LINK_SECRET, ID).await?;
                let gone = || Error::internal("a link secret came and went");
                self.opened(stored.ok_or_else(gone)?)
            }
            Err(other) => Err(other.into()),
        }
    }

    fn opened(&self, stored: Record) -> Result<LinkSecret> {
        let digits = Secret::new(stored.value);
        let digits = std::str::from_utf8(digits.expose()).map_err(Error::internal)?;
        let secret = LinkSecret::from_decimal(digits).map_err(Error::damaged)?;
        self.held.keep(stored.version, secret.clone());
        Ok(secret)
    }
}
