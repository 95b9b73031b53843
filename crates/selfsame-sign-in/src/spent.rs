//! Identifiers that are accepted once: assertions, attestations, request objects, and proofs of possession. A record says
//! that one was.

use selfsame_driver::{Error, Result};
use selfsame_oauth::Code;
use selfsame_oauth::spent::SpentId;
use selfsame_store::{Batch, Expect, Put, Store, StoreError, TenantId};

use crate::refusal::refuse;

/// The kind of the records of identifiers that were used.
const SPENT: &str = "oidc_spent";
/// The kind of those of proofs of possession (RFC 9449), whose repetition has a code of its own.
const PROVEN: &str = "oidc_proven";

/// The identifiers that a call uses up.
#[derive(Default)]
pub(crate) struct SpentIds {
    /// Those of what the client authenticates and asks by.
    pub tokens: Vec<SpentId>,
    /// Those of proofs of possession.
    pub proofs: Vec<SpentId>,
}

impl SpentIds {
    /// Those of tokens alone.
    pub fn of_tokens(tokens: Vec<SpentId>) -> Self {
        Self {
            tokens,
            proofs: Vec::new(),
        }
    }

    fn all(&self) -> impl Iterator<Item = (&'static str, &SpentId)> {
        let tokens = self.tokens.iter().map(|one| (SPENT, one));
        tokens.chain(self.proofs.iter().map(|one| (PROVEN, one)))
    }
}

/// Adds to the batch that these are used. If one is already, the commit is a conflict that [`used`] knows.
pub(crate) fn spend(batch: Batch, spent: &SpentIds) -> Batch {
    spent.all().fold(batch, |batch, (kind, one)| {
        let put = Put::new(kind, &one.id, Vec::new()).expires(one.expires);
        batch.expect(kind, &one.id, Expect::Absent).put(put)
    })
}

/// Writes that these are used.
///
/// # Errors
/// The refusal of one that was used before; the store's.
pub(crate) async fn spend_now(store: &Store, tenant: &TenantId, spent: &SpentIds) -> Result<()> {
    if spent.all().next().is_none() {
        return Ok(());
    }
    let batch = spend(Batch::new(tenant.clone()), spent);
    store.commit(batch).await.map(drop).map_err(refused)
}

/// Refuses identifiers that were used before. Two calls at once both pass here; the commit lets one of them through.
///
/// # Errors
/// The refusal of one that was used before; the store's.
pub(crate) async fn check_unspent(
    store: &Store,
    tenant: &TenantId,
    spent: &SpentIds,
) -> Result<()> {
    for (kind, one) in spent.all() {
        if store.version(tenant, kind, &one.id).await?.is_some() {
            return Err(replayed(kind));
        }
    }
    Ok(())
}

/// The refusal of a commit that found one of these used, if it did.
pub(crate) fn used(kind: &str) -> Option<Error> {
    [SPENT, PROVEN].contains(&kind).then(|| replayed(kind))
}

/// The refusal of a commit with identifiers.
pub(crate) fn refused(error: StoreError) -> Error {
    let used = match &error {
        StoreError::Conflict { kind, .. } => used(kind),
        _ => None,
    };
    used.unwrap_or_else(|| error.into())
}

/// The refusal of what was used before. RFC 9449 §5: a proof is refused as a proof.
fn replayed(kind: &str) -> Error {
    match kind == PROVEN {
        true => refuse(Code::InvalidDpopProof, "the DPoP proof was used before"),
        false => refuse(
            Code::InvalidClient,
            "the assertion, attestation or request object was used before",
        ),
    }
}
