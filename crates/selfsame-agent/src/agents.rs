//! The agents of one process.

mod beginning;
mod beside;
mod connecting;
mod dids;
mod discovering;
mod exchanges;
mod exchanging;
mod handshaking;
mod inbound;
mod invited;
mod inviting;
mod managing;
mod mediating;
mod returning;
mod rotating;
mod speaking;
mod taking;
mod v2;
mod ways;

use std::sync::{Arc, OnceLock};

use selfsame_anoncreds_wallet::AnonCreds;
use selfsame_core::Correspondent;
use selfsame_store::TenantId;

use crate::connections::Connections;
use crate::discovery::Discovery;
use crate::exchanges::issuing::IssuingProtocol;
use crate::exchanges::proving::ProvingProtocol;
use crate::machine::ProtocolMachine;
use crate::oob::OutOfBand;
use crate::parts::{AgentParts, AgentTerms, Hearing};

pub use beside::BesideProtocol;
pub use discovering::NewDiscovery;
pub use exchanges::{ExchangeFilter, Exchanges};
pub use exchanging::DidRequestWish;
pub use managing::ListRange;

/// The agents of one process. Each tenant is one agent.
#[derive(Clone)]
pub struct Agents {
    parts: AgentParts,
    connections: Arc<ProtocolMachine<Connections>>,
    issuing: Arc<ProtocolMachine<IssuingProtocol>>,
    proving: Arc<ProtocolMachine<ProvingProtocol>>,
    oob: Arc<ProtocolMachine<OutOfBand>>,
    discovery: Arc<ProtocolMachine<Discovery>>,
    beside: Arc<OnceLock<Arc<dyn BesideProtocol>>>,
}

impl Agents {
    /// The agents on these parts of an instance, with these terms for each that is not given others. `hearing` tells
    /// whether somebody hears of the states of an agent's records.
    #[must_use]
    pub fn new(anoncreds: AnonCreds, common: AgentTerms, hearing: Hearing) -> Self {
        let registries_heard = hearing.clone();
        anoncreds.set_hearing(move |tenant| registries_heard(tenant));
        let parts = AgentParts::new(anoncreds, common, hearing);
        Self {
            connections: Arc::new(ProtocolMachine::new(parts.clone())),
            issuing: Arc::new(ProtocolMachine::new(parts.clone())),
            proving: Arc::new(ProtocolMachine::new(parts.clone())),
            oob: Arc::new(ProtocolMachine::new(parts.clone())),
            discovery: Arc::new(ProtocolMachine::new(parts.clone())),
            beside: Arc::default(),
            parts,
        }
    }

    /// The AnonCreds of the agents' tenants.
    #[must_use]
    pub fn anoncreds(&self) -> &AnonCreds {
        &self.parts.anoncreds
    }

    /// Gives an agent terms of its own.
    pub fn set_terms(&self, tenant: &TenantId, terms: AgentTerms) {
        self.parts.set_terms(tenant, terms);
    }

    /// The machines that get the answers to the agents' deliveries.
    #[must_use]
    pub fn correspondents(&self) -> Vec<Arc<dyn Correspondent>> {
        vec![
            self.connections.clone(),
            self.issuing.clone(),
            self.proving.clone(),
            self.oob.clone(),
            self.discovery.clone(),
        ]
    }
}
