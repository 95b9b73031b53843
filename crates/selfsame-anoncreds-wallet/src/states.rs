//! The states from which held credentials were last proven not to be revoked.

use std::sync::Arc;

use selfsame_anoncreds::format::{RevocationState, RevocationStatusList};

use crate::bounded::Bounded;

/// States held.
const HELD_MAX: usize = 256;

/// A state with its list. From it, the state for a later list takes a few tails instead of all.
pub(crate) struct ProvenState {
    pub(crate) state: RevocationState,
    pub(crate) list: Arc<RevocationStatusList>,
}

/// The newest state of each credential, by the digest of the credential.
pub(crate) struct ProvenStates(pub(crate) Bounded<[u8; 32], Arc<ProvenState>>);

impl ProvenStates {
    pub(crate) fn new() -> Self {
        Self(Bounded::new(HELD_MAX))
    }
}
