//! The webhooks of an instance: their parts and background tasks.

use std::sync::Arc;

use selfsame_core::Shared;
use selfsame_driver::Result;
use selfsame_store::TenantId;
use tokio::sync::{Notify, watch};

use crate::dispatch::{Dispatcher, OwnerOf};
use crate::hearing::Hearers;
use crate::records;
use crate::sender::Senders;

/// The tenant that endpoints belong to.
pub type WebhookOwner = TenantId;

/// Seconds after which a connection follows no more, unless it was noted again.
pub const FOLLOWED_SECONDS: u64 = 15;

/// The webhooks of an instance.
pub struct Webhooks {
    pub(crate) shared: Arc<Shared>,
    pub(crate) senders: Arc<Senders>,
    pub(crate) owner_of: OwnerOf,
    pub(crate) created: Arc<Notify>,
    pub(crate) hearers: Hearers,
    stopping: watch::Receiver<bool>,
}

impl Webhooks {
    /// The webhooks of this store. `owner_of` returns the tenant whose endpoints get the events of a tenant, and `None`
    /// for a tenant whose events are never sent. The background tasks end when `stopping` becomes true.
    #[must_use]
    pub fn new(
        shared: Arc<Shared>,
        owner_of: fn(&TenantId) -> Option<TenantId>,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        Self {
            senders: Senders::new(shared.clone(), stopping.clone()),
            created: Arc::default(),
            hearers: Hearers::default(),
            shared,
            owner_of,
            stopping,
        }
    }

    /// Who hears of the records of agents.
    #[must_use]
    pub fn hearers(&self) -> &Hearers {
        &self.hearers
    }

    /// Notes for other processes that a connection follows the agents of this owner, or all. They tell of them within two
    /// seconds, until the note is older than [`FOLLOWED_SECONDS`].
    ///
    /// # Errors
    /// The store's.
    pub async fn note_follower(&self, id: &str, owner: Option<&TenantId>) -> Result<()> {
        let until = self.shared.clock.now().plus(FOLLOWED_SECONDS);
        let note = records::follower(id, owner, until)?;
        self.shared.store.commit(note).await?;
        Ok(())
    }

    /// Starts the background tasks.
    pub fn start(&self) {
        tokio::spawn(self.dispatcher().run(self.stopping.clone()));
    }

    /// What turns events into deliveries.
    pub(crate) fn dispatcher(&self) -> Dispatcher {
        Dispatcher {
            shared: self.shared.clone(),
            owner_of: self.owner_of,
            senders: self.senders.clone(),
            created: self.created.clone(),
            hearers: self.hearers.clone(),
        }
    }
}
