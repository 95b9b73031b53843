//! The instance's own DIDs: the operator creates, rotates and deactivates them. They are anchored or hosted if their
//! method requires it.

mod method;
mod record;

use std::sync::Arc;

use selfsame_crypto::{KeyHandle, KeyType};
use selfsame_did::Did;
use selfsame_did::method::METHODS;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::decode;
use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_store::{Batch, TenantId};

use crate::shared::Shared;
use crate::view::{InstanceDid, NewDid};
use method::Keeping;
use record::{DID, DidRecord, did_id};

pub use method::{ACCEPTANCE, Author, Changing, HOSTED, Registering};

/// The operator's actions on the instance's DIDs.
#[derive(Clone)]
pub struct Dids {
    shared: Arc<Shared>,
    tenant: TenantId,
}

/// A DID's record as read.
struct OwnDid {
    stored: selfsame_store::Record,
    record: DidRecord,
}

impl Dids {
    /// The DIDs of this instance.
    #[must_use]
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            tenant: TenantId::instance(),
        }
    }

    /// Creates a DID. A DID of the registry is anchored there before this returns.
    ///
    /// # Errors
    /// `BadRequest` for an unsupported method or kind of key; the registry's and the store's errors.
    pub async fn create(&self, new: &NewDid) -> Result<InstanceDid> {
        self.shown(&self.made(new).await?).await
    }

    /// The instance's DIDs, newest first.
    ///
    /// # Errors
    /// The store's errors.
    pub async fn list(&self, paging: &Paging) -> Result<Listing<InstanceDid>> {
        let store = &self.shared.store;
        let stored = store.list(&self.tenant, DID, &page(paging)).await?;
        let records = listing(&stored, paging, |stored| decode::<DidRecord>(&stored.value))?;
        let mut items = Vec::with_capacity(records.items.len());
        for record in &records.items {
            items.push(self.shown(record).await?);
        }
        Ok(Listing {
            items,
            next: records.next,
        })
    }

    /// One of the instance's DIDs.
    ///
    /// # Errors
    /// `NotFound` if the DID is not this instance's, and the store's errors.
    pub async fn show(&self, did: &Did) -> Result<InstanceDid> {
        let own = self.own(did).await?.ok_or_else(unknown)?;
        self.shown(&own.record).await
    }

    /// Gives a DID a new key. The former keys stay in the document to verify what they signed.
    ///
    /// # Errors
    /// `BadRequest` for a method without changes, `Gone` for a deactivated DID; the registry's and the store's errors.
    pub async fn rotate(&self, did: &str) -> Result<InstanceDid> {
        let own = self.changeable(did).await?;
        let kind = own.record.key_type()?;
        let batch = Batch::new(self.tenant.clone());
        let (key, _, batch) = self.shared.keys.create(&self.tenant, kind, batch)?;
        let after = own.record.rotated(key.public());
        self.shown(&self.changed(batch, &own, after).await?).await
    }

    /// Deactivates a DID for good.
    ///
    /// # Errors
    /// `BadRequest` for a method without an end, `Gone` for a deactivated DID; the registry's and the store's errors.
    pub async fn deactivate(&self, did: &str) -> Result<InstanceDid> {
        let own = self.changeable(did).await?;
        let after = DidRecord {
            deactivated: true,
            ..own.record.clone()
        };
        let batch = Batch::new(self.tenant.clone());
        self.shown(&self.changed(batch, &own, after).await?).await
    }

    /// The current key of a DID of this instance: its handle and its DID URL.
    ///
    /// # Errors
    /// `NotFound` if the DID is not this instance's, and the store's errors.
    pub async fn current(&self, did: &Did) -> Result<(KeyHandle, String)> {
        let own = self.own(did).await?.ok_or_else(unknown)?;
        let key = own.record.current()?;
        let fixed = did.kid();
        let kid = fixed.unwrap_or_else(|| format!("{did}#{}", key.fragment));
        Ok((key.handle.clone(), kid))
    }

    /// The record of a DID that may be changed now. A pending change is finished first.
    async fn changeable(&self, did: &str) -> Result<OwnDid> {
        let did = Did::parse(did).map_err(|_| Error::bad_request("did-malformed"))?;
        let mut own = self.own(&did).await?.ok_or_else(unknown)?;
        if !did.origin().can_change() {
            let methods = METHODS.names(|method| method.origin.can_change());
            return Err(Error::bad_request("did-unchangeable")
                .with("method", did.method())
                .with("changeable", &methods));
        }
        if let Some(pending) = &own.record.pending {
            match Keeping::named(did.method())? {
                Keeping::Cheqd => self.shared.resume_cheqd(&self.tenant, pending).await?,
                _ => self.shared.resume(&self.tenant, pending).await?,
            }
            own = self.own(&did).await?.ok_or_else(unknown)?;
        }
        match own.record.deactivated {
            true => Err(ended()),
            false => Ok(own),
        }
    }

    async fn shown(&self, record: &DidRecord) -> Result<InstanceDid> {
        Ok(InstanceDid {
            did: record.did.to_string(),
            key: record.current()?.handle.as_str().to_owned(),
            state: record.state().to_owned(),
            document: self.present(record).await?,
        })
    }

    async fn own(&self, did: &Did) -> Result<Option<OwnDid>> {
        let (store, id) = (&self.shared.store, did_id(did));
        let Some(stored) = store.read(&self.tenant, DID, &id).await? else {
            return Ok(None);
        };
        let record = decode(&stored.value)?;
        Ok(Some(OwnDid { stored, record }))
    }
}

fn unknown() -> Error {
    Error::not_found("did-not-ours")
}

fn key_type(name: &str) -> Result<KeyType> {
    match name {
        "P-256" => Ok(KeyType::P256),
        "Ed25519" => Ok(KeyType::Ed25519),
        _ => Err(Error::bad_request("key-type-unknown")),
    }
}

fn ended() -> Error {
    Error::new(ErrorKind::Gone, "did-deactivated")
}
