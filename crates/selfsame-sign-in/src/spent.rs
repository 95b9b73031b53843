//! Identifiers that are accepted once: assertions, proofs, request objects. A record says that one was.

use selfsame_driver::{Error, Result};
use selfsame_oauth::Code;
use selfsame_oauth::spent::SpentId;
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};

use crate::refusal::refuse;

/// The kind of the records of identifiers that were used.
pub const SPENT: &str = "oidc_spent";

/// Adds to the batch that these are used. If one is already, the commit is a conflict about [`SPENT`].
pub(crate) fn spend(batch: Batch, spent: &[SpentId]) -> Batch {
    spent.iter().fold(batch, |batch, one| {
        let put = Put::new(SPENT, &one.id, Vec::new()).expires(one.expires);
        batch.expect(SPENT, &one.id, Expect::Absent).put(put)
    })
}

/// Writes that these are used.
///
/// # Errors
/// The refusal of one that was used before; the store's.
pub(crate) async fn spend_now(store: &Store, tenant: &TenantId, spent: &[SpentId]) -> Result<()> {
    if spent.is_empty() {
        return Ok(());
    }
    let batch = spend(Batch::new(tenant.clone()), spent);
    match store.commit(batch).await {
        Ok(_) => Ok(()),
        Err(StoreError::Conflict { kind, .. }) if kind == SPENT => Err(replayed()),
        Err(other) => Err(other.into()),
    }
}

/// Refuses identifiers that were used before. Two calls at once both pass here; the commit lets one of them through.
///
/// # Errors
/// The refusal of one that was used before; the store's.
pub(crate) async fn check_unspent(
    store: &Store,
    tenant: &TenantId,
    spent: &[SpentId],
) -> Result<()> {
    for one in spent {
        if store.version(tenant, SPENT, &one.id).await?.is_some() {
            return Err(replayed());
        }
    }
    Ok(())
}

/// The refusal of an assertion or proof that was used before.
pub(crate) fn replayed() -> Error {
    let reason = "the assertion, proof or request object was used before";
    refuse(Code::InvalidClient, reason)
}
