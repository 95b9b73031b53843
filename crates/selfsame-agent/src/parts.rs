//! What the parts of an agent share.

use std::sync::Arc;

use selfsame_core::Shared;
use url::Url;

/// How an agent presents itself.
#[derive(Clone, Debug)]
pub struct AgentTerms {
    /// How it calls itself in invitations and requests.
    pub label: String,
    /// The public URL that its peers post messages to.
    pub endpoint: Url,
}

/// What the machines of an agent share.
#[derive(Clone)]
pub struct AgentParts {
    pub shared: Arc<Shared>,
    pub terms: Arc<AgentTerms>,
}
