//! The proof of a predicate: that a difference Δ is not negative, because it is a sum of four squares.
//!
//! (AnonCreds v1.0, "Generate the Presentation" and "Verify Validity Proofs".) Every T is Z^u · S^r, so all values are
//! powers of Z and S alone, with exponents that the holder computes itself.

use dashu_int::{IBig, Sign, UBig};
use selfsame_bignum::{Base, Element, Random, Secret, SecretTerm, Signed};

use super::bounds;
use super::equality::Product;
use super::key::KeyInUse;
use super::number::{positive, revealed};
use super::proof_data::{Four, FourAndDelta, Predicate, PredicateProof, PredicateType};
use super::squares::four_squares;
use crate::Error;

impl Predicate {
    /// Whether the difference is the bound minus the attribute.
    fn is_less(&self) -> bool {
        matches!(self.p_type, PredicateType::AtMost | PredicateType::Below)
    }

    /// The smallest or largest value that satisfies the predicate: Δ' of the specification.
    fn bound(&self) -> i64 {
        let value = i64::from(self.value);
        match self.p_type {
            PredicateType::AtLeast | PredicateType::AtMost => value,
            PredicateType::Above => value.saturating_add(1),
            PredicateType::Below => value.saturating_sub(1),
        }
    }

    /// Δ, the distance of the attribute from the bound on the side that satisfies the predicate; `None` if the
    /// predicate does not hold, or the attribute does not fit 32 bits.
    pub(crate) fn difference(&self, value: &IBig) -> Option<u32> {
        let value = i64::from(i32::try_from(value).ok()?);
        let difference = if self.is_less() {
            self.bound().checked_sub(value)
        } else {
            value.checked_sub(self.bound())
        };
        u32::try_from(difference?).ok()
    }
}

/// A predicate's proof that is waiting for its challenge.
pub(crate) struct PredicateCommitment {
    predicate: Predicate,
    squares: [Square; 4],
    delta: Square,
    alpha_mask: Secret,
    c_values: Vec<UBig>,
    t_values: Vec<UBig>,
}

/// One root u_i of a square, committed to in T_i = Z^u_i · S^r_i, and its mask in Z^ũ_i · S^r̃_i. Or Δ itself, whose
/// mask is that of its attribute.
struct Square {
    root: Secret,
    root_mask: Secret,
    blinding: Secret,
    mask: Secret,
}

/// Checks that the squares of the roots add up to the number. If not, the holder would send an invalid proof unnoticed.
fn sum_of(number: u32, roots: [u32; 4]) -> Result<[u32; 4], Error> {
    let squares = roots.map(|root| u64::from(root).wrapping_mul(root.into()));
    let sum = squares.into_iter().fold(0, u64::wrapping_add);
    if sum != u64::from(number) {
        return Err(Error::Malformed {
            what: "a sum of four squares",
            why: "it is another number",
        });
    }
    Ok(roots)
}

