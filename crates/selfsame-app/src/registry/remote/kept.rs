//! What of a registry elsewhere survives a restart: whom this instance trusts, and the evidence of a fork.

use selfsame_did::selfsame::Network;
use selfsame_proof::cbor::Item;
use selfsame_proof::kept::{Fork, Trusted};
use selfsame_proof::read::TrustRoot;
use selfsame_store::{Batch, Put, Store, TenantId};

use crate::error::{Error, Result};

const TRUST: &str = "registry.trust";
const FORK: &str = "registry.fork";

/// The records of one network.
pub(super) struct Kept {
    store: Store,
    tenant: TenantId,
    network: Network,
}

impl Kept {
    pub(super) fn new(store: Store, network: Network) -> Result<Self> {
        Ok(Self {
            store,
            tenant: TenantId::parse("registry").map_err(Error::internal)?,
            network,
        })
    }

    /// The newest trust, and the note of the newest checkpoint seen.
    pub(super) async fn trust(&self) -> Result<Option<(TrustRoot, String)>> {
        let read = self.read::<Trusted>(TRUST).await?;
        Ok(read.map(|trusted| (trusted.root, trusted.note)))
    }

    /// Keeps them. They may be lost with the power; then the reader begins a little earlier.
    pub(super) async fn keep_trust(&self, root: TrustRoot, note: String) -> Result<()> {
        let put = self.put(TRUST, &Trusted { root, note });
        Ok(self.store.commit(put.deferred()).await.map(drop)?)
    }

    pub(super) async fn fork(&self) -> Result<Option<Fork>> {
        self.read(FORK).await
    }

    pub(super) async fn keep_fork(&self, fork: &Fork) -> Result<()> {
        Ok(self.store.commit(self.put(FORK, fork)).await.map(drop)?)
    }

    /// The operator has decided which history holds: what was seen of the other one is forgotten.
    pub(super) async fn settle_fork(&self) -> Result<()> {
        let batch = Batch::new(self.tenant.clone());
        let batch = batch.delete(FORK, self.id()).delete(TRUST, self.id());
        Ok(self.store.commit(batch).await.map(drop)?)
    }

    fn put(&self, kind: &'static str, item: &impl Item) -> Batch {
        Batch::new(self.tenant.clone()).put(Put::new(kind, self.id(), item.to_cbor()))
    }

    async fn read<T: Item>(&self, kind: &str) -> Result<Option<T>> {
        let record = self.store.read(&self.tenant, kind, self.id()).await?;
        let item = record.map(|record| T::from_cbor(&record.value)).transpose();
        item.map_err(Error::internal)
    }

    fn id(&self) -> &str {
        self.network.as_str()
    }
}
