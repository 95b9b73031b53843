//! A person who leaves: the account is deleted at once, and everything that it kept with its key.

use selfsame_accounts::Whence;
use selfsame_crypto::SecretString;
use selfsame_driver::Result;
use selfsame_driver::record::all;
use selfsame_store::{Batch, Put, TenantId};

use crate::Wallet;
use crate::view::Person;

/// The kind of the notes about tenants that are being destroyed.
const LEAVING: &str = "leaving_person";
/// Rows that one commit removes.
const PORTION: usize = 1_000;

impl Wallet {
    /// Deletes the account of a person, and everything in the wallet. It can't be undone. The key that seals the data is
    /// destroyed first, so that nothing of them can be read from then on.
    ///
    /// # Errors
    /// `Unauthenticated` for a wrong password, `TooMany` after many of them; the store's.
    pub async fn leave(
        &self,
        person: &Person,
        password: SecretString,
        whence: &Whence,
    ) -> Result<()> {
        let accounts = self.accounts();
        accounts.confirm(person, password, whence).await?;
        let tenant = &person.tenant;
        let batch = Batch::new(TenantId::instance());
        let batch = batch.put(Put::new(LEAVING, tenant.as_str(), Vec::new()));
        let batch = accounts.deletion(batch, &person.email).await?;
        self.shared.store.commit(batch).await?;
        accounts.forget(tenant);
        tracing::info!("a person has deleted their account");
        self.destroy(tenant).await
    }

    /// Completes what an earlier process has begun.
    ///
    /// # Errors
    /// The store's.
    pub async fn finish_leaving(&self) -> Result<()> {
        let (store, instance) = (&self.shared.store, TenantId::instance());
        let left = all(store, &instance, LEAVING, |note| {
            Ok(TenantId::parse(&note.id)?)
        });
        for tenant in left.await? {
            self.destroy(&tenant).await?;
        }
        Ok(())
    }

    async fn destroy(&self, tenant: &TenantId) -> Result<()> {
        let store = &self.shared.store;
        while store.destroy(tenant, PORTION).await? > 0 {}
        let batch = Batch::new(TenantId::instance());
        store.commit(batch.delete(LEAVING, tenant.as_str())).await?;
        Ok(())
    }
}
