//! A person's keys and DIDs.

use std::sync::Arc;

use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyHandle, KeyType, PrivateKey, encoding, hash};
use selfsame_did::Did;
use selfsame_did::method::METHODS;
use selfsame_driver::paging::{Listing, Paging, listing, page};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Expect, Put, TenantId};
use serde::{Deserialize, Serialize};

use crate::Wallet;
use crate::view::{DidInfo, KeyInfo, Person};
use selfsame_core::identity::kid_of;

const DID: &str = "did";
pub(super) const NAMED_KEY: &str = "named_key";

#[derive(Deserialize, Serialize)]
struct DidRecord {
    did: String,
    kid: String,
    key: KeyHandle,
    created: UnixTime,
}

#[derive(Deserialize, Serialize)]
struct KeyRecord {
    kind: String,
    created: UnixTime,
}

impl Wallet {
    /// Creates a key.
    ///
    /// # Errors
    /// `BadRequest` for an unsupported kind of key, `Full` if the person has the maximum number of keys.
    pub async fn create_key(&self, person: &Person, kind: &str) -> Result<KeyInfo> {
        self.quotas.has_room_for_a_key(person).await?;
        let (info, batch, _) = self.new_key(person, kind)?;
        self.shared.store.commit(batch).await?;
        Ok(info)
    }

    /// A person's own keys, without those that were created for single cards.
    ///
    /// # Errors
    /// The store's.
    pub async fn keys(&self, person: &Person, paging: &Paging) -> Result<Listing<KeyInfo>> {
        let store = &self.shared.store;
        let records = store.list(&person.tenant, NAMED_KEY, &page(paging)).await?;
        listing(&records, paging, |record| {
            let key: KeyRecord = decode(&record.value)?;
            Ok(KeyInfo {
                handle: record.id.clone(),
                kind: key.kind,
                created: key.created.rfc3339(),
            })
        })
    }

    /// Creates a DID with a key of its own. Its methods are those whose DIDs contain the key, so that nothing is sent to
    /// the registry.
    ///
    /// # Errors
    /// `BadRequest` for an unsupported method, `Full` if the person has the maximum number of keys.
    pub async fn create_did(&self, person: &Person, method: &str, kind: &str) -> Result<DidInfo> {
        let of_key = METHODS.named(method).and_then(|method| method.of_key);
        let of_key = of_key.ok_or_else(|| {
            let names = METHODS.names(|method| method.of_key.is_some());
            Error::bad_request("wallet-did-method")
                .with("method", &method)
                .with("known", &names)
        })?;
        self.quotas.has_room_for_a_key(person).await?;
        let (info, batch, key) = self.new_key(person, kind)?;
        let did = (of_key.create)(key.public());
        let record = DidRecord {
            kid: kid_of(&did),
            did: did.as_str().to_owned(),
            key: KeyHandle::of(key.public()),
            created: self.shared.clock.now(),
        };
        let id = did_id(did.as_str());
        let batch =
            batch
                .expect(DID, &id, Expect::Absent)
                .put(Put::new(DID, &id, encode(&record)?));
        self.shared.store.commit(batch).await?;
        Ok(DidInfo {
            did: record.did,
            key: info.handle,
            created: info.created,
        })
    }

    /// A person's DIDs.
    ///
    /// # Errors
    /// The store's.
    pub async fn dids(&self, person: &Person, paging: &Paging) -> Result<Listing<DidInfo>> {
        let store = &self.shared.store;
        let records = store.list(&person.tenant, DID, &page(paging)).await?;
        listing(&records, paging, |record| {
            let did: DidRecord = decode(&record.value)?;
            Ok(DidInfo {
                did: did.did,
                key: did.key.as_str().to_owned(),
                created: did.created.rfc3339(),
            })
        })
    }

    /// Lets credentials be bound to a DID whose key is stored elsewhere in this store: the DID, the DID URL of its key,
    /// and the key's handle.
    pub async fn lend_did(
        &self,
        tenant: &TenantId,
        did: &Did,
        kid: &str,
        key: &KeyHandle,
    ) -> Result<()> {
        let record = DidRecord {
            did: did.to_string(),
            kid: kid.to_owned(),
            key: key.clone(),
            created: self.shared.clock.now(),
        };
        let put = Put::new(DID, did_id(did.as_str()), encode(&record)?);
        let batch = Batch::new(tenant.clone()).put(put);
        self.shared.store.commit(batch).await?;
        Ok(())
    }

    /// Whether a person created this key, rather than the wallet for a single card.
    pub(super) async fn is_named(&self, tenant: &TenantId, key: &KeyHandle) -> Result<bool> {
        let record = self.shared.store.read(tenant, NAMED_KEY, key.as_str());
        Ok(record.await?.is_some())
    }

    /// The key of one of a person's DIDs, and the DID URL of that key.
    pub(super) async fn did_key(
        &self,
        tenant: &TenantId,
        did: &str,
    ) -> Result<(Arc<PrivateKey>, String)> {
        let store = &self.shared.store;
        let record = store
            .read(tenant, DID, &did_id(did))
            .await?
            .ok_or_else(|| Error::not_found("did-not-of-wallet"))?;
        let record: DidRecord = decode(&record.value)?;
        Ok((
            self.shared.keys.unsealed(tenant, &record.key).await?,
            record.kid,
        ))
    }

    /// Adds to the batch that a person made this key elsewhere, and returns the batch.
    ///
    /// # Errors
    /// `Full` if the person has the maximum number of keys.
    pub(super) async fn own_key(
        &self,
        person: &Person,
        key: &PrivateKey,
        batch: Batch,
    ) -> Result<Batch> {
        let handle = KeyHandle::of(key.public());
        if self.is_named(&person.tenant, &handle).await? {
            return Ok(batch);
        }
        self.quotas.has_room_for_a_key(person).await?;
        let record = KeyRecord {
            kind: kind_name(key.public().key_type()).to_owned(),
            created: self.shared.clock.now(),
        };
        Ok(batch.put(Put::new(NAMED_KEY, handle.as_str(), encode(&record)?)))
    }

    fn new_key(&self, person: &Person, kind: &str) -> Result<(KeyInfo, Batch, Arc<PrivateKey>)> {
        let kind = key_type(kind)?;
        let batch = Batch::new(person.tenant.clone());
        let (key, handle, batch) = self.shared.keys.create(&person.tenant, kind, batch)?;
        let record = KeyRecord {
            kind: kind_name(kind).to_owned(),
            created: self.shared.clock.now(),
        };
        let batch = batch.put(Put::new(NAMED_KEY, handle.as_str(), encode(&record)?));
        let info = KeyInfo {
            handle: handle.as_str().to_owned(),
            kind: record.kind,
            created: record.created.rfc3339(),
        };
        Ok((info, batch, key))
    }
}

/// Parses the name of a kind of key.
///
/// # Errors
/// `BadRequest` for an unsupported kind of key.
fn key_type(name: &str) -> Result<KeyType> {
    match name {
        "P-256" => Ok(KeyType::P256),
        "Ed25519" => Ok(KeyType::Ed25519),
        _ => Err(Error::bad_request("key-type-unknown")),
    }
}

fn kind_name(kind: KeyType) -> &'static str {
    match kind {
        KeyType::Ed25519 => "Ed25519",
        KeyType::P256 => "P-256",
        _ => "other",
    }
}

fn did_id(did: &str) -> String {
    encoding::base64url_encode(&hash::sha256(did.as_bytes()))
}
