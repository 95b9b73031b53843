//! The entrance.

use std::sync::Arc;

use selfsame_core::{Correspondent, Shared};
use selfsame_driver::Result;
use selfsame_store::TenantId;
use tokio::sync::Semaphore;

use crate::bounded::Bounded;
use crate::keys::IssuerKeys;
use crate::link_secret::LinkSecrets;
use crate::objects::Objects;
use crate::publication::Publishing;

/// Computations that wait for a core at once; further ones wait here, so that the pool refuses none.
const COMPUTING_MAX: usize = 32;
/// Tenants that are remembered to have no untagged publications.
const TAGGED_MAX: usize = 10_000;

/// The AnonCreds of the tenants of one process. Clones are the same.
#[derive(Clone)]
pub struct AnonCreds {
    pub(crate) shared: Arc<Shared>,
    pub(crate) objects: Arc<Objects>,
    pub(crate) publishing: Arc<Publishing>,
    pub(crate) keys: Arc<IssuerKeys>,
    pub(crate) secrets: Arc<LinkSecrets>,
    pub(crate) tagged: Arc<Bounded<TenantId, ()>>,
    computing: Arc<Semaphore>,
}

impl AnonCreds {
    /// The AnonCreds on these parts of an instance.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            objects: Arc::new(Objects::new(shared.clone())),
            publishing: Arc::new(Publishing::new(shared.clone())),
            keys: Arc::new(IssuerKeys::new()),
            secrets: Arc::new(LinkSecrets::new(shared.clone())),
            tagged: Arc::new(Bounded::new(TAGGED_MAX)),
            computing: Arc::new(Semaphore::new(COMPUTING_MAX)),
            shared,
        }
    }

    /// The parts of the instance that these stand on.
    #[must_use]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The machines that get the registry's answers.
    #[must_use]
    pub fn correspondents(&self) -> Vec<Arc<dyn Correspondent>> {
        vec![self.publishing.clone()]
    }

    /// Computes on the pool, in turn.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        // The semaphore is never closed.
        let _turn = self.computing.acquire().await;
        self.shared.work.run(job).await?
    }
}
