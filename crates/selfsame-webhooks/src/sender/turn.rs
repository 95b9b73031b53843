//! The turn of a process to send to an endpoint: two processes with one store must not both send, or the order would
//! be lost.

use selfsame_core::Shared;
use selfsame_crypto::time::UnixTime;
use selfsame_driver::Result;
use selfsame_store::{Batch, Expect, StoreError, TenantId};

use crate::records::{TURN, turn_put};

/// Seconds until the turn of a process ends that does not renew it.
const TURN_SECONDS: u64 = 10;
/// Seconds until a turn is renewed.
const RENEWED_AFTER: u64 = 3;

/// The turn at one endpoint.
pub(super) struct SendingTurn {
    endpoint: String,
    process: String,
    held: Option<HeldTurn>,
}

struct HeldTurn {
    version: u64,
    renewed: UnixTime,
}

impl SendingTurn {
    pub fn of(endpoint: &str, process: &str) -> Self {
        Self {
            endpoint: endpoint.to_owned(),
            process: process.to_owned(),
            held: None,
        }
    }

    /// Takes or keeps the turn; false while another process has it.
    pub async fn hold(&mut self, shared: &Shared, owner: &TenantId) -> Result<bool> {
        let now = shared.clock.now();
        let expected = match &self.held {
            Some(held) if now.seconds_since(held.renewed) < RENEWED_AFTER => return Ok(true),
            Some(held) => Expect::Version(held.version),
            None => Expect::Absent,
        };
        let put = turn_put(&self.endpoint, &self.process, now.plus(TURN_SECONDS));
        let batch = Batch::new(owner.clone()).expect(TURN, &self.endpoint, expected);
        match shared.store.commit(batch.put(put)).await {
            Ok(committed) => {
                let version = committed.versions.first().copied();
                let renewed = now;
                self.held = version.map(|version| HeldTurn { version, renewed });
                Ok(true)
            }
            Err(StoreError::Conflict { .. }) => {
                self.held = None;
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Gives the turn back.
    pub async fn release(&mut self, shared: &Shared, owner: &TenantId) {
        let Some(held) = self.held.take() else {
            return;
        };
        let expected = Expect::Version(held.version);
        let batch = Batch::new(owner.clone()).expect(TURN, &self.endpoint, expected);
        // If this fails, the turn ends by itself.
        drop(
            shared
                .store
                .commit(batch.delete(TURN, &self.endpoint))
                .await,
        );
    }
}
