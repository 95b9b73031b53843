//! The proof that a modulus is a product of two safe primes, or has powers of one prime in place of p' or q'.
//!
//! The first part is about n = p·q. The numbers u_i are fixed by a hash, so that the prover cannot choose them; for
//! each i, one of u_i, -u_i, w·u_i and -w·u_i has a root to the exponent 4·E_i. So n has at most two prime factors,
//! both 3 modulo 4; by n in E, no square divides n; by the odd part of n - 1, no prime divides both (p-1)/2 and
//! (q-1)/2; and by the small primes in E, none of those divides either. (Gennaro, Micciancio and Rabin 1998; Goldberg,
//! Reyzin, Sagga and Baldimtsi 2018 for the small primes.) Then the squares modulo n are cyclic, of the odd order M =
//! (p-1)/2 · (q-1)/2.
//!
//! The second part is about M, in the exponent: a number that the prover committed to and a hashed number k_i add up to
//! a number x_i modulo M that is a square, or one times -1, b or -b. If M had three prime factors, half of all numbers
//! would be none of these.
//!
//! `docs/anoncreds.md` has the protocol, what it proves, with what certainty, and what it does not prove.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "integers of any size do not overflow, and no modulus is zero"
    )
)]

use std::fmt;

use dashu_int::{IBig, UBig, ops::BitTest as _};
use selfsame_bignum::{
    Base, Element, Modulus, PrivateModulus, Random, Secret, Term, jacobi, odd_primes,
};
use selfsame_crypto::encoding::{base64url_decode, base64url_encode};
use selfsame_crypto::hash::sha256_parts;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, Zeroizing};

use super::key_data::PrimaryPrivateKey;
use super::number::{padded, positive};
use super::{bounds, decimal};
use crate::Error;
use crate::seed::PRIMES;

/// Rounds of each part.
const ROUNDS: usize = 128;
/// Rounds in which n and the odd part of n - 1 are in E: 4096^11 is 2^132.
const LONG_ROUNDS: usize = 11;
/// No prime below this limit divides n, (p-1)/2 or (q-1)/2; w and b are below it.
const SMALL: u32 = 1 << 12;
/// The bits by which a hashed number is longer than n before it is reduced.
const EXCESS: usize = 128;
/// The number of powers that are computed together.
const TOGETHER: usize = 4;
/// The longest base64url text of one number for each round.
const LONGEST_TEXT: usize = (ROUNDS * bounds::MODULUS_LONGEST.div_ceil(8)).div_ceil(3) * 4;

const OF_ROOTS: &[u8] = b"selfsame anoncreds: two safe primes, roots";
const OF_BASES: &[u8] = b"selfsame anoncreds: two safe primes, bases";
const OF_CHALLENGE: &[u8] = b"selfsame anoncreds: two safe primes, challenge";
const OF_SUMMANDS: &[u8] = b"selfsame anoncreds: two safe primes, summands";

const NOT_HELD: Error = Error::Issuer("the proof of two safe primes does not hold");
const ANOTHER_LENGTH: Error = Error::Issuer("the proof of two safe primes has another length");

/// The optional member `safe_primes` of a key correctness proof.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SafePrimesProof {
    /// A number that is a square modulo one of p and q.
    w: u16,
    /// A number that is a square modulo one of p' and q'.
    b: u16,
    /// The challenge of the second part: SHA-256.
    #[serde(with = "decimal")]
    c: UBig,
    /// The roots of the first part, big-endian, each as long as n.
    roots: Text,
    /// The roots of the second part, big-endian, each as long as n.
    squares: Text,
    /// For each root of the second part, whether x is its square times 1, -1, b or -b: 0 to 3, a byte each.
    classes: Text,
}

/// Base64url text, which is decoded only when the proof is checked.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
struct Text(String);

