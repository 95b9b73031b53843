//! Signers of checkpoints: this node's key, and the validators of a head.

use selfsame_crypto::KeyHandle;
use selfsame_driver::keys::Keys;
use selfsame_driver::{Error, Result};
use selfsame_ledger::Ledger;
use selfsame_proof::validators::ValidatorSet;
use selfsame_registry::Head;
use selfsame_store::TenantId;

/// The maximum number of validator changes that are read.
const CHANGES_MAX: usize = 1_024;

/// The key that signs this node's checkpoints.
#[derive(Clone)]
pub struct CheckpointKey {
    /// The validator's name.
    pub name: String,
    /// The key store.
    pub keys: Keys,
    /// The tenant that owns the key.
    pub tenant: TenantId,
    /// The key.
    pub key: KeyHandle,
}

impl CheckpointKey {
    /// Whether this signer is a validator of the set.
    pub(crate) fn is_one_of(&self, set: &ValidatorSet) -> bool {
        let mut validators = set.validators().iter();
        validators.any(|one| one.name == self.name && KeyHandle::of(&one.key) == self.key)
    }

    pub(crate) async fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        self.keys.sign(&self.tenant, &self.key, bytes).await
    }
}

/// The validators that sign the checkpoint of the last head.
pub(crate) fn signers(ledger: &Ledger, head: &Head) -> Result<ValidatorSet> {
    let changes = ledger
        .machine()
        .validator_changes(ledger, CHANGES_MAX)
        .map_err(Error::internal)?;
    let mut before = changes.into_iter().rev();
    match before.find(|change| change.receipt.height < head.height) {
        Some(change) => Ok(change.set),
        None => Ok(ledger.genesis().validators().clone()),
    }
}