impl PredicateCommitment {
    /// Commits to the four roots of Δ and to masks. `value_mask` is the attribute's mask in the equality proof, which
    /// ties the two proofs together. Secret exponents: the roots, Δ, all r and all masks.
    pub(crate) fn new(
        key: KeyInUse<'_>,
        predicate: &Predicate,
        value: &IBig,
        value_mask: &Secret,
        random: &mut Random,
    ) -> Result<Self, Error> {
        let unsatisfied = || Error::Unsatisfied {
            referent: predicate.attr_name.clone(),
            why: "the predicate does not hold",
        };
        let difference = predicate.difference(value).ok_or_else(unsatisfied)?;
        let roots = sum_of(difference, four_squares(difference))?;
        let squares = roots.map(|root| Square::new(root, random));
        let delta = Square {
            root: secret_word(difference, 32),
            root_mask: value_mask.clone(),
            blinding: random.secret(bounds::V_PRIME),
            mask: random.secret(bounds::BLINDING_MASK),
        };
        let alpha_mask = random.secret(bounds::ALPHA_MASK);
        let q = q_mask(&squares, &alpha_mask);
        let s_of_delta = if predicate.is_less() {
            key.s_inverse()
        } else {
            key.s()
        };
        let mut exponents: Vec<(&Secret, Base<'_>, &Secret)> = Vec::with_capacity(11);
        for square in &squares {
            exponents.push((&square.root, key.s(), &square.blinding));
            exponents.push((&square.root_mask, key.s(), &square.mask));
        }
        exponents.push((&delta.root, key.s(), &delta.blinding));
        exponents.push((&delta.root_mask, s_of_delta, &delta.mask));
        exponents.push((&q.0, key.s(), &q.1));
        let mut powers = powers(key, &exponents).into_iter();
        let mut c_values = Vec::with_capacity(5);
        let mut t_values = Vec::with_capacity(6);
        while let Some(power) = powers.next() {
            let last = powers.len() == 0;
            if last {
                t_values.push(power);
            } else {
                c_values.push(power);
                t_values.extend(powers.next());
            }
        }
        Ok(Self {
            predicate: predicate.clone(),
            squares,
            delta,
            alpha_mask,
            c_values,
            t_values,
        })
    }

    /// T₀, T₁, T₂, T₃, T_Δ.
    pub(crate) fn c_values(&self) -> &[UBig] {
        &self.c_values
    }

    /// The commitments to the masks, in the order of T₀, T₁, T₂, T₃, T_Δ, and Q.
    pub(crate) fn t_values(&self) -> &[UBig] {
        &self.t_values
    }

    /// The proof for this challenge; `mj` is the attribute's response in the equality proof.
    pub(crate) fn respond(self, mj: UBig, c: &UBig) -> PredicateProof {
        let respond = |secret: &Secret, mask: &Secret| revealed(secret.mul_public(c).add(mask));
        let roots = self.squares.iter();
        let alpha = roots.fold(Signed::from(self.delta.blinding.clone()), |rest, square| {
            rest.sub(&square.root.mul(&square.blinding))
        });
        let squares = self.squares.each_ref();
        let mut t = self.c_values.into_iter();
        let mut next = || t.next().unwrap_or_default();
        PredicateProof {
            u: Four(squares.map(|square| respond(&square.root, &square.root_mask))),
            r: FourAndDelta {
                squares: squares.map(|square| respond(&square.blinding, &square.mask)),
                delta: respond(&self.delta.blinding, &self.delta.mask),
            },
            mj,
            alpha: revealed(alpha.mul_public(c).add(&self.alpha_mask)),
            t: FourAndDelta {
                squares: [next(), next(), next(), next()],
                delta: next(),
            },
            predicate: self.predicate,
        }
    }
}

impl Square {
    fn new(root: u32, random: &mut Random) -> Self {
        Self {
            root: secret_word(root, bounds::ROOT),
            root_mask: random.secret(bounds::ROOT_MASK),
            blinding: random.secret(bounds::V_PRIME),
            mask: random.secret(bounds::BLINDING_MASK),
        }
    }
}

/// The exponents of Z and S in ∏ T_i^ũ_i · S^α̃: ∑ u_i·ũ_i and α̃ + ∑ r_i·ũ_i.
fn q_mask(squares: &[Square; 4], alpha_mask: &Secret) -> (Secret, Secret) {
    let zero = Secret::from_public(&UBig::ZERO, 1);
    squares
        .iter()
        .fold((zero, alpha_mask.clone()), |(of_z, of_s), square| {
            let mask = &square.root_mask;
            (
                of_z.add(&square.root.mul(mask)),
                of_s.add(&square.blinding.mul(mask)),
            )
        })
}

/// Z^a · base^b for each triple.
fn powers(key: KeyInUse<'_>, exponents: &[(&Secret, Base<'_>, &Secret)]) -> Vec<UBig> {
    let terms: Vec<[SecretTerm<'_>; 2]> = exponents
        .iter()
        .map(|(of_z, base, of_base)| {
            [
                SecretTerm {
                    base: key.z(),
                    exponent: of_z,
                },
                SecretTerm {
                    base: *base,
                    exponent: of_base,
                },
            ]
        })
        .collect();
    let groups: Vec<&[SecretTerm<'_>]> = terms.iter().map(<[_; 2]>::as_slice).collect();
    let powers = key.modulus().secret_powers(&groups);
    powers
        .iter()
        .map(|power| key.modulus().integer(power))
        .collect()
}

fn secret_word(word: u32, bits: usize) -> Secret {
    Secret::from_public(&UBig::from(word), bits)
}

/// The six T values computed from the responses and from T₀, T₁, T₂, T₃, T_Δ:
/// T_i^-c · Z^û_i · S^r̂_i, then T_Δ^∓c · Z^(m̂_j - c·Δ') · S^±r̂_Δ, then T_Δ^-c · ∏ T_i^û_i · S^α̂.
pub(crate) fn t_values<'a>(
    key: KeyInUse<'a>,
    proof: &PredicateProof,
    blinded: &'a [Element],
    c: &UBig,
) -> Result<Vec<Product<'a>>, Error> {
    let [squares @ .., delta] = blinded else {
        return Err(Error::Proof("a predicate lacks its values"));
    };
    let (plus, minus) = (positive(c), negative(c));
    let mut t_values = Vec::with_capacity(6);
    let responses = proof.u.0.iter().zip(&proof.r.squares);
    for (t, (u, r)) in squares.iter().zip(responses) {
        t_values.push(vec![
            (Base::Variable(t), minus.clone()),
            (key.z(), positive(u)),
            (key.s(), positive(r)),
        ]);
    }
    let (of_delta, of_s) = if proof.predicate.is_less() {
        (plus.clone(), negative(&proof.r.delta))
    } else {
        (minus.clone(), positive(&proof.r.delta))
    };
    t_values.push(vec![
        (Base::Variable(delta), of_delta),
        (key.z(), exponent_of_z(proof, &plus)),
        (key.s(), of_s),
    ]);
    let mut q = vec![
        (Base::Variable(delta), minus),
        (key.s(), positive(&proof.alpha)),
    ];
    q.extend(
        squares
            .iter()
            .map(Base::Variable)
            .zip(proof.u.0.each_ref().map(positive)),
    );
    t_values.push(q);
    Ok(t_values)
}

