//! The agents of one process.

mod connecting;
mod inbound;

use std::sync::Arc;

use selfsame_core::{Correspondent, Shared};

use crate::connections::Connections;
use crate::machine::ProtocolMachine;
use crate::parts::{AgentParts, AgentTerms};

pub use connecting::{InvitationAnswer, NewInvitation};

/// The agents of one process. Each tenant is one agent.
#[derive(Clone)]
pub struct Agents {
    parts: AgentParts,
    connections: Arc<ProtocolMachine<Connections>>,
}

impl Agents {
    /// The agents on these parts of an instance.
    #[must_use]
    pub fn new(shared: Arc<Shared>, terms: AgentTerms) -> Self {
        let parts = AgentParts {
            shared,
            terms: Arc::new(terms),
        };
        Self {
            connections: Arc::new(ProtocolMachine::new(parts.clone())),
            parts,
        }
    }

    /// The machines that get the answers to the agents' deliveries.
    #[must_use]
    pub fn correspondents(&self) -> Vec<Arc<dyn Correspondent>> {
        vec![self.connections.clone()]
    }
}
