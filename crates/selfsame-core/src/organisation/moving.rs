//! Organisations that move to another instance: what the instance itself keeps of one, beside the records of its tenant.

use selfsame_driver::record::encode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, Expect, Put, Store, TenantId};

use super::erasure::erased;
use super::hosts::{self, ReservedHost};
use super::records::{HostedOrganisation, ORGANISATION, SKELETON, put, taken, unknown};
use super::view::OrganisationState;
use super::{OrganisationName, OrganisationRecord};

/// An organisation that moves: its name, and what the instance keeps of it.
#[derive(Clone, Debug)]
pub struct MovingOrganisation {
    name: OrganisationName,
    record: OrganisationRecord,
    tenant: TenantId,
}

impl MovingOrganisation {
    /// An organisation that is to leave this instance. It is suspended, so that it does not issue at two places.
    ///
    /// # Errors
    /// `NotFound`; `BadRequest` for the one that every instance has; `Gone` for one that is erased; `Conflict` for one
    /// that is active; the store's.
    pub async fn leaving(store: &Store, name: &OrganisationName) -> Result<Self> {
        if name.is_main() {
            return Err(Error::bad_request("organisation-main-stays"));
        }
        let instance = TenantId::instance();
        let found = store.read(&instance, ORGANISATION, name.as_str()).await?;
        let hosted = HostedOrganisation::read(&found.ok_or_else(unknown)?)?;
        let moving = Self::of(hosted.name.clone(), hosted.record)?;
        moving.is_ready().map(|()| moving)
    }

    /// Reads what [`Self::to_bytes`] wrote, at the other instance.
    ///
    /// # Errors
    /// `BadRequest` for other bytes, and for an organisation that can't leave an instance.
    pub fn parse(name: &str, record: &[u8]) -> Result<Self> {
        let name = OrganisationName::for_new(name)?;
        let record = serde_json::from_slice(record);
        let record = record.map_err(|_| Error::bad_request("organisation-moved-malformed"))?;
        let moving = Self::of(name, record)?;
        moving.is_ready().map(|()| moving)
    }

    fn of(name: OrganisationName, record: OrganisationRecord) -> Result<Self> {
        let tenant = TenantId::parse(&record.tenant)?;
        match record.tenant.starts_with(super::TENANT) {
            true => Ok(Self {
                name,
                record,
                tenant,
            }),
            false => Err(Error::bad_request("organisation-moved-malformed")),
        }
    }

    fn is_ready(&self) -> Result<()> {
        match (&self.record.erasure, self.record.state) {
            (None, OrganisationState::Suspended) => Ok(()),
            (None, OrganisationState::Active) => Err(Error::new(
                ErrorKind::Conflict,
                "organisation-not-suspended",
            )
            .with("name", &self.name)),
            _ => Err(erased(&self.name)),
        }
    }

    /// What the instance keeps of it.
    ///
    /// # Errors
    /// `Internal` if it can't be JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        encode(&self.record)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &OrganisationName {
        &self.name
    }

    /// The tenant of its records.
    #[must_use]
    pub fn tenant(&self) -> &TenantId {
        &self.tenant
    }

    /// Refuses an organisation whose name, or whose host, is taken on the instance with this store.
    ///
    /// # Errors
    /// `Conflict`; the store's.
    pub async fn is_free(&self, store: &Store) -> Result<()> {
        let instance = TenantId::instance();
        let skeleton = self.name.skeleton();
        let like = store.version(&instance, SKELETON, &skeleton).await?;
        if like.is_some() {
            return Err(taken(&self.name));
        }
        let Some(host) = &self.record.host else {
            return Ok(());
        };
        match ReservedHost::like(store, host).await? {
            Some(_) => Err(hosts::taken(host)),
            None => Ok(()),
        }
    }

    /// The writes by which the instance has the organisation. They fail if the name or the host is not free any more.
    ///
    /// # Errors
    /// `Internal` if it can't be JSON.
    pub fn arrival(&self) -> Result<Batch> {
        let (name, skeleton) = (&self.name, self.name.skeleton());
        let batch = Batch::new(TenantId::instance())
            .expect(ORGANISATION, name.as_str(), Expect::Absent)
            .expect(SKELETON, &skeleton, Expect::Absent)
            .put(Put::new(SKELETON, skeleton, Vec::new()))
            .put(put(name, &self.record)?);
        let reserved = self.record.host.clone().map(|host| ReservedHost {
            host,
            organisation: name.clone(),
        });
        match reserved {
            Some(reserved) => reserved.within(batch),
            None => Ok(batch),
        }
    }
}

/// The tenant of an organisation's records: of the one that every instance has, that of its issuer.
///
/// # Errors
/// `NotFound`; `Gone` for one that is erased; the store's.
pub async fn tenant_of(store: &Store, name: &OrganisationName) -> Result<TenantId> {
    if name.is_main() {
        return super::tenant("issuer");
    }
    let instance = TenantId::instance();
    let found = store.read(&instance, ORGANISATION, name.as_str()).await?;
    let hosted = HostedOrganisation::read(&found.ok_or_else(unknown)?)?;
    match hosted.record.erasure {
        Some(_) => Err(erased(name)),
        None => hosted.tenant(),
    }
}
