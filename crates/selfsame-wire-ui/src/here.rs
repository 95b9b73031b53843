//! What the handlers need of the instance that serves them.

use selfsame_driver::{Error, Result};
use selfsame_wire::{WireExchange, WireTenant, Wires};

/// The recorded flows of the organisation whose address was called, or of the person who calls their wallet.
#[derive(Clone)]
pub struct WireHere {
    /// The flows of the instance.
    pub wires: Wires,
    /// The tenant of the flows.
    pub tenant: WireTenant,
    /// The tenant that switches recording on and off.
    pub switch: WireTenant,
}

impl WireHere {
    /// Whether its flows are recorded.
    pub(crate) async fn is_on(&self) -> Result<bool> {
        self.wires.is_on(&self.switch).await
    }

    /// Keeps what was sent at a step, and what was answered.
    pub(crate) async fn record(&self, exchange: &WireExchange<'_>) {
        if let Err(error) = self.wires.record(&self.tenant, exchange).await {
            told(&error);
        }
    }
}

/// A flow goes on whatever becomes of its record.
pub(crate) fn told(error: &Error) {
    tracing::warn!(%error, "what happened on the wire is not recorded");
}
