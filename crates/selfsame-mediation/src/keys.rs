//! The keys of agents, and the routes by which an envelope finds the agent that holds its key.

use std::collections::BTreeMap;

use selfsame_aries::key::VerKey;
use selfsame_core::Shared;
use selfsame_crypto::agreement::AgreementPrivate;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::{KeyType, hash};
use selfsame_did::DidUrl;
use selfsame_driver::record::{decode, encode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Page, Put, Record, Store, Tag, TenantId};
use serde::{Deserialize, Serialize};

/// The kind of the routes, which the instance holds. A route's identifier is a hash of the key.
const ROUTE: &str = "aries_route";
/// Finds the routes to the keys of a tenant.
const OF_TENANT: &str = "aries_route_tenant";
/// How many keys of an envelope are looked up.
const KIDS_MAX: usize = 16;
/// How many routes one commit removes.
const FORGOTTEN_AT_ONCE: usize = 100;

/// Who sends a message.
#[derive(Clone, Copy, Debug)]
pub struct OwnKey<'a> {
    /// The agent's tenant.
    pub tenant: &'a TenantId,
    /// Its key in the connection.
    pub key: &'a VerKey,
}

/// The holder of a key.
#[derive(Deserialize, Serialize)]
struct KeyRoute {
    tenant: String,
    /// The key, if the route is that of its name in a DID document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<VerKey>,
}

impl KeyRoute {
    /// The route to a key of this tenant.
    fn to(tenant: &TenantId) -> Self {
        Self {
            tenant: tenant.as_str().to_owned(),
            key: None,
        }
    }
}

/// Keys that an envelope is encrypted to and that one agent holds.
pub struct HeldKeys {
    /// The agent's tenant.
    pub tenant: TenantId,
    /// The private keys, by their names in the envelope.
    pub ring: BTreeMap<String, AgreementPrivate>,
    /// The public keys, by the same names.
    pub named: BTreeMap<String, VerKey>,
}

/// Creates an Ed25519 key of this tenant, and adds it to the batch with its route.
///
/// # Errors
/// `Internal` if the system has no randomness.
pub fn create(shared: &Shared, tenant: &TenantId) -> Result<(VerKey, Batch)> {
    let batch = Batch::new(tenant.clone());
    let (key, _, batch) = shared.keys.create(tenant, KeyType::Ed25519, batch)?;
    let key = VerKey::new(key.public().clone()).map_err(Error::internal)?;
    let batch = route(batch, tenant, &key)?;
    Ok((key, batch))
}

/// As [`create`]; key and route are removed after this number of seconds, if there is one.
///
/// # Errors
/// `Internal` if the system has no randomness.
pub async fn create_for(
    shared: &Shared,
    tenant: &TenantId,
    seconds: Option<u64>,
) -> Result<(VerKey, Batch)> {
    let Some(seconds) = seconds else {
        return create(shared, tenant);
    };
    let until = shared.clock.now().plus(seconds);
    let (handle, batch) = shared.keys.create_until(tenant, KeyType::Ed25519, until)?;
    let public = shared.keys.public(tenant, &handle).await?;
    let key = VerKey::new(public).map_err(Error::internal)?;
    let put = route_put(tenant, &route_id(&key), &KeyRoute::to(tenant))?;
    let batch = batch.for_tenant(TenantId::instance());
    let batch = batch.put(put.expires(until));
    Ok((key, batch.for_tenant(tenant.clone())))
}

/// Adds to the batch the route that leads from a key to this tenant, which holds it.
///
/// # Errors
/// None that can happen.
pub fn route(batch: Batch, tenant: &TenantId, key: &VerKey) -> Result<Batch> {
    routed(batch, tenant, &route_id(key), &KeyRoute::to(tenant))
}

/// Adds to the batch the route from the name of a key in the document of a DID, which messages of DIDComm v2 are encrypted
/// to, to this tenant. The key of that name is the X25519 form of `key`.
///
/// # Errors
/// None that can happen.
pub fn route_name(batch: Batch, tenant: &TenantId, name: &DidUrl, key: &VerKey) -> Result<Batch> {
    let route = KeyRoute {
        key: Some(key.clone()),
        ..KeyRoute::to(tenant)
    };
    routed(batch, tenant, &name_id(&name.to_string()), &route)
}

fn routed(batch: Batch, tenant: &TenantId, id: &str, route: &KeyRoute) -> Result<Batch> {
    let put = route_put(tenant, id, route)?;
    let batch = batch.for_tenant(TenantId::instance()).put(put);
    Ok(batch.for_tenant(tenant.clone()))
}

fn route_put(tenant: &TenantId, id: &str, route: &KeyRoute) -> Result<Put> {
    let put = Put::new(ROUTE, id, encode(route)?);
    Ok(put.tag(Tag::hashed(OF_TENANT, tenant.as_str())))
}

/// Removes some of the routes to the keys of a tenant that is erased. Returns whether none is left.
///
/// # Errors
/// The store's.
pub async fn forget_routes(store: &Store, tenant: &TenantId) -> Result<bool> {
    let (instance, tag) = (
        TenantId::instance(),
        Tag::hashed(OF_TENANT, tenant.as_str()),
    );
    let page = Page::first(FORGOTTEN_AT_ONCE);
    let found = store.find(&instance, ROUTE, &tag, &page).await?;
    if !found.is_empty() {
        let batch = Batch::new(instance);
        let delete = |batch: Batch, route: &Record| batch.delete(ROUTE, &route.id);
        store.commit(found.iter().fold(batch, delete)).await?;
    }
    Ok(found.len() < FORGOTTEN_AT_ONCE)
}

/// The keys among these names that an agent here holds; those of the first agent that holds one.
///
/// # Errors
/// The store's.
pub async fn held(shared: &Shared, kids: &[String]) -> Result<Option<HeldKeys>> {
    let mut held: Option<HeldKeys> = None;
    for kid in kids.iter().take(KIDS_MAX) {
        let parsed = VerKey::parse(kid).ok();
        let id = match &parsed {
            Some(key) => route_id(key),
            None => name_id(kid),
        };
        let instance = TenantId::instance();
        let route = shared.store.read(&instance, ROUTE, &id).await?;
        let Some(route) = route else {
            continue;
        };
        let route: KeyRoute = decode(&route.value)?;
        let Some(key) = parsed.or(route.key) else {
            continue;
        };
        let tenant = TenantId::parse(&route.tenant).map_err(Error::internal)?;
        if held.as_ref().is_some_and(|held| held.tenant != tenant) {
            continue;
        }
        let private = shared.keys.unsealed(&tenant, &key.handle()).await?;
        let private = AgreementPrivate::of_ed25519(&private).map_err(Error::internal)?;
        let (ring, named) = (BTreeMap::new(), BTreeMap::new());
        let held = held.get_or_insert(HeldKeys {
            tenant,
            ring,
            named,
        });
        held.ring.insert(kid.clone(), private);
        held.named.insert(kid.clone(), key);
    }
    Ok(held)
}

fn name_id(name: &str) -> String {
    hex_encode(&hash::sha256(name.as_bytes()))
}

fn route_id(key: &VerKey) -> String {
    hex_encode(&hash::sha256(key.public_key().bytes()))
}