impl SafePrimesProof {
    /// Proves it for a modulus, given the halves of its factors; `None` unless these are prime and 3 modulo 4, as ours
    /// are. Secret exponents: the masks, and the inverses of 8·E_i.
    pub(super) fn prove(
        private: &PrivateModulus,
        halves: &PrimaryPrivateKey,
        random: &mut Random,
    ) -> Result<Option<Self>, Error> {
        if !halves.p.bit(1) || !halves.q.bit(1) {
            return Ok(None);
        }
        // Numbers that are not primes are refused.
        let Ok(exponents) = PrivateModulus::new(&halves.p, &halves.q) else {
            return Ok(None);
        };
        let n = private.modulus().value();
        let both = (of_both_kinds(n), of_both_kinds(exponents.modulus().value()));
        let (Some(w), Some(b)) = both else {
            return Ok(None);
        };
        let roots = joined(&roots(private, w), n);
        let (bases, masks) = (bases(private.modulus()), masks(exponents.modulus(), random));
        let commitments = bases.iter().zip(&masks).map(|(base, mask)| {
            let commitment = private.power(base, mask);
            private.modulus().integer(&commitment)
        });
        let commitments: Vec<UBig> = commitments.collect();
        let c = challenge(n, NonSquares { w, b }, &roots, &commitments);
        let inverse = exponents.modulus().element(&UBig::from(b))?;
        let inverse = Zeroizing::new(exponents.inverse_of(&inverse));
        let mut classes = Vec::with_capacity(ROUNDS);
        let mut squares = Vec::with_capacity(ROUNDS);
        for (k, mask) in summands(&c, n).iter().zip(&masks) {
            let x = mask.add(&Secret::from_public(k, k.bit_len()));
            let (class, square) = square(&exponents, &x, &inverse, random).ok_or(NOT_HELD)?;
            classes.push(class);
            squares.push(square);
        }
        let proof = Self {
            w,
            b,
            c,
            roots: Text(base64url_encode(&roots)),
            squares: Text(base64url_encode(&joined(&squares, n))),
            classes: Text(base64url_encode(&classes)),
        };
        // A number that a fault made correct modulo only one factor would reveal both factors.
        proof.check(private.modulus())?;
        Ok(Some(proof))
    }

    /// Checks the proof.
    ///
    /// # Errors
    /// [`Error::Issuer`] with the reason.
    pub(super) fn check(&self, modulus: &Modulus) -> Result<(), Error> {
        let n = modulus.value();
        bounds::at_most(&self.c, bounds::CHALLENGE, ANOTHER_LENGTH)?;
        let length = n.bit_len().div_ceil(8);
        let roots = self.roots.bytes(length)?;
        let squares = numbers(&self.squares.bytes(length)?, length);
        let classes = self.classes.bytes(1)?;
        let is_small = |number: u16| number > 0 && u32::from(number) < SMALL;
        if !is_small(self.w) || !is_small(self.b) || classes.iter().any(|class| *class > 3) {
            return Err(NOT_HELD);
        }
        if odd_primes(SMALL).any(|prime| (n % prime) == 0) || PRIMES.is_prime(n) {
            return Err(Error::Issuer(
                "the modulus of the key is no product of two primes",
            ));
        }
        check_roots(modulus, self.w, &numbers(&roots, length))?;
        let summands = summands(&self.c, n);
        let exponents = squares.iter().zip(&classes).zip(&summands);
        let exponents: Vec<IBig> = exponents
            .map(|((root, class), k)| {
                let factor = [1, -1, i32::from(self.b), -i32::from(self.b)];
                let factor = factor.get(usize::from(*class)).copied().unwrap_or(0);
                IBig::from(root * root) * IBig::from(factor) - positive(k)
            })
            .collect();
        let commitments = powers(modulus, &bases(modulus), &exponents)?;
        let (w, b) = (self.w, self.b);
        let c = challenge(n, NonSquares { w, b }, &roots, &commitments);
        if squares.iter().any(|root| root >= n) || c != self.c {
            return Err(NOT_HELD);
        }
        Ok(())
    }

    /// A hash of the whole proof, by which it is recognised.
    pub(super) fn digest(&self) -> [u8; 32] {
        let texts = [&self.roots, &self.squares, &self.classes].map(|text| text.0.as_bytes());
        let c = padded(&self.c, bounds::CHALLENGE.div_ceil(8));
        let small = [self.w.to_be_bytes(), self.b.to_be_bytes()];
        let [roots, squares, classes] = texts;
        let parts = [
            small.as_flattened(),
            &c,
            roots,
            b",",
            squares,
            b",",
            classes,
        ];
        sha256_parts(&parts)
    }
}

/// The smallest odd prime that is a square modulo one factor of this product and not modulo the other.
fn of_both_kinds(product: &UBig) -> Option<u16> {
    let mut primes = odd_primes(SMALL);
    let found = primes.find(|prime| jacobi(&UBig::from(*prime), product) == -1)?;
    u16::try_from(found).ok()
}

