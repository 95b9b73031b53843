//! A holder's witness: the product of the tails of all other credentials that are not revoked.

use std::fmt;

use selfsame_bignum::pairing::{G1, G2, G2OrIdentity, TailSum, pair_product};
use serde::{Deserialize, Serialize};

use super::key::{RevocationKey, RevocationKeyPublic};
use super::list::{Changes, RevocationList, check_index};
use super::registry::Accumulator;
use super::tails::{Tails, tail_index};
use crate::error::Error;

/// ω, the product of the tails L + 1 - j + i over all credentials j that are not revoked, other than i itself. Anyone
/// who has the tails can tell from it which credential it belongs to, so it is kept as secret as the credential.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    omega: G2OrIdentity,
}

/// The context of a witness: one credential at one state of its registry.
#[derive(Debug, Clone, Copy)]
pub struct WitnessContext<'a> {
    /// The credential definition's key.
    pub key: &'a RevocationKey,
    /// The registry's key.
    pub registry: &'a RevocationKeyPublic,
    /// The registry's state.
    pub accumulator: &'a Accumulator,
    /// The credential's revocation index.
    pub index: u32,
    /// g^(γ^index), from the credential.
    pub(crate) g_i: &'a G1,
}

impl Witness {
    pub(crate) fn new(omega: G2) -> Self {
        Self {
            omega: G2OrIdentity(omega),
        }
    }

    pub(crate) fn omega(&self) -> &G2 {
        &self.omega.0
    }

    /// The witness of `context` from the registry's status list and tails, checked against the accumulator.
    ///
    /// The last index has no bit in the list. It counts as issued if the registry began with all credentials issued,
    /// and not if it began with none. The list does not show which; the accumulator does.
    ///
    /// # Errors
    /// [`Error::Registry`] if the credential is revoked or the index out of range, [`Error::Mismatch`] if list, tails
    /// and accumulator do not belong together, and errors that `tails` returns.
    pub fn build(
        context: &WitnessContext<'_>,
        list: &RevocationList,
        tails: &impl Tails,
    ) -> Result<Self, Error> {
        let tails = OwnTails {
            tails,
            own: context.index,
            capacity: list.capacity(),
        };
        let last = list.capacity();
        check_index(context.index, last)?;
        if context.index != last && list.is_revoked(context.index)? {
            return Err(Error::Registry("the credential is revoked"));
        }
        let with_last = Self::new(tails.sum(list.active().chain([last]))?);
        if with_last.check(context).is_ok() {
            return Ok(with_last);
        }
        let without_last = Self::new(with_last.omega().sub(&tails.sum([last])?));
        without_last.check(context)?;
        Ok(without_last)
    }

    /// Updates the witness by `changes`, and checks it against the accumulator of `context`, which is the state after
    /// them. The tails are those of a registry with room for `capacity` credentials.
    ///
    /// # Errors
    /// Those of [`Witness::build`].
    pub fn update(
        &self,
        context: &WitnessContext<'_>,
        changes: &Changes,
        tails: &impl Tails,
        capacity: u32,
    ) -> Result<Self, Error> {
        check_index(context.index, capacity)?;
        if changes.revoked().contains(&context.index) {
            return Err(Error::Registry("the credential is revoked"));
        }
        let tails = OwnTails {
            tails,
            own: context.index,
            capacity,
        };
        let plus = tails.sum(changes.issued().iter().copied())?;
        let minus = tails.sum(changes.revoked().iter().copied())?;
        let witness = Self::new(self.omega().add(&plus).sub(&minus));
        witness.check(context)?;
        Ok(witness)
    }

    /// Checks that e(g_i, accumulator) = z · e(g, ω): the credential is in the accumulator, and this is its witness.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if not.
    pub fn check(&self, context: &WitnessContext<'_>) -> Result<(), Error> {
        let g = &context.key.public().g;
        let product = pair_product(&[
            (*context.g_i, *context.accumulator.point()),
            (g.neg(), *self.omega()),
        ]);
        if product == context.registry.z {
            Ok(())
        } else {
            Err(Error::Mismatch {
                what: "the witness",
                why: "it does not belong to this state of the registry",
            })
        }
    }
}

/// The tails for the witness of one credential.
struct OwnTails<'a, T> {
    tails: &'a T,
    own: u32,
    capacity: u32,
}

impl<T: Tails> OwnTails<'_, T> {
    /// The sum over other credentials; the credential's own index is skipped.
    fn sum(&self, others: impl IntoIterator<Item = u32>) -> Result<G2, Error> {
        let mut sum = TailSum::empty();
        for other in others.into_iter().filter(|other| *other != self.own) {
            sum.add(
                &self
                    .tails
                    .tail(tail_index(self.own, other, self.capacity)?)?,
            )?;
        }
        Ok(sum.finish()?)
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Witness(…)")
    }
}
