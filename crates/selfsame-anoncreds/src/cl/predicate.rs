//! The proof of a predicate: that a difference Δ is not negative, since it is a sum of four squares.
//!
//! (AnonCreds v1.0, "Generate the Presentation" and "Verify Validity Proofs".) Every T is Z^u · S^r, so that all values
//! are powers of Z and S alone, with exponents that the holder adds up itself.

use dashu_int::{IBig, UBig};

use super::blinding::positive;
use super::bounds;
use super::definition::revealed;
use super::key::KeyInUse;
use super::proof_data::{Four, FourAndDelta, Predicate, PredicateProof, PredicateType};
use super::squares::four_squares;
use crate::Error;
use crate::arithmetic::{Base, Element, Secret, SecretTerm, Term};
use crate::random::Random;

impl Predicate {
    /// Whether the difference counts downwards, from the bound to the attribute.
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

    /// Δ, how far an attribute is on the right side; none if it is not there, or no number of 32 bits.
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

/// A predicate's proof that waits for its challenge.
pub(crate) struct Commitment {
    predicate: Predicate,
    squares: [Square; 4],
    delta: Blinded,
    alpha_mask: Secret,
    q: UBig,
}

/// One root u_i of a square, committed to in T_i = Z^u_i · S^r_i.
struct Square {
    root: Secret,
    root_mask: Secret,
    blinded: Blinded,
}

/// A commitment T with the exponent of S in it, and the commitment to their masks.
struct Blinded {
    blinding: Secret,
    mask: Secret,
    t: UBig,
    t_mask: UBig,
}

impl Commitment {
    /// Commits to the four roots of Δ and to masks. `value_mask` is the attribute's in the equality proof, which ties
    /// the two together. Secret exponents: the roots, Δ, all r and all masks.
    pub(crate) fn new(
        key: KeyInUse<'_>,
        predicate: &Predicate,
        (value, value_mask): (&IBig, &Secret),
        random: &mut Random,
    ) -> Result<Self, Error> {
        let unsatisfied = || Error::Unsatisfied {
            referent: predicate.attr_name.clone(),
            why: "the predicate does not hold",
        };
        let difference = predicate.difference(value).ok_or_else(unsatisfied)?;
        let squares = four_squares(difference).map(|root| Square::new(key, root, random));
        let committed = secret_word(difference, 32);
        let base = if predicate.is_less() {
            key.s_inverse()
        } else {
            key.s()
        };
        let delta = Blinded::new(key, (&committed, value_mask), base, random);
        let alpha_mask = random.secret(bounds::ALPHA_MASK);
        let q = q_mask(key, &squares, &alpha_mask);
        Ok(Self {
            predicate: predicate.clone(),
            squares,
            delta,
            alpha_mask,
            q,
        })
    }

    /// T₀, T₁, T₂, T₃, T_Δ.
    pub(crate) fn c_values(&self) -> impl Iterator<Item = &UBig> {
        let squares = self.squares.iter().map(|square| &square.blinded.t);
        squares.chain([&self.delta.t])
    }

    /// The commitments to the masks, in the same order, and Q.
    pub(crate) fn t_values(&self) -> impl Iterator<Item = &UBig> {
        let squares = self.squares.iter().map(|square| &square.blinded.t_mask);
        squares.chain([&self.delta.t_mask, &self.q])
    }