/// The roots of the first part: of u_i, of its negation, or of w times one of them, whichever is a square.
///
/// A number with the symbol 1 over n is a square, or its negation is, since both factors are 3 modulo 4. The root of
/// that square to 4·E is the root of the number's own square to 8·E.
fn roots(private: &PrivateModulus, w: u16) -> Vec<UBig> {
    let modulus = private.modulus();
    let n = modulus.value();
    let mut last = None;
    let rounds = unknown(n, w).into_iter().zip(exponents(n));
    let roots = rounds.map(|(number, exponent)| {
        let number = match jacobi(&number, n) {
            -1 => number * w % n,
            _ => number,
        };
        let known = last.take().filter(|(known, _)| *known == exponent);
        let (_, inverse) = last.insert(known.unwrap_or_else(|| {
            let inverse = private.root_exponent(&(&exponent * 2_u8));
            (exponent, inverse)
        }));
        let number = modulus.residue(&Secret::from_public(&number, number.bit_len()));
        let root = private.root_of_square(&modulus.square(&number), inverse);
        modulus.integer(&root)
    });
    roots.collect()
}

/// A root of x, of its negation, or of one of them times 1/b, and which of these it is. `None` only after a fault.
fn square(
    exponents: &PrivateModulus,
    x: &Secret,
    inverse: &Element,
    random: &mut Random,
) -> Option<(u8, UBig)> {
    let modulus = exponents.modulus();
    let mut coins = Zeroizing::new([0_u8; 1]);
    random.fill(&mut *coins);
    let [coin] = *coins;
    let negated = [coin & 1 == 1, coin & 2 == 2];
    // Beside its class and its root, which are sent, x would reveal a multiple of M.
    let x = Zeroizing::new(modulus.residue(x));
    let (class, (root, is_square)) = match exponents.square_root(&x, negated) {
        Some(found) => (0, found),
        None => {
            let divided = Zeroizing::new(modulus.product(&x, inverse));
            (2, exponents.square_root(&divided, negated)?)
        }
    };
    Some((class + u8::from(!is_square), modulus.integer(&root)))
}

/// One number below M for each round.
fn masks(order: &Modulus, random: &mut Random) -> Vec<Secret> {
    let mask = |()| {
        let mut number = random.below(order.value());
        let mask = Secret::from_public(&number, order.bits());
        number.zeroize();
        mask
    };
    [(); ROUNDS].map(mask).into()
}

/// Checks that each t^(4·E) is u, -u, w·u or -w·u. Refuses a t that shares a divisor with n: if that divisor were
/// short, u would pass without proving anything.
fn check_roots(modulus: &Modulus, w: u16, roots: &[UBig]) -> Result<(), Error> {
    let n = modulus.value();
    let elements = roots.iter().map(|root| modulus.element(root));
    let elements: Vec<Element> = elements.collect::<Result<_, _>>().map_err(|_| NOT_HELD)?;
    modulus.inverse_all(&elements).map_err(|_| NOT_HELD)?;
    let exponents: Vec<IBig> = exponents(n).iter().map(positive).collect();
    let powers = powers(modulus, &elements, &exponents)?;
    let holds = unknown(n, w)
        .into_iter()
        .zip(powers)
        .all(|(number, power)| {
            let other = &number * w % n;
            [&number, &other]
                .into_iter()
                .any(|number| *number == power || number + &power == *n)
        });
    if holds { Ok(()) } else { Err(NOT_HELD) }
}

/// 4·E_i for each round. Each small prime is in enough of them for its powers to exceed 2^128.
fn exponents(n: &UBig) -> Vec<UBig> {
    let primes: Vec<(u32, usize)> = odd_primes(SMALL)
        .map(|prime| {
            let powers =
                std::iter::successors(Some(1_u128), |power| power.checked_mul(prime.into()));
            (prime, powers.count())
        })
        .collect();
    let less = n - UBig::ONE;
    let long = n * (&less >> less.trailing_zeros().unwrap_or(0));
    let mut primes = primes.into_iter().peekable();
    let mut small = UBig::from(4_u8);
    let mut exponents: Vec<UBig> = (1..=ROUNDS)
        .rev()
        .map(|round| {
            while let Some((prime, _)) = primes.next_if(|(_, rounds)| *rounds >= round) {
                small *= prime;
            }
            if round <= LONG_ROUNDS {
                &small * &long
            } else {
                small.clone()
            }
        })
        .collect();
    exponents.reverse();
    exponents
}

