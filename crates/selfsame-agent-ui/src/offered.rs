//! What forms of exchanges share: the agent's definitions, the peer of a connection, and why what was sent is refused.

use selfsame_agent_pages::issue::DefinitionChoice;
use selfsame_agent_pages::{WrongEntry, peer_name};
use selfsame_anoncreds_wallet::Publication;
use selfsame_driver::{Error, Result};
use selfsame_http::error::{Handled, Problem};
use serde::Deserialize;

use crate::here::AgentHere;

/// How many definitions are offered to choose from, the newest ones.
const DEFINITIONS: usize = 100;

/// The connection and the definition that an address names.
#[derive(Deserialize)]
pub struct ChoiceQuery {
    #[serde(default)]
    pub connection: String,
    #[serde(default)]
    pub definition: String,
}

/// What a form of an exchange chooses from.
pub struct ExchangeChoice {
    /// The connection.
    pub connection_id: String,
    /// What the peer is called.
    pub peer: String,
    /// The agent's own definitions, the newest ones first.
    pub own: Vec<Publication>,
}

impl ExchangeChoice {
    /// The choice on a connection.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection; the store's.
    pub async fn on(agent: &AgentHere, connection: &str) -> Result<Self> {
        let view = agent.agents().connection(&agent.tenant, connection).await?;
        let mut own = agent.anoncreds().own_definitions(&agent.tenant).await?;
        own.truncate(DEFINITIONS);
        Ok(Self {
            peer: peer_name(&view).to_owned(),
            connection_id: view.connection_id,
            own,
        })
    }

    /// The definitions, as they are shown.
    pub fn shown(&self) -> Vec<DefinitionChoice> {
        let shown = self.own.iter().map(|one| DefinitionChoice {
            id: one.definition_id.clone().unwrap_or_default(),
            name: schema_name(one),
            tag: one.tag.clone().unwrap_or_default(),
            is_revocable: one.revocable,
        });
        shown.collect()
    }

    /// The definition with this identifier, if it is the agent's own.
    pub fn definition(&self, id: &str) -> Option<&Publication> {
        let is_it = |one: &&Publication| one.definition_id.as_deref() == Some(id);
        self.own.iter().find(is_it)
    }
}

/// What a definition is called: the name and the version of its schema.
pub fn schema_name(one: &Publication) -> String {
    format!("{} {}", one.schema.name, one.schema.version)
}

/// A refusal, beside this field; other errors go on.
///
/// # Errors
/// An error that is no refusal of what was sent.
pub fn refused(field: &str, error: Error) -> Handled<WrongEntry> {
    if !error.is_refusal() {
        return Err(error.into());
    }
    let problem = Problem::from(error);
    let told = problem.told();
    Ok(WrongEntry::of(field, &told.text, told.hint.as_deref()))
}
