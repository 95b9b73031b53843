//! Keys that an agent makes for its controllers, each with a DID of its own.

use selfsame_core::Shared;
use selfsame_crypto::encoding::base58_encode;
use selfsame_didcomm::Version;
use selfsame_driver::record::{all, decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Put, TenantId};
use serde::{Deserialize, Serialize};

use crate::keys;
use crate::own_side::{self, OwnDid, OwnSide, OwnTerms, PartyWish};

/// The method that ACA-Py names for unqualified DIDs.
const UNQUALIFIED: &str = "sov";
/// The kind of their records.
const LOCAL_DID: &str = "aries_did";

/// A DID that only those know who are told of it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct LocalDid {
    /// The DID.
    pub did: String,
    /// Its key, in base58.
    pub verkey: String,
    /// Its method.
    pub method: String,
}

/// Makes a key with its DID: of the method that is the key itself, of a peer with the agent's endpoint, or unqualified
/// (RFC 0793).
///
/// # Errors
/// `BadRequest` for another method; the store's.
pub async fn create(shared: &Shared, terms: &OwnTerms<'_>, method: &str) -> Result<LocalDid> {
    if let Ok(did @ (OwnDid::Peer2 | OwnDid::Peer4)) = OwnDid::of_method(method) {
        let wish = PartyWish {
            side: OwnSide {
                did,
                ..OwnSide::default()
            },
            with_doc: false,
            version: Version::V1,
        };
        let made = own_side::make(shared, terms, wish).await?;
        let did = LocalDid {
            did: made.party.did,
            verkey: made.key.to_base58(),
            method: method.to_owned(),
        };
        let put = Put::new(LOCAL_DID, &did.verkey, encode(&did)?);
        shared.store.commit(made.writes.put(put)).await?;
        return Ok(did);
    }
    let (key, writes) = keys::create(shared, terms.tenant)?;
    let own = key.to_did();
    let did = match method {
        UNQUALIFIED => {
            let half = key.public_key().bytes().get(..16).unwrap_or_default();
            base58_encode(half)
        }
        method if method == own.method() => own.to_string(),
        other => return Err(Error::bad_request("agent-did-method").with("method", &other)),
    };
    let made = LocalDid {
        did,
        verkey: key.to_base58(),
        method: method.to_owned(),
    };
    let put = Put::new(LOCAL_DID, &made.verkey, encode(&made)?);
    shared.store.commit(writes.put(put)).await?;
    Ok(made)
}

/// The DIDs that were made so, the oldest first.
///
/// # Errors
/// The store's.
pub async fn list(shared: &Shared, tenant: &TenantId) -> Result<Vec<LocalDid>> {
    let store = &shared.store;
    all(store, tenant, LOCAL_DID, |stored| decode(&stored.value)).await
}
