//! Which way a message to a peer goes, and whether there is one yet.

use std::time::Duration;

use selfsame_core::machine::Machine as _;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::TenantId;
use tokio::time::{Instant, sleep};

use super::Agents;
use crate::connections::{ConnectionEntry, Connections};
use crate::exchanges::Way;
use crate::machine::AgentProtocol as _;

/// The first pause between two looks at a connection that is not ready, and the longest. Most connections lack one
/// message that is on its way; another process may take it.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

impl Agents {
    /// What a record that is removed when it is done says, unless the controller wishes otherwise.
    pub(super) fn removes(&self, tenant: &TenantId, wish: Option<bool>) -> bool {
        let settings = self.parts.terms(tenant).settings;
        wish.unwrap_or(!settings.preserve_exchange_records)
    }

    /// The way to the peer of a connection, once it is ready.
    ///
    /// # Errors
    /// `NotFound` if there is no such connection; `Forbidden` if it does not become ready in time.
    pub(super) async fn ready_way(&self, tenant: &TenantId, id: &str) -> Result<Way> {
        let bound = self.parts.terms(tenant).connection_wait;
        let until = Instant::now() + bound;
        let mut pause = FIRST_PAUSE;
        loop {
            let (way, is_over) = self.way_now(tenant, id).await?;
            if let Some(way) = way {
                return Ok(way);
            }
            if is_over || Instant::now() >= until {
                return Err(not_ready(id));
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// The way to the peer, if the connection is ready; and whether it never will be.
    async fn way_now(&self, tenant: &TenantId, id: &str) -> Result<(Option<Way>, bool)> {
        let store = &self.parts.shared.store;
        let records = self.connections.records();
        let found = records.find(store, tenant, Connections::KIND, id).await?;
        let absent = || Error::not_found("connection-absent");
        let (entry, version) = found.ok_or_else(absent)?;
        let found = (way(&entry), entry.record.state.is_over());
        records.keep(version, entry);
        Ok(found)
    }
}

fn not_ready(connection: &str) -> Error {
    Error::new(ErrorKind::Forbidden, "aries-connection-not-ready").with("connection", &connection)
}

/// The way to the peer of a connection that is ready.
pub(super) fn way(entry: &ConnectionEntry) -> Option<Way> {
    if !entry.record.state.is_ready() {
        return None;
    }
    Some(Way {
        from: entry.own_key.clone()?,
        to: entry.peer().ok()?,
        service: None,
    })
}
