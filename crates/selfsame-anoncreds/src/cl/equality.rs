//! The equality proof: that the holder has a signature over values of which some are revealed.
//!
//! (AnonCreds v1.0, "Generate the Presentation" and "Verify Validity Proofs".)

use std::collections::{BTreeMap, BTreeSet};

use dashu_int::{IBig, Sign, UBig, ops::BitTest as _};
use selfsame_bignum::pairing::Scalar;
use selfsame_bignum::{Base, Element, Random, Secret, SecretTerm, Signed};
use zeroize::Zeroizing;

use super::bounds;
use super::key::{CredentialKey, KeyInUse};
use super::key_data::LINK_SECRET;
use super::link_secret::LinkSecret;
use super::messages::PrimaryCredentialSignature;
use super::number::{positive, revealed};
use super::processing::exponent;
use super::proof_data::EqualityProof;
use super::signing::{Values, check_values};
use crate::Error;

/// The primary part of a credential, as the holder has it.
#[derive(Clone, Copy)]
pub struct Held<'a> {
    /// The credential definition's key.
    pub key: &'a CredentialKey,
    /// The signature, processed.
    pub signature: &'a PrimaryCredentialSignature,
    /// The encoded values, without the link secret.
    pub values: &'a Values,
}

/// The mask of the credential context, which the equality proof shares with the proof of non-revocation.
pub(crate) struct ContextMask {
    pub(crate) number: Secret,
    pub(crate) scalar: Scalar,
}

impl ContextMask {
    pub(crate) fn new(random: &mut Random) -> Self {
        let mut bytes = Zeroizing::new([0; bounds::CONTEXT_MASK.div_ceil(8)]);
        random.fill(bytes.as_mut_slice());
        Self {
            number: Secret::from_be_bytes(bytes.as_slice(), bounds::CONTEXT_MASK),
            scalar: Scalar::from_be_bytes_reduced(bytes.as_slice()),
        }
    }
}

/// The masks that an equality proof shares with other proofs.
pub(crate) struct SharedMasks<'a> {
    /// The mask of the link secret, which all credentials in the presentation share.
    pub(crate) link: &'a Secret,
    pub(crate) context: &'a ContextMask,
}

/// An equality proof that is waiting for its challenge.
pub(crate) struct EqualityCommitment {
    a_prime: UBig,
    t: UBig,
    blinding: Secret,
    e_mask: Secret,
    v_mask: Secret,
    context_mask: Secret,
    /// The masks of the attributes that are not revealed.
    masks: BTreeMap<String, Secret>,
}

impl EqualityCommitment {
    /// Blinds A and commits to masks: A' = A·S^r and T = A'^ẽ · S^ṽ · Rctxt^m̃₂ · ∏ R^m̃. Secret exponents: r, r·ẽ and
    /// all masks.
    pub(crate) fn new(
        held: &Held<'_>,
        key: KeyInUse<'_>,
        revealed: &BTreeSet<String>,
        shared: &SharedMasks<'_>,
        random: &mut Random,
    ) -> Result<Self, Error> {
        check_stored(held)?;
        let modulus = key.modulus();
        let blinding = random.secret(bounds::V_PRIME);
        let e_mask = random.secret(bounds::E_MASK);
        let v_mask = random.secret(bounds::V_MASK);
        let mut masks = BTreeMap::from([(LINK_SECRET.to_owned(), shared.link.clone())]);
        for name in held.values.keys().filter(|name| !revealed.contains(*name)) {
            masks.insert(name.clone(), random.secret(bounds::VALUE_MASK));
        }
        let a = modulus.element(&held.signature.a)?;
        // A'^ẽ · S^ṽ is A^ẽ · S^(ṽ + r·ẽ), which can be computed before A'.
        let of_s = v_mask.add(&blinding.mul(&e_mask));
        let term = |base, exponent| SecretTerm { base, exponent };
        let mut terms = vec![
            term(key.s(), &of_s),
            term(Base::Variable(&a), &e_mask),
            term(key.rctxt(), &shared.context.number),
        ];
        for (name, mask) in &masks {
            terms.push(term(key.r(name)?, mask));
        }
        let powers = modulus.secret_powers(&[&[term(key.s(), &blinding)], &terms]);
        let [factor, t] = powers.as_slice() else {
            return Err(Error::Proof("a power is missing"));
        };
        Ok(Self {
            t: modulus.integer(t),
            a_prime: modulus.integer(&modulus.product(&a, factor)),
            blinding,
            e_mask,
            v_mask,
            context_mask: shared.context.number.clone(),
            masks,
        })
    }

