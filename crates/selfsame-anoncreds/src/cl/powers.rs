//! The proof that Z, Rctxt and every R are powers of S, whatever the modulus is.
//!
//! It has 128 rounds. In each the prover commits to T = S^r, is asked for a random set of the bases, and answers with z
//! such that T = S^z · ∏ of the set. Suppose that one base is not a power of S. Take any two sets that differ only in
//! that base: at most one of them can be answered, because two answers would give the base as a power of S. So even a
//! prover who knows the factors of n passes a round with probability at most 1/2, and all rounds with 2^-128.
//!
//! The specification's key correctness proof has one round with a challenge of 256 bits. A base that is a power of S
//! times an element of small order d passes it once in d attempts, since the prover chooses the order of the group;
//! that is why a challenge has one bit here. (Bangerter, Camenisch and Krenn, "Efficiency Limitations for Σ-Protocols
//! for Group Homomorphisms", TCC 2010: no protocol of this kind does better in groups of hidden order.)

use dashu_int::{IBig, UBig, ops::BitTest as _};
use selfsame_bignum::{Element, Random, Secret, Term};
use selfsame_crypto::hash::{sha256, sha256_parts};

use super::bounds;
use super::key::KeyInUse;
use super::key_data::PrimaryPublicKey;
use super::number::{padded, positive, revealed};
use super::powers_data::{MASK_EXCESS, PowersProof, ROUNDS, Responses};
use crate::Error;

/// The bits of SHA-256 that select a set of bases: there are at most 126 R, and Z and Rctxt.
const SET_BITS: usize = 256;
/// Separates this challenge from all others.
const LABEL: &[u8] = b"selfsame anoncreds: all bases are powers of S";

impl PowersProof {
    /// Proves it for a key, from the exponents of [`bases`] in their order. `power` is S to a secret exponent. Secret
    /// exponents: the masks.
    pub(super) fn prove(
        public: &PrimaryPublicKey,
        exponents: &[&Secret],
        power: &dyn Fn(&Secret) -> UBig,
        random: &mut Random,
    ) -> Self {
        let bits = mask_bits(&public.n);
        let masks: Vec<Secret> = (0..ROUNDS).map(|_| random.secret(bits)).collect();
        let commitments: Vec<UBig> = masks.iter().map(power).collect();
        let c = challenge(public, &commitments);
        let mut responses = Vec::with_capacity(ROUNDS.saturating_mul(bits.div_ceil(8)));
        for (round, mask) in masks.iter().enumerate() {
            let zero = Secret::from_public(&UBig::ZERO, 1);
            let sum =
                of_set(&c, round, exponents.iter()).fold(zero, |sum, exponent| sum.add(exponent));
            let response = revealed(mask.sub(&sum));
            responses.extend(padded(&response, bits.div_ceil(8)));
        }
        Self {
            c,
            responses: Responses(responses),
        }
    }

    /// Checks the proof.
    ///
    /// # Errors
    /// [`Error::Issuer`] with the reason.
    pub(super) fn check(&self, key: KeyInUse<'_>, public: &PrimaryPublicKey) -> Result<(), Error> {
        let refusal = Error::Issuer("the proof about all bases has another length");
        bounds::at_most(&self.c, bounds::CHALLENGE, refusal.clone())?;
        let length = mask_bits(&public.n).div_ceil(8);
        if self.responses.0.len() != length.saturating_mul(ROUNDS) {
            return Err(refusal);
        }
        key.expect_powers_of_s();
        let responses = self.responses.0.chunks(length);
        let responses: Vec<IBig> = responses
            .map(|bytes| positive(&UBig::from_be_bytes(bytes)))
            .collect();
        let terms: Vec<[Term<'_>; 1]> = responses
            .iter()
            .map(|exponent| {
                [Term {
                    base: key.s(),
                    exponent,
                }]
            })
            .collect();
        let groups: Vec<&[Term<'_>]> = terms.iter().map(<[_; 1]>::as_slice).collect();
        let modulus = key.modulus();
        let bases: Vec<&Element> = key.bases().collect();
        let powers = modulus.powers(&groups)?;
        let commitments = powers.into_iter().enumerate().map(|(round, power)| {
            let set = of_set(&self.c, round, bases.iter());
            modulus.integer(&set.fold(power, |product, base| modulus.product(&product, base)))
        });
        if challenge(public, &commitments.collect::<Vec<_>>()) != self.c {
            return Err(Error::Issuer(
                "the proof that all bases are powers of S does not hold",
            ));
        }
        Ok(())
    }
}

/// Bits of a mask, and of a response.
fn mask_bits(n: &UBig) -> usize {
    n.bit_len().saturating_add(MASK_EXCESS)
}

/// All numbers that must be powers of S, in the order of their bits in a set.
pub(super) fn bases(public: &PrimaryPublicKey) -> impl Iterator<Item = &UBig> {
    [&public.z, &public.rctxt]
        .into_iter()
        .chain(public.r.values())
}

/// The challenge over the whole key and all commitments, each number as long as the modulus.
fn challenge(public: &PrimaryPublicKey, commitments: &[UBig]) -> UBig {
    let length = public.n.bit_len().div_ceil(8);
    let numbers = [&public.n, &public.s].into_iter().chain(bases(public));
    let hashed: Vec<Vec<u8>> = numbers
        .chain(commitments)
        .map(|number| padded(number, length))
        .collect();
    let mut parts = vec![LABEL];
    parts.extend(hashed.iter().map(Vec::as_slice));
    UBig::from_be_bytes(&sha256_parts(&parts))
}

/// The items in a round's set: one bit of a hash of challenge and round for each.
fn of_set<T>(c: &UBig, round: usize, items: impl Iterator<Item = T>) -> impl Iterator<Item = T> {
    let mut asked = padded(c, bounds::CHALLENGE.div_ceil(8));
    asked.extend(u8::try_from(round));
    let set = UBig::from_be_bytes(&sha256(&asked));
    let items = items.take(SET_BITS).enumerate();
    items.filter_map(move |(place, item)| set.bit(place).then_some(item))
}
