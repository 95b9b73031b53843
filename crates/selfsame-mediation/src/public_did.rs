//! The public DID of an agent: one that others resolve, and whose key this agent holds.

use selfsame_aries::key::VerKey;
use selfsame_aries::peer_document::PeerDocument;
use selfsame_core::Shared;
use selfsame_did::{Did, Options};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Put, TenantId};
use serde::{Deserialize, Serialize};

use crate::keys;

/// The kind of its record.
const PUBLIC_DID: &str = "aries_public_did";
/// The identifier of its record.
const ID: &str = "own";

/// A public DID.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PublicDid {
    /// The DID.
    pub did: Did,
    /// The key that messages to it are encrypted to, and that signs responses.
    pub key: VerKey,
}

/// The public DID of a tenant; `None` if it has none.
///
/// # Errors
/// The store's.
pub async fn find(shared: &Shared, tenant: &TenantId) -> Result<Option<PublicDid>> {
    let found = shared.store.read(tenant, PUBLIC_DID, ID).await?;
    found.map(|found| decode(&found.value)).transpose()
}

/// The public DID of a tenant.
///
/// # Errors
/// `BadRequest` if it has none; the store's.
pub async fn required(shared: &Shared, tenant: &TenantId) -> Result<PublicDid> {
    let found = find(shared, tenant).await?;
    found.ok_or_else(|| Error::bad_request("aries-public-did-absent"))
}

/// Makes a DID the public one of a tenant, which holds a key of its service for DIDComm v1.
///
/// # Errors
/// `BadRequest` if it can't be resolved, or the tenant holds no key that messages to it are encrypted to.
pub async fn adopt(shared: &Shared, tenant: &TenantId, did: &Did) -> Result<PublicDid> {
    let public = held(shared, tenant, did).await?;
    let put = Put::new(PUBLIC_DID, ID, encode(&public)?);
    let batch = Batch::new(tenant.clone()).put(put);
    let batch = keys::route(batch, tenant, &public.key)?;
    shared.store.commit(batch).await?;
    Ok(public)
}

/// A DID with the key of its service for DIDComm v1 that the tenant holds.
///
/// # Errors
/// `BadRequest` if it can't be resolved, or the tenant holds no key that messages to it are encrypted to.
pub async fn held(shared: &Shared, tenant: &TenantId, did: &Did) -> Result<PublicDid> {
    let options = Options::default();
    let resolving = shared.resolver.resolve(did, &options, shared.clock.now());
    let (resolution, _) = resolving.await;
    let unusable = || Error::bad_request("aries-public-did-unusable").with("did", did);
    let document = resolution.document_of(did).map_err(|_| unusable())?;
    let read = PeerDocument::of(document);
    let service = read.service().ok_or_else(unusable)?;
    let mut held = None;
    for key in &service.recipient_keys {
        if shared.keys.public(tenant, &key.handle()).await.is_ok() {
            held = Some(key.clone());
            break;
        }
    }
    Ok(PublicDid {
        did: did.clone(),
        key: held.ok_or_else(unusable)?,
    })
}
