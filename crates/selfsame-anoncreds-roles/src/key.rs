//! What an issuer proves about the key of a credential definition.

use selfsame_anoncreds::Error;
use selfsame_anoncreds::cl::KeyCorrectnessProof;
use selfsame_anoncreds::definition::PreparedDefinition;
use serde::Serialize;

/// The proofs about an issuer's key that verified. A property without a proof may still be true.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KeyProofs {
    /// That Z and every R are powers of S, except for factors of small order.
    pub key_correctness: bool,
    /// That Z, Rctxt and every R are powers of S, whatever the modulus is.
    pub all_bases: bool,
    /// That n is a product of two safe primes, or has powers of one prime in place of p' or q'.
    pub safe_primes: bool,
}

impl KeyProofs {
    /// Verifies the proofs that come with an offer.
    ///
    /// # Errors
    /// [`Error::Issuer`] if a proof is invalid.
    pub fn verify(
        definition: &PreparedDefinition,
        proof: &KeyCorrectnessProof,
    ) -> Result<Self, Error> {
        definition.key().check_correctness(proof)?;
        Self::of_verified(definition, proof)
    }

    /// The proofs of a key whose correctness was verified before.
    pub(crate) fn of_verified(
        definition: &PreparedDefinition,
        proof: &KeyCorrectnessProof,
    ) -> Result<Self, Error> {
        let key = definition.key();
        key.check_safe_primes(proof)?;
        Ok(Self {
            key_correctness: true,
            all_bases: key.all_bases_are_proven(),
            safe_primes: key.safe_primes_are_proven(),
        })
    }
}
