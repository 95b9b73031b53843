//! The settings of one agent's admin API.

use selfsame_agent::AgentTerms;
use selfsame_crypto::SecretString;
use selfsame_endorsement::EndorsementTerms;
use url::Url;

/// The settings of one agent's admin API.
#[derive(Clone, Debug)]
pub struct AdminSettings {
    /// The name of the organisation whose agent it is.
    pub organisation: String,
    /// How the agent presents itself, and how far it goes on by itself.
    pub terms: AgentTerms,
    /// What the agent does with endorsements by itself.
    pub endorsement: EndorsementTerms,
    /// The key that callers send; without one, everybody who reaches the listener may call.
    pub api_key: Option<SecretString>,
    /// The host names at which it may be called if it has no key, beside addresses and `localhost`.
    pub hosts: Vec<String>,
    /// The largest body of a request, in bytes.
    pub body_max: usize,
    /// Whether it has sub-wallets.
    pub multitenant: bool,
    /// The base of the links of invitations; the agent's endpoint without one.
    pub invite_base_url: Option<Url>,
}
