//! What endorsements need of the connections of agents.

use async_trait::async_trait;
use selfsame_core::notice::Told;
use selfsame_didcomm::Message;
use selfsame_driver::Result;
use selfsame_store::{Batch, TenantId};
use serde_json::{Map, Value};

/// The connections of agents.
#[async_trait]
pub trait PeerConnections: Send + Sync {
    /// Whether somebody hears of the states of a tenant's records.
    fn is_heard(&self, tenant: &TenantId) -> bool;

    /// Says something on a connection once it is ready, in one commit with what is written and told.
    async fn say(&self, tenant: &TenantId, connection: &str, said: SaidToPeer) -> Result<()>;

    /// What is noted of a connection.
    async fn notes(&self, tenant: &TenantId, connection: &str) -> Result<Map<String, Value>>;

    /// Notes something of a connection, beside what was noted before.
    async fn note(
        &self,
        tenant: &TenantId,
        connection: &str,
        noted: Map<String, Value>,
    ) -> Result<()>;

    /// The newest connection with this alias.
    async fn named(&self, tenant: &TenantId, alias: &str) -> Result<Option<String>>;

    /// Takes an invitation of out-of-band to a connection with this alias.
    async fn invited(
        &self,
        tenant: &TenantId,
        alias: &str,
        invitation: Map<String, Value>,
    ) -> Result<()>;
}

/// What a message or an act leads to on a connection.
#[derive(Default)]
pub struct SaidToPeer {
    /// What is sent to the peer.
    pub messages: Vec<Message>,
    /// What is written.
    pub writes: Option<Batch>,
    /// What controllers are told.
    pub tell: Vec<Told>,
}
