//! The accumulator: the public state of a registry, its first value, its changes, and their records.

use std::collections::BTreeSet;

use selfsame_bignum::pairing::{G2, G2OrIdentity, Scalar};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use super::key::{CredentialRevocationPrivateKey, RevocationKey, RevocationKeyPrivate};
use super::list::{
    Changes, IssuedAtStart, MAX_CREDENTIALS, OUT_OF_RANGE, check_capacity, check_index,
};
use super::tails::TailsGenerator;
use crate::error::Error;

/// The product of g'^(γ^(L+1-j)) over the indices j of the credentials that are not revoked; the neutral element for
/// an empty product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Accumulator(G2OrIdentity);

impl Accumulator {
    pub(crate) fn new(point: G2) -> Self {
        Self(G2OrIdentity(point))
    }

    pub(crate) fn point(&self) -> &G2 {
        &self.0.0
    }
}

/// A registry's state: `{"accum": …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevocationRegistry {
    /// The accumulator.
    pub accum: Accumulator,
}

/// The changes between two states, as the ledgers of the Indy era record them. (AnonCreds v1.0, "AnonCreds Credential
/// Activation/Revocation and Publication".)
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RegistryDelta {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prev_accum: Option<Accumulator>,
    accum: Accumulator,
    #[serde(
        default,
        skip_serializing_if = "BTreeSet::is_empty",
        deserialize_with = "indices"
    )]
    issued: BTreeSet<u32>,
    #[serde(
        default,
        skip_serializing_if = "BTreeSet::is_empty",
        deserialize_with = "indices"
    )]
    revoked: BTreeSet<u32>,
}

impl RegistryDelta {
    /// The record of `changes` from one accumulator, if there was one, to the next.
    #[cfg(test)]
    pub(crate) fn new(before: Option<Accumulator>, after: Accumulator, changes: Changes) -> Self {
        let (issued, revoked) = changes.into_sets();
        Self {
            prev_accum: before,
            accum: after,
            issued,
            revoked,
        }
    }

    /// The changes.
    ///
    /// # Errors
    /// [`Error::Registry`] if an index is both issued and revoked.
    pub fn changes(&self) -> Result<Changes, Error> {
        Changes::new(self.issued.clone(), self.revoked.clone())
    }
}

/// An issuer at one registry: its keys and the registry's capacity. All exponents here are secret, as are their sums.
#[derive(Debug, Clone, Copy)]
pub struct RegistryIssuer<'a> {
    /// The credential definition's public key.
    pub key: &'a RevocationKey,
    /// The credential definition's private key.
    pub private: &'a CredentialRevocationPrivateKey,
    /// The registry's secret.
    pub registry: &'a RevocationKeyPrivate,
    /// The number of credentials that the registry has room for (`maxCredNum`).
    pub capacity: u32,
}

impl RegistryIssuer<'_> {
    /// The points of the registry's tails file, which follow [`TAILS_VERSION`](super::TAILS_VERSION).
    ///
    /// # Errors
    /// Those of [`RevocationList::new`](super::RevocationList::new).
    pub fn tails(&self) -> Result<TailsGenerator<'_>, Error> {
        TailsGenerator::new(self.key, self.registry, self.capacity)
    }

    /// The accumulator of a new registry: of all indices from 1 to L, or of none.
    ///
    /// # Errors
    /// Those of [`RevocationList::new`](super::RevocationList::new).
    pub fn initial(&self, issuance: IssuedAtStart) -> Result<Accumulator, Error> {
        check_capacity(self.capacity)?;
        if issuance == IssuedAtStart::OnDemand {
            return Ok(Accumulator::new(G2::identity()));
        }
        let mut power = Scalar::one();
        let mut sum = Scalar::zero();
        for _ in 0..self.capacity {
            power = power.mul(&self.registry.gamma);
            sum = sum.add(&power);
        }
        Ok(Accumulator::new(self.g_dash(&sum)))
    }

    /// The accumulator after these changes. Only the status list shows whether the changes are possible
    /// ([`RevocationList::changed`](super::RevocationList::changed)); the accumulator cannot.
    ///
    /// # Errors
    /// [`Error::Registry`] for an index out of range.
    pub fn update(&self, before: &Accumulator, changes: &Changes) -> Result<Accumulator, Error> {
        let mut sum = Scalar::zero();
        for index in changes.issued() {
            sum = sum.add(&self.tail_exponent(*index)?);
        }
        for index in changes.revoked() {
            sum = sum.sub(&self.tail_exponent(*index)?);
        }
        if changes.is_empty() {
            return Ok(*before);
        }
        let change = self.g_dash(&sum);
        Ok(Accumulator::new(before.point().add(&change)))
    }

    /// g'^exponent, for a secret exponent.
    pub(crate) fn g_dash(&self, exponent: &Scalar) -> G2 {
        self.key.multiples_of_g_dash().mul(exponent)
    }

    /// γ^(L+1-index).
    pub(crate) fn tail_exponent(&self, index: u32) -> Result<Scalar, Error> {
        check_index(index, self.capacity)?;
        let exponent = self.capacity.saturating_add(1).saturating_sub(index);
        Ok(self.registry.power(exponent))
    }
}

fn indices<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<u32>, D::Error> {
    let list = Vec::<u32>::deserialize(deserializer)?;
    let set: BTreeSet<u32> = list.iter().copied().collect();
    if set.len() != list.len() {
        return Err(D::Error::custom("an index is repeated"));
    }
    if set.contains(&0) || set.last().is_some_and(|last| *last > MAX_CREDENTIALS) {
        return Err(D::Error::custom(OUT_OF_RANGE));
    }
    Ok(set)
}
