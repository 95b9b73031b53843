//! The agents of one process.

use std::sync::Arc;

use selfsame_core::{Correspondent, Shared};
use url::Url;

use crate::connections::Connections;
use crate::machine::{AgentParts, ProtocolMachine};

/// How an agent presents itself.
#[derive(Clone, Debug)]
pub struct AgentTerms {
    /// How it calls itself in invitations and requests.
    pub label: String,
    /// The public URL that its peers post messages to.
    pub endpoint: Url,
}

/// The agents of one process. Each tenant is one agent.
#[derive(Clone)]
pub struct Agents {
    pub(crate) parts: AgentParts,
    pub(crate) connections: Arc<ProtocolMachine<Connections>>,
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
