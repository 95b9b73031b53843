//! The records that reserve the host names of organisations.

use selfsame_driver::record::{all, decode, encode};
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put, Record, Store, TenantId};
use serde::{Deserialize, Serialize};

use super::{HostName, OrganisationName};

/// The kind of the records, which are the instance's.
pub const HOST: &str = "organisation_host";

/// A host name that an organisation has. It stays for ever, as the organisation's name does: what the organisation issued
/// names the host.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ReservedHost {
    /// The host.
    pub host: HostName,
    pub(super) organisation: OrganisationName,
}

impl ReservedHost {
    fn read(stored: &Record) -> Result<Self> {
        decode(&stored.value)
    }

    /// The reservation of a name that looks like this one, if there is one.
    pub(super) async fn like(store: &Store, host: &HostName) -> Result<Option<Self>> {
        let (instance, skeleton) = (TenantId::instance(), host.skeleton());
        let found = store.read(&instance, HOST, &skeleton).await?;
        found.as_ref().map(Self::read).transpose()
    }

    /// All reservations.
    pub(super) async fn all(store: &Store) -> Result<Vec<Self>> {
        all(store, &TenantId::instance(), HOST, Self::read).await
    }

    /// The batch with the reservation, which fails if the name is not free any more.
    pub(super) fn within(&self, batch: Batch) -> Result<Batch> {
        let skeleton = self.host.skeleton();
        let batch = batch.expect(HOST, &skeleton, Expect::Absent);
        Ok(batch.put(Put::new(HOST, skeleton, encode(self)?)))
    }
}

/// The refusal of a host that an organisation has, or that looks like one.
pub(super) fn taken(host: &HostName) -> Error {
    Error::new(ErrorKind::Conflict, "organisation-host-taken").with("host", host)
}
