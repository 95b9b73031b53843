//! Whether an instance can serve, and what its start and its stop note for the next start.

use selfsame_driver::{Error, Result};
use selfsame_ledger::Times;
use selfsame_ledger::embedded::reached;
use selfsame_ledger::view::RegistryClock;
use selfsame_store::{Batch, Put, TenantId};

use super::App;

/// Size of the record that is written to test whether the store has room, and seconds until it expires.
const PROBE_BYTES: usize = 64 * 1024;
const PROBE_SECONDS: u64 = 60;

impl App {
    /// Notes the ledger's height, so that a loss of blocks is noticed later.
    pub(super) async fn note_ledger(&self) -> Result<()> {
        match &self.ledger {
            Some(ledger) => reached::note(&self.shared.store, &**ledger).await,
            None => Ok(()),
        }
    }

    /// Notes the time at which the registry was active, so that the next start can compare the clock with it.
    pub(crate) async fn keep_alive_noted(&self) {
        if let Some(times) = self.times()
            && let Err(error) = times.note(&self.shared.store).await
        {
            tracing::error!(%error, "the time at which the registry was last active can't be stored");
        }
    }

    /// Notes the ledger's height while the instance runs; a failure is only logged.
    pub(crate) async fn keep_ledger_noted(&self) {
        if let Err(error) = self.note_ledger().await {
            tracing::error!(%error, "the ledger's height can't be stored");
        }
    }

    /// Whether the instance can serve and has found no damage in its registry's ledger.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready_since.get().is_some() && !self.is_damaged()
    }

    /// Whether damage in its registry's ledger was found since the start.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        let ledger = self.registry.as_ref().and_then(|own| own.ledger());
        ledger.is_some_and(|ledger| ledger.damage().is_found())
    }

    /// The times of its registry's blocks, if this process alone sets them.
    #[must_use]
    pub fn times(&self) -> Option<&Times> {
        self.registry.as_ref()?.times()
    }

    /// Records that the operator vouches for the clock.
    ///
    /// # Errors
    /// `NotFound` if the block times do not come from this clock alone.
    pub async fn vouch_for_clock(&self) -> Result<RegistryClock> {
        let alone = || Error::not_found("clock-not-alone");
        let times = self.times().ok_or_else(alone)?;
        times.vouch();
        self.keep_alive_noted().await;
        Ok(times.view())
    }

    /// Whether the database of its records answers now.
    pub async fn has_records(&self) -> bool {
        self.shared.store.answers().await
    }

    /// Whether there is room to store more. While the store is full, a test write is tried now and then, since there
    /// may be no other writes as long as this returns `false`.
    pub async fn has_room(&self) -> bool {
        let registry = self.registry.as_ref();
        let ledger = registry.and_then(|registry| registry.ledger());
        if ledger.is_some_and(|ledger| ledger.is_full()) {
            return false;
        }
        if !self.shared.store.is_full() {
            return true;
        }
        if self.tried.is_fresh() {
            return false;
        }
        self.tried.found();
        let expires = self.shared.clock.now().plus(PROBE_SECONDS);
        let probe = Put::new("probe", "room", vec![0; PROBE_BYTES]).expires(expires);
        let batch = Batch::new(TenantId::instance()).put(probe);
        self.shared.store.commit(batch).await.is_ok()
    }
}
