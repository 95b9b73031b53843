//! The issuers' private keys: unsealed and prepared once, and kept while they are used.

use std::sync::Arc;

use selfsame_anoncreds::cl::KeyCorrectnessProof;
use selfsame_anoncreds::issuer::Issuer;

use crate::bounded::Bounded;

/// Keys held; each is wiped when it leaves. Their tables are those of the prepared definitions.
const HELD_MAX: usize = 64;

/// A definition of a tenant with its private key, ready for use.
pub(crate) struct IssuingKey {
    pub(crate) correctness: KeyCorrectnessProof,
    pub(crate) issuer: Issuer,
}

/// The keys held, by the version of the record of the private key, which the store gives once.
pub(crate) struct IssuerKeys(pub(crate) Bounded<u64, Arc<IssuingKey>>);

impl IssuerKeys {
    pub(crate) fn new() -> Self {
        Self(Bounded::new(HELD_MAX))
    }
}