/// m̂_j - c·Δ'.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "integers of any size do not overflow"
)]
fn exponent_of_z(proof: &PredicateProof, c: &IBig) -> IBig {
    positive(&proof.mj) - c * IBig::from(proof.predicate.bound())
}

fn negative(number: &UBig) -> IBig {
    IBig::from_parts(Sign::Negative, number.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_those_of_the_four_comparisons_even_at_the_edges() {
        use PredicateType::{Above, AtLeast, AtMost, Below};
        for (p_type, bound, value, difference) in [
            (AtLeast, 18, 18, Some(0)),
            (AtLeast, 18, 17, None),
            (Above, 18, 18, None),
            (Above, 18, 20, Some(1)),
            (AtMost, 18, 18, Some(0)),
            (AtMost, 18, -5, Some(23)),
            (Below, 18, 18, None),
            (Below, 18, 10, Some(7)),
            (AtLeast, i32::MIN, i32::MAX, Some(u32::MAX)),
            (AtMost, i32::MAX, i32::MIN, Some(u32::MAX)),
            (Above, i32::MAX, i32::MAX, None),
            (Below, i32::MIN, i32::MIN, None),
        ] {
            let predicate = Predicate {
                attr_name: "age".to_owned(),
                p_type,
                value: bound,
            };
            assert_eq!(predicate.difference(&IBig::from(value)), difference);
        }
    }

    #[test]
    fn a_value_of_more_than_32_bits_satisfies_nothing() {
        let predicate = Predicate {
            attr_name: "age".to_owned(),
            p_type: PredicateType::AtLeast,
            value: 18,
        };
        assert_eq!(predicate.difference(&IBig::from(1_i64 << 31)), None);
    }

    #[test]
    fn roots_whose_squares_are_another_sum_are_refused() {
        assert_eq!(sum_of(30, [4, 3, 2, 1]), Ok([4, 3, 2, 1]));
        for (number, roots) in [(31, [4, 3, 2, 1]), (0, [0, 0, 0, 1]), (1, [0; 4])] {
            assert!(matches!(
                sum_of(number, roots),
                Err(Error::Malformed { .. })
            ));
        }
        let largest = u32::MAX;
        assert!(sum_of(0, [largest, largest, largest, largest]).is_err());
    }
}