    pub(crate) fn a_prime(&self) -> &UBig {
        &self.a_prime
    }

    pub(crate) fn t(&self) -> &UBig {
        &self.t
    }

    /// The mask of an attribute that is not revealed.
    pub(crate) fn mask(&self, name: &str) -> Option<&Secret> {
        self.masks.get(name)
    }

    /// The proof for this challenge. It consumes the masks, because a second response would reveal the secrets.
    pub(crate) fn respond(
        self,
        held: &Held<'_>,
        link_secret: &LinkSecret,
        c: &UBig,
    ) -> EqualityProof {
        let signature = held.signature;
        let e = exponent(&signature.e, bounds::E_START.saturating_add(1));
        let start = Secret::from_public(&bounds::power_of_two(bounds::E_START), 0);
        let e_prime = e.sub(&start);
        let v = exponent(&signature.v, bounds::V_PRIME_PRIME.saturating_add(1));
        let v_prime = v.sub(&e.mul(&self.blinding));
        let context = exponent(&signature.m_2, bounds::VALUE);
        let respond = |secret: Signed, mask: &Secret| revealed(secret.mul_public(c).add(mask));
        let m = self.masks.iter().map(|(name, mask)| {
            let secret = match held.values.get(name) {
                Some(value) => signed(value),
                None => link_secret.secret().clone().into(),
            };
            (name.clone(), respond(secret, mask))
        });
        let disclosed = held
            .values
            .iter()
            .filter(|(name, _)| !self.masks.contains_key(*name));
        EqualityProof {
            revealed_attrs: disclosed
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            e: respond(e_prime, &self.e_mask),
            v: respond(v_prime, &self.v_mask),
            m: m.collect(),
            m2: respond(context.into(), &self.context_mask),
            a_prime: self.a_prime,
        }
    }
}

/// Checks the stored numbers, which may have been damaged.
fn check_stored(held: &Held<'_>) -> Result<(), Error> {
    check_values(held.key.attributes(), held.values)?;
    let signature = held.signature;
    let right = signature.e.bit_len() == bounds::E_START.saturating_add(1)
        && signature.v.bit_len() <= bounds::V_PRIME_PRIME.saturating_add(1)
        && signature.m_2.bit_len() <= bounds::VALUE;
    if !right {
        return Err(Error::Malformed {
            what: "the stored credential",
            why: "a number of its signature has the wrong length",
        });
    }
    Ok(())
}

/// A value, possibly negative, as a secret.
fn signed(value: &IBig) -> Signed {
    let (sign, magnitude) = value.clone().into_parts();
    let magnitude = exponent(&magnitude, bounds::VALUE);
    Signed::of(magnitude, sign == Sign::Negative)
}

/// A product of powers that a verifier computes.
pub(crate) type Product<'a> = Vec<(Base<'a>, IBig)>;

/// T computed from the responses: A'^(ê + c·2^596) · S^v̂ · Rctxt^m̂₂ · Z^-c · ∏ R^m̂ · ∏ R^(c·m), over the hidden and
/// the revealed attributes, respectively. The inverse of Z is precomputed, which saves a division.
pub(crate) fn t_value<'a>(
    key: KeyInUse<'a>,
    proof: &EqualityProof,
    a_prime: &'a Element,
    c: &UBig,
) -> Result<Product<'a>, Error> {
    let challenge = positive(c);
    let mut factors = vec![
        (Base::Variable(a_prime), shifted_sum(&proof.e, c)),
        (key.s(), positive(&proof.v)),
        (key.rctxt(), positive(&proof.m2)),
    ];
    for (name, m) in &proof.m {
        factors.push((key.r(name)?, positive(m)));
    }
    for (name, value) in &proof.revealed_attrs {
        factors.push((key.r(name)?, product(value, &challenge)));
    }
    factors.push((key.z_inverse(), challenge));
    Ok(factors)
}

/// ê + c·2^596.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "integers of any size do not overflow"
)]
fn shifted_sum(e: &UBig, c: &UBig) -> IBig {
    IBig::from(e + (c << bounds::E_START))
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "integers of any size do not overflow"
)]
fn product(a: &IBig, b: &IBig) -> IBig {
    a * b
}
