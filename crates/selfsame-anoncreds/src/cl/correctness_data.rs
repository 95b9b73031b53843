//! The data of the proof that a public key is well formed.

use dashu_int::UBig;
use serde::{Deserialize, Serialize};

use super::decimal;
use super::powers_data::PowersProof;
use super::safe_primes::SafePrimesProof;

/// The proof that Z and all R are powers of S, without the exponents. (AnonCreds v1.0, "Generating a Credential
/// Definition Without Revocation Support", "key correctness proof".) Unknown members are ignored, so that there may be
/// more proofs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyCorrectnessProof {
    /// The challenge.
    #[serde(with = "decimal")]
    pub(crate) c: UBig,
    /// The response for Z.
    #[serde(with = "decimal")]
    pub(crate) xz_cap: UBig,
    /// The responses for the R, in the order in which the challenge covers them.
    #[serde(with = "decimal::pairs")]
    pub(crate) xr_cap: Vec<(String, UBig)>,
    /// The proof that Z, Rctxt and all R are powers of S, whatever the modulus is: our own member, which others ignore.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) powers_of_s: Option<PowersProof>,
    /// The proof that n is a product of two safe primes, or nearly: our own member too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) safe_primes: Option<SafePrimesProof>,
    /// Where the whole proof is published, if this one lacks our own members.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedKeyProof>,
}

/// Where a proof with our own members is published. They take more than 100 kB, and a holder checks them once for each
/// key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedKeyProof {
    /// Its URL.
    pub location: String,
    /// The SHA-256 of its JSON, in lower-case hexadecimal.
    pub sha256: String,
}

impl KeyCorrectnessProof {
    /// Whether it has members beyond the specification's.
    pub fn has_own_members(&self) -> bool {
        self.powers_of_s.is_some() || self.safe_primes.is_some()
    }

    /// The specification's part, which tells where the whole proof is published.
    #[must_use]
    pub fn abridged(&self, published: Option<PublishedKeyProof>) -> Self {
        Self {
            c: self.c.clone(),
            xz_cap: self.xz_cap.clone(),
            xr_cap: self.xr_cap.clone(),
            powers_of_s: None,
            safe_primes: None,
            published,
        }
    }

    /// The part that is in the specification.
    pub(crate) fn usual(&self) -> (&UBig, &UBig, &[(String, UBig)]) {
        (&self.c, &self.xz_cap, &self.xr_cap)
    }
}