/// base^exponent for each round.
fn powers(modulus: &Modulus, bases: &[Element], exponents: &[IBig]) -> Result<Vec<UBig>, Error> {
    let terms: Vec<[Term<'_>; 1]> = (bases.iter().map(Base::Variable).zip(exponents))
        .map(|(base, exponent)| [Term { base, exponent }])
        .collect();
    let mut powers = Vec::with_capacity(terms.len());
    for some in terms.chunks(TOGETHER) {
        let groups: Vec<&[Term<'_>]> = some.iter().map(<[_; 1]>::as_slice).collect();
        let found = modulus.powers(&groups).map_err(|_| NOT_HELD)?;
        powers.extend(found.iter().map(|power| modulus.integer(power)));
    }
    Ok(powers)
}

/// u_i: numbers modulo n that are derived from n and w.
fn unknown(n: &UBig, w: u16) -> Vec<UBig> {
    let seed = sha256_parts(&[
        OF_ROOTS,
        &padded(n, n.bit_len().div_ceil(8)),
        &w.to_be_bytes(),
    ]);
    let numbers = drawn(&seed, n);
    numbers.into_iter().map(|number| number % n).collect()
}

/// g_i: squares modulo n that are derived from n.
fn bases(modulus: &Modulus) -> Vec<Element> {
    let n = modulus.value();
    let seed = sha256_parts(&[OF_BASES, &padded(n, n.bit_len().div_ceil(8))]);
    let roots = drawn(&seed, n).into_iter().map(|number| number % n);
    let square = |root: UBig| {
        let root = modulus.residue(&Secret::from_public(&root, root.bit_len()));
        modulus.square(&root)
    };
    roots.map(square).collect()
}

/// k_i: numbers that are derived from the challenge.
fn summands(c: &UBig, n: &UBig) -> Vec<UBig> {
    let c = padded(c, bounds::CHALLENGE.div_ceil(8));
    drawn(&sha256_parts(&[OF_SUMMANDS, &c]), n)
}

/// The members `w` and `b` of a proof.
struct NonSquares {
    w: u16,
    b: u16,
}

/// The challenge: a hash of the modulus, w and b, the roots and the commitments.
fn challenge(n: &UBig, small: NonSquares, roots: &[u8], commitments: &[UBig]) -> UBig {
    let length = n.bit_len().div_ceil(8);
    let (n, commitments) = (padded(n, length), joined(commitments, n));
    let (w, b) = (small.w.to_be_bytes(), small.b.to_be_bytes());
    let parts: [&[u8]; 6] = [OF_CHALLENGE, &n, &w, &b, roots, &commitments];
    UBig::from_be_bytes(&sha256_parts(&parts))
}

/// One number for each round, 128 bits longer than n: SHA-256 over seed, round and block, block after block.
fn drawn(seed: &[u8; 32], n: &UBig) -> Vec<UBig> {
    let length = (n.bit_len() + EXCESS).div_ceil(8);
    let number = |round: usize| {
        let blocks = (0..=u8::MAX).zip((0..length).step_by(32));
        let blocks = blocks.map(|(block, _)| {
            let place = [u8::try_from(round).unwrap_or(u8::MAX), block];
            sha256_parts(&[seed, &place])
        });
        let mut bytes = blocks.collect::<Vec<_>>().concat();
        bytes.truncate(length);
        UBig::from_be_bytes(&bytes)
    };
    (1..=ROUNDS).map(number).collect()
}

/// Concatenates the numbers, each as long as n.
fn joined(numbers: &[UBig], n: &UBig) -> Vec<u8> {
    let length = n.bit_len().div_ceil(8);
    let bytes = numbers.iter().map(|number| padded(number, length));
    bytes.collect::<Vec<_>>().concat()
}

/// Splits concatenated numbers.
fn numbers(bytes: &[u8], length: usize) -> Vec<UBig> {
    bytes.chunks(length).map(UBig::from_be_bytes).collect()
}

impl Text {
    /// The decoded bytes, `length` for each round.
    fn bytes(&self, length: usize) -> Result<Vec<u8>, Error> {
        match base64url_decode(&self.0) {
            Ok(bytes) if bytes.len() == ROUNDS * length => Ok(bytes),
            _ => Err(ANOTHER_LENGTH),
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(ProofReader)
    }
}

struct ProofReader;

impl Visitor<'_> for ProofReader {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base64url of a number for each round")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
        if text.len() > LONGEST_TEXT {
            return Err(E::custom("the proof of two safe primes is too long"));
        }
        Ok(Text(text.to_owned()))
    }
}

impl fmt::Debug for SafePrimesProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SafePrimesProof(…)")
    }
}

#[cfg(test)]
mod tests;
