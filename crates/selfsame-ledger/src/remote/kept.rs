//! What is stored of a remote registry for the next start: the trust root, and the evidence of a fork.

use selfsame_did::selfsame::Network;
use selfsame_driver::{Error, Result};
use selfsame_proof::cbor::CborItem;
use selfsame_proof::kept::{Fork, TrustedRoot};
use selfsame_proof::read::TrustRoot;
use selfsame_store::{Batch, Put, Store, TenantId};

const TRUST: &str = "registry.trust";
const FORK: &str = "registry.fork";

/// The stored records of one network.
pub(super) struct StoredNetwork {
    store: Store,
    tenant: TenantId,
    network: Network,
}

impl StoredNetwork {
    pub(super) fn new(store: Store, network: Network) -> Result<Self> {
        Ok(Self {
            store,
            tenant: TenantId::parse("registry").map_err(Error::internal)?,
            network,
        })
    }

    /// The newest trust root, and the note of the newest checkpoint seen.
    pub(super) async fn trust(&self) -> Result<Option<(TrustRoot, String)>> {
        let read = self.read::<TrustedRoot>(TRUST).await?;
        Ok(read.map(|trusted| (trusted.root, trusted.note)))
    }

    /// Stores them. A power failure may lose the write; then the reader continues from a slightly older trust root.
    pub(super) async fn keep_trust(&self, root: TrustRoot, note: String) -> Result<()> {
        let put = self.put(TRUST, &TrustedRoot { root, note });
        Ok(self.store.commit(put.deferred()).await.map(drop)?)
    }

    pub(super) async fn fork(&self) -> Result<Option<Fork>> {
        self.read(FORK).await
    }

    pub(super) async fn keep_fork(&self, fork: &Fork) -> Result<()> {
        Ok(self.store.commit(self.put(FORK, fork)).await.map(drop)?)
    }

    /// Deletes the fork and the trust root: the operator has decided which history is valid.
    pub(super) async fn settle_fork(&self) -> Result<()> {
        let batch = Batch::new(self.tenant.clone());
        let batch = batch.delete(FORK, self.id()).delete(TRUST, self.id());
        Ok(self.store.commit(batch).await.map(drop)?)
    }

    fn put(&self, kind: &'static str, item: &impl CborItem) -> Batch {
        Batch::new(self.tenant.clone()).put(Put::new(kind, self.id(), item.to_cbor()))
    }

    async fn read<T: CborItem>(&self, kind: &str) -> Result<Option<T>> {
        let record = self.store.read(&self.tenant, kind, self.id()).await?;
        let item = record.map(|record| T::from_cbor(&record.value)).transpose();
        item.map_err(Error::internal)
    }

    fn id(&self) -> &str {
        self.network.as_str()
    }
}
