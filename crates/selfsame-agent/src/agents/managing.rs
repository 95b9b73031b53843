//! What controllers see of connections, beside making them: lists by what they look for, endpoints, notes, removal.

use selfsame_agent_view::connection::{ConnectionEndpoints, ConnectionFilter, ConnectionView};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Page, Put, TenantId};
use serde_json::{Map, Value};

use super::Agents;
use super::returning::mailboxes;
use crate::connections::{ConnectionEntry, Connections};
use crate::machine::AgentProtocol as _;

/// The kind of what controllers note of connections.
const METADATA: &str = "aries_connection_metadata";
/// How many records are read at a time.
const READ_AT_ONCE: usize = 200;

/// Which part of a list is returned.
#[derive(Clone, Copy, Debug)]
pub struct ListRange {
    /// How many are left out at the beginning.
    pub offset: usize,
    /// How many are returned at most.
    pub limit: usize,
    /// Whether the newest come first.
    pub newest_first: bool,
}

impl Agents {
    /// The connections that fit.
    ///
    /// # Errors
    /// The store's.
    pub async fn connections_where(
        &self,
        tenant: &TenantId,
        filter: &ConnectionFilter,
        range: ListRange,
    ) -> Result<Vec<ConnectionView>> {
        let store = &self.parts.shared.store;
        let (mut found, mut left_out) = (Vec::new(), 0);
        let mut page = Page {
            newest_first: range.newest_first,
            ..Page::first(READ_AT_ONCE)
        };
        loop {
            let records = store.list(tenant, Connections::KIND, &page).await?;
            for stored in &records {
                let entry: ConnectionEntry = decode(&stored.value)?;
                let view = entry.view(&stored.id);
                if entry.is_over || !filter.fits(&view) {
                    continue;
                }
                if left_out < range.offset {
                    left_out += 1;
                    continue;
                }
                if found.len() == range.limit {
                    return Ok(found);
                }
                found.push(view);
            }
            match records.last() {
                Some(last) if records.len() == READ_AT_ONCE => page.after = Some(last.cursor()),
                _ => return Ok(found),
            }
        }
    }

    /// Where both sides of a connection get their messages.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn connection_endpoints(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> Result<ConnectionEndpoints> {
        let entry = self.connection_entry(tenant, id).await?;
        let theirs = entry.peer().ok().or(entry.invited_to);
        let theirs = theirs.and_then(|theirs| theirs.endpoint);
        Ok(ConnectionEndpoints {
            my_endpoint: self.parts.terms(tenant).endpoint.to_string(),
            their_endpoint: theirs.map(|endpoint| endpoint.to_string()),
        })
    }

    /// Removes a connection, with what was noted of it.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn remove_connection(&self, tenant: &TenantId, id: &str) -> Result<()> {
        let entry = self.connection_entry(tenant, id).await?;
        let mediation = &self.parts.mediation;
        let mut batch = mediation.grants.forgotten(tenant, id).await?;
        for mailbox in mailboxes(&entry) {
            batch = batch.and(mediation.queue.emptied(tenant, &mailbox).await?);
        }
        let batch = batch.and(self.texts(tenant, id).forgotten().await?);
        let batch = batch.delete(Connections::KIND, id).delete(METADATA, id);
        self.parts.shared.store.commit(batch).await?;
        Ok(())
    }

    /// What the controller noted of a connection.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; the store's.
    pub async fn connection_metadata(
        &self,
        tenant: &TenantId,
        id: &str,
    ) -> Result<Map<String, Value>> {
        self.connection_entry(tenant, id).await?;
        let store = &self.parts.shared.store;
        match store.read(tenant, METADATA, id).await? {
            Some(stored) => decode(&stored.value),
            None => Ok(Map::new()),
        }
    }

    /// Notes something of a connection, beside what was noted before.
    ///
    /// # Errors
    /// `NotFound` if it does not exist; `Conflict` if it is noted at the same time; the store's.
    pub async fn note_connection(
        &self,
        tenant: &TenantId,
        id: &str,
        noted: Map<String, Value>,
    ) -> Result<()> {
        self.connection_entry(tenant, id).await?;
        let store = &self.parts.shared.store;
        let stored = store.read(tenant, METADATA, id).await?;
        let (mut all, expect) = match stored {
            Some(stored) => (
                decode::<Map<String, Value>>(&stored.value)?,
                Expect::Version(stored.version),
            ),
            None => (Map::new(), Expect::Absent),
        };
        all.extend(noted);
        let batch = Batch::new(tenant.clone())
            .expect(METADATA, id, expect)
            .put(Put::new(METADATA, id, encode(&all)?));
        store.commit(batch).await?;
        Ok(())
    }

    async fn connection_entry(&self, tenant: &TenantId, id: &str) -> Result<ConnectionEntry> {
        let store = &self.parts.shared.store;
        let found = store.read(tenant, Connections::KIND, id).await?;
        let stored = found.ok_or_else(|| Error::not_found("connection-absent"))?;
        decode(&stored.value)
    }
}
