//! The documents of peers of DIDComm v2.

use selfsame_aries::peer_document::contained;
use selfsame_core::Shared;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash;
use selfsame_did::method::peer::{resolve_short, short_of};
use selfsame_did::{Did, Document, Options};
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Put, TenantId};

/// The kind of the records of long forms of `did:peer:4`, which the short forms do not contain.
const LONG_FORM: &str = "aries_long_did";

/// The document of a DID: the one that it contains, the one of a long form that was met, or the one that others resolve.
///
/// # Errors
/// `BadRequest` if the DID can't be resolved; the store's.
pub(crate) async fn document(shared: &Shared, tenant: &TenantId, did: &Did) -> Result<Document> {
    if let Some(document) = contained(did) {
        return Ok(document);
    }
    let unresolved = || Error::bad_request("aries-did-unresolved").with("did", did);
    let long = shared.store.read(tenant, LONG_FORM, &id(did)).await?;
    if let Some(long) = long {
        let long: Did = decode(&long.value)?;
        return resolve_short(&long).map_err(|_| unresolved());
    }
    let (options, now) = (Options::default(), shared.clock.now());
    let (resolution, _) = shared.resolver.resolve(did, &options, now).await;
    let document = resolution.document_of(did).map_err(|_| unresolved())?;
    Ok(document.clone())
}

/// Adds to the batch that the long form of a DID is known. Only a `did:peer:4` has one.
///
/// # Errors
/// None that can happen.
pub fn remember(batch: Batch, did: &Did) -> Result<Batch> {
    match short_of(did) {
        Ok(short) => Ok(batch.put(Put::new(LONG_FORM, id(&short), encode(did)?))),
        Err(_) => Ok(batch),
    }
}

fn id(short: &Did) -> String {
    hex_encode(&hash::sha256(short.as_str().as_bytes()))
}
