//! The endorsements of the Aries agents: they travel on the agents' connections, and are signed by the organisations.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use selfsame_agent::beside::{Aside, BesideProtocol};
use selfsame_agent::connect::OobAnswer;
use selfsame_agent::{Agents, ConnectionFilter, ListRange};
use selfsame_aries::protocol::Protocol;
use selfsame_core::dids::Author;
use selfsame_didcomm::Message;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_endorsement::protocol::PROTOCOL;
use selfsame_endorsement::{Endorsements, PeerConnections, SaidToPeer, WeakEndorsements};
use selfsame_store::TenantId;
use serde_json::{Map, Value};

use super::App;

/// The connections of the agents.
struct AgentConnections(Agents);

/// The protocol, as the agents give it messages.
struct TransactionProtocol(WeakEndorsements);

/// The endorsements of these agents.
pub(super) fn endorsements(agents: &Agents) -> Endorsements {
    let connections = Arc::new(AgentConnections(agents.clone()));
    let endorsements = Endorsements::new(agents.anoncreds().clone(), connections);
    agents.set_beside(Arc::new(TransactionProtocol(endorsements.weak())));
    endorsements
}

impl App {
    /// The endorsements of its Aries agents.
    #[must_use]
    pub fn endorsements(&self) -> &Endorsements {
        &self.endorsements
    }

    /// Lets the agents sign what they write and endorse.
    pub(super) fn let_agents_endorse(self: &Arc<Self>) {
        let app = Arc::downgrade(self);
        self.endorsements.set_authors(Arc::new(move |tenant| {
            let app = app.clone();
            Box::pin(async move { author_of(&app, &tenant).await })
        }));
    }

    /// Has an author take the invitation of its endorser, if the settings name one.
    pub(super) fn meet_endorser(&self, tenant: TenantId) {
        let endorsements = self.endorsements.clone();
        tokio::spawn(async move {
            if let Err(error) = endorsements.meet_endorser(&tenant).await {
                tracing::warn!(%error, "the invitation of an endorser is not taken");
            }
        });
    }
}

async fn author_of(app: &Weak<App>, tenant: &TenantId) -> Result<Author> {
    let ended = || Error::new(ErrorKind::Unavailable { retry_after: 1 }, "agent-starting");
    app.upgrade().ok_or_else(ended)?.agent_author(tenant).await
}

#[async_trait]
impl BesideProtocol for TransactionProtocol {
    fn protocol(&self) -> Protocol {
        PROTOCOL
    }

    async fn take(&self, tenant: &TenantId, connection: &str, message: &Message) -> Result<Aside> {
        let endorsements = self.0.strong()?;
        let said = endorsements.take(tenant, connection, message).await?;
        Ok(aside(said))
    }
}

#[async_trait]
impl PeerConnections for AgentConnections {
    fn is_heard(&self, tenant: &TenantId) -> bool {
        self.0.is_heard(tenant)
    }

    async fn say(&self, tenant: &TenantId, connection: &str, said: SaidToPeer) -> Result<()> {
        self.0.say_beside(tenant, connection, aside(said)).await
    }

    async fn notes(&self, tenant: &TenantId, connection: &str) -> Result<Map<String, Value>> {
        self.0.connection_metadata(tenant, connection).await
    }

    async fn note(
        &self,
        tenant: &TenantId,
        connection: &str,
        noted: Map<String, Value>,
    ) -> Result<()> {
        self.0.note_connection(tenant, connection, noted).await
    }

    async fn named(&self, tenant: &TenantId, alias: &str) -> Result<Option<String>> {
        let filter = ConnectionFilter {
            alias: Some(alias.to_owned()),
            ..ConnectionFilter::default()
        };
        let newest = ListRange {
            offset: 0,
            limit: 1,
            newest_first: true,
        };
        let found = self.0.connections_where(tenant, &filter, newest).await?;
        Ok(found.into_iter().next().map(|found| found.connection_id))
    }

    async fn invited(
        &self,
        tenant: &TenantId,
        alias: &str,
        invitation: Map<String, Value>,
    ) -> Result<()> {
        let how = OobAnswer {
            alias: Some(alias.to_owned()),
            auto_accept: true,
            use_existing_connection: false,
            label: None,
            key_seconds: None,
        };
        let taken = self.0.receive_oob_invitation(tenant, invitation, how);
        taken.await.map(drop)
    }
}

fn aside(said: SaidToPeer) -> Aside {
    Aside {
        answers: said.messages,
        writes: said.writes,
        tell: said.tell,
    }
}