    /// The proof for this challenge; `mj` is the attribute's response in the equality proof.
    pub(crate) fn respond(self, mj: UBig, c: &UBig) -> PredicateProof {
        let respond = |secret: &Secret, mask: &Secret| revealed(&secret.mul_public(c).add(mask));
        let alpha = self
            .squares
            .iter()
            .fold(self.delta.blinding.clone(), |rest, square| {
                rest.sub(&square.root.mul(&square.blinded.blinding))
            });
        let each = |of: &dyn Fn(&Square) -> UBig| self.squares.each_ref().map(of);
        PredicateProof {
            u: Four(each(&|square| respond(&square.root, &square.root_mask))),
            r: FourAndDelta {
                squares: each(&|square| respond(&square.blinded.blinding, &square.blinded.mask)),
                delta: respond(&self.delta.blinding, &self.delta.mask),
            },
            mj,
            alpha: respond(&alpha, &self.alpha_mask),
            t: FourAndDelta {
                squares: each(&|square| square.blinded.t.clone()),
                delta: self.delta.t.clone(),
            },
            predicate: self.predicate,
        }
    }
}

impl Square {
    fn new(key: KeyInUse<'_>, root: u32, random: &mut Random) -> Self {
        let root = secret_word(root, bounds::ROOT);
        let root_mask = random.secret(bounds::ROOT_MASK);
        let blinded = Blinded::new(key, (&root, &root_mask), key.s(), random);
        Self {
            root,
            root_mask,
            blinded,
        }
    }
}

impl Blinded {
    /// T = Z^number · S^r and Z^mask · s^r̃, where `s` is S or its inverse.
    fn new(
        key: KeyInUse<'_>,
        (number, number_mask): (&Secret, &Secret),
        s: Base<'_>,
        random: &mut Random,
    ) -> Self {
        let blinding = random.secret(bounds::V_PRIME);
        let mask = random.secret(bounds::BLINDING_MASK);
        Self {
            t: power(key, number, (key.s(), &blinding)),
            t_mask: power(key, number_mask, (s, &mask)),
            blinding,
            mask,
        }
    }
}

/// ∏ T_i^ũ_i · S^α̃ = Z^(∑ u_i·ũ_i) · S^(α̃ + ∑ r_i·ũ_i).
fn q_mask(key: KeyInUse<'_>, squares: &[Square; 4], alpha_mask: &Secret) -> UBig {
    let zero = Secret::from_public(&UBig::ZERO, 1);
    let (of_z, of_s) = squares
        .iter()
        .fold((zero, alpha_mask.clone()), |(of_z, of_s), square| {
            let mask = &square.root_mask;
            (
                of_z.add(&square.root.mul(mask)),
                of_s.add(&square.blinded.blinding.mul(mask)),
            )
        });
    power(key, &of_z, (key.s(), &of_s))
}

/// Z^z · base^exponent.
fn power(key: KeyInUse<'_>, z: &Secret, (base, exponent): (Base<'_>, &Secret)) -> UBig {
    let terms = [
        SecretTerm {
            base: key.z(),
            exponent: z,
        },
        SecretTerm { base, exponent },
    ];
    key.modulus().integer(&key.modulus().secret_power(&terms))
}

fn secret_word(word: u32, bits: usize) -> Secret {
    Secret::from_public(&UBig::from(word), bits)
}

/// The five blinded values of a proof and their inverses.
pub(crate) struct Values<'a> {
    pub(crate) t: &'a [Element],
    pub(crate) inverse: &'a [Element],
}

/// The six T values as the responses make them.
pub(crate) fn t_values(
    key: KeyInUse<'_>,
    proof: &PredicateProof,
    values: &Values<'_>,
    c: &UBig,
) -> Result<Vec<UBig>, Error> {
    let modulus = key.modulus();
    let c = positive(c);
    let [.., delta] = values.t else {
        return Err(Error::Proof("a predicate lacks its values"));
    };
    let [of_squares @ .., of_delta] = values.inverse else {
        return Err(Error::Proof("a predicate lacks its values"));
    };
    let mut t_values = Vec::with_capacity(6);
    let responses = proof.u.0.iter().zip(&proof.r.squares);
    for (inverse, (u, r)) in of_squares.iter().zip(responses) {
        let [u, r] = [u, r].map(positive);
        let terms = [(Base::Variable(inverse), &c), (key.z(), &u), (key.s(), &r)];
        t_values.push(public_power(key, terms)?);
    }
    // T_Δ^-c stands in both values that are left, but in one of them upside down if the difference counts downwards.
    let of_delta = public_power(key, [(Base::Variable(of_delta), &c)])?;
    let bound = exponent_of_z(proof, &c);
    let z = if bound < IBig::ZERO {
        key.z_inverse()
    } else {
        key.z()
    };
    let (bound, r) = (magnitude(bound), positive(&proof.r.delta));
    t_values.push(if proof.predicate.is_less() {
        let terms = [
            (Base::Variable(delta), &c),
            (z, &bound),
            (key.s_inverse(), &r),
        ];
        public_power(key, terms)?
    } else {
        modulus.product(&of_delta, &public_power(key, [(z, &bound), (key.s(), &r)])?)
    });
    let alpha = positive(&proof.alpha);
    let u = proof.u.0.each_ref().map(positive);
    let mut terms = vec![(key.s(), &alpha)];
    terms.extend(values.t.iter().map(Base::Variable).zip(&u));
    t_values.push(modulus.product(&of_delta, &public_power(key, terms)?));
    Ok(t_values.iter().map(|t| modulus.integer(t)).collect())
}

/// m̂_j - c·Δ'.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "integers of any size do not overflow"
)]
fn exponent_of_z(proof: &PredicateProof, c: &IBig) -> IBig {
    positive(&proof.mj) - c * IBig::from(proof.predicate.bound())
}

fn magnitude(number: IBig) -> IBig {
    IBig::from(number.into_parts().1)
}

fn public_power<'a>(
    key: KeyInUse<'_>,
    terms: impl IntoIterator<Item = (Base<'a>, &'a IBig)>,
) -> Result<Element, Error> {
    let terms: Vec<Term<'_>> = terms
        .into_iter()
        .map(|(base, exponent)| Term { base, exponent })
        .collect();
    key.modulus().power(&terms)
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
}
