//! The tails files of a tenant that moves to another instance. They are no records of the tenant, because they are public.

use selfsame_driver::record::{all, decode};
use selfsame_driver::{Error, Result};
use selfsame_store::{Batch, Store, TenantId};
use serde::Deserialize;

use crate::registry::REGISTRY;
use crate::tails;

/// The length of the longest tails file, in bytes.
pub const TAILS_MAX: usize = tails::LONGEST;

/// What the record of a revocation registry says of its tails file.
#[derive(Deserialize)]
struct RegistryTails {
    id: String,
    tails_hash: Option<String>,
}

/// The tails files of a tenant's revocation registries, by their hashes, in order of the registries.
///
/// # Errors
/// The store's.
pub async fn hashes(store: &Store, tenant: &TenantId) -> Result<Vec<String>> {
    let registries = registries(store, tenant).await?;
    let hashes = registries.into_iter().filter_map(|one| one.tails_hash);
    Ok(hashes.collect())
}

/// The tails file with this hash, if it is kept in this store.
///
/// # Errors
/// `Damaged` if a part is missing; the store's.
pub async fn file(store: &Store, hash: &str) -> Result<Option<Vec<u8>>> {
    tails::bytes(store, hash).await
}

/// The writes that keep a tails file which came with a tenant; none if the store has that of the same registry.
///
/// # Errors
/// `BadRequest` if it is not the file of a registry of the tenant; the store's.
pub async fn arrival(store: &Store, tenant: &TenantId, bytes: &[u8]) -> Result<Option<Batch>> {
    let hash = tails::hash_of(bytes).unwrap_or_default();
    let registries = registries(store, tenant).await?;
    let named = |one: &&RegistryTails| one.tails_hash.as_ref() == Some(&hash);
    let Some(registry) = registries.iter().find(named) else {
        return Err(Error::bad_request("anoncreds-tails-other").with("hash", &hash));
    };
    match tails::has(store, &registry.id).await? {
        true => Ok(None),
        false => tails::kept(Some(&registry.id), &hash, bytes).map(Some),
    }
}

async fn registries(store: &Store, tenant: &TenantId) -> Result<Vec<RegistryTails>> {
    all(store, tenant, REGISTRY, |record| decode(&record.value)).await
}
