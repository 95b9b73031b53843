//! Computations that only the issuer can make: roots modulo n, by way of its secret factors and in constant time.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "integers of any size do not overflow, and no subtrahend exceeds what it is taken from"
    )
)]

use std::fmt;

use dashu_int::{IBig, UBig, ops::BitTest};
use zeroize::{Zeroize, Zeroizing};

use super::{
    Base, Element, Modulus, Secret, SecretTerm, Term,
    engine::{Engine, Path},
    lane::Lane,
    limbs, power, secret_power,
};
use crate::Error;

mod roots;

pub use roots::RootExponent;

type CrtLimbs = Zeroizing<Vec<u64>>;

/// A modulus together with its two factors, which are secret and wiped when dropped.
pub struct PrivateModulus {
    modulus: Modulus,
    p: PrimeFactor,
    q: PrimeFactor,
    /// 1/q modulo p.
    inverse: Zeroizing<Vec<Lane>>,
}

/// One of the two primes.
struct PrimeFactor {
    value: CrtLimbs,
    bits: usize,
    engine: Engine,
    /// (p - 1)/2, which is odd, and the engine of its residues.
    half: CrtLimbs,
    halves: Engine,
}

impl PrivateModulus {
    /// Takes the two factors, distinct primes of equal length. Their primality is not fully tested.
    ///
    /// # Errors
    /// [`Error::Malformed`] for numbers that are not two safe primes as far as this is tested, or whose product is too
    /// short, and [`Error::TooLarge`] for one that is too long.
    pub fn new(p: &UBig, q: &UBig) -> Result<Self, Error> {
        Self::on(Path::best(), p, q)
    }

    /// Like `new`, on a given path, which this processor must have.
    pub(super) fn on(path: Path, p: &UBig, q: &UBig) -> Result<Self, Error> {
        if p.bit_len() != q.bit_len() || p == q || !p.bit(0) || !q.bit(0) {
            return Err(malformed(
                "factors",
                "they are not two odd numbers of one length",
            ));
        }
        if !p.bit(1) || !q.bit(1) {
            return Err(malformed("factors", "one of them is not a safe prime"));
        }
        let modulus = Modulus::on(path, &Zeroizing::new(p * q))?;
        let (p, q) = (PrimeFactor::new(path, p), PrimeFactor::new(path, q));
        let residue = p.engine.enter(&q.value);
        let inverse = inverse(&p.engine, &p.value, &residue);
        let mut product = inverse.clone();
        p.engine.product(&mut product, Some(&residue));
        if !is_one(&p.engine, &product) {
            return Err(malformed("factors", "one of them is not prime"));
        }
        Ok(Self {
            modulus,
            p,
            q,
            inverse,
        })
    }

    /// The public modulus.
    #[inline]
    pub fn modulus(&self) -> &Modulus {
        &self.modulus
    }

    /// The square whose `e`-th power is `base`: base^(1/e mod p'q'). The public prime `e` divides neither p-1 nor q-1.
    ///
    /// The result is checked. A fault in half of the computation would reveal the factors. Only squares are accepted: a
    /// root of another base would reveal a bit of 1/e, and one that is correct modulo only one factor, both factors.
    ///
    /// # Errors
    /// [`Error::Malformed`] for a base that is not a square and for an exponent without an inverse.
    pub fn power_inverse_exponent(&self, base: &Element, e: &UBig) -> Result<Element, Error> {
        if !e.bit(0) || e.bit_len() < 2 {
            return Err(malformed("exponent", "it is not an odd prime"));
        }
        let divisor = Engine::new(self.modulus.engine().path(), e);
        let number = Zeroizing::new(self.modulus.engine().leave(base.lanes()));
        let modulo_p = self.p.root(&number, e, &divisor)?;
        let modulo_q = self.q.root(&number, e, &divisor)?;
        let root = self.join(&modulo_p, &modulo_q);
        let exponent = IBig::from(e.clone());
        let check = self.modulus.power(&[Term {
            base: Base::Variable(&root),
            exponent: &exponent,
        }])?;
        if self.modulus.integer(&check) != self.modulus.integer(base) {
            return Err(malformed(
                "root",
                "its power is another number, which is no square",
            ));
        }
        Ok(root)
    }

    /// base^exponent, in constant time in the exponent and the factors. The base is coprime to n.
    pub fn power(&self, base: &Element, exponent: &Secret) -> Element {
        let number = Zeroizing::new(self.modulus.engine().leave(base.lanes()));
        let modulo_p = self.p.power_of(&number, exponent);
        let modulo_q = self.q.power_of(&number, exponent);
        self.join(&modulo_p, &modulo_q)
    }

    /// The residue modulo n of two residues modulo p and q (Garner): x_q + q·((x_p - x_q)/q mod p).
    fn join(&self, modulo_p: &[u64], modulo_q: &[u64]) -> Element {
        let engine = &self.p.engine;
        let reduced = Zeroizing::new(engine.leave(&engine.enter(modulo_q)));
        let mut difference = Zeroizing::new(modulo_p.to_vec());
        let borrow = limbs::subtract_masked(&mut difference, &reduced, u64::MAX);
        limbs::add_masked(&mut difference, &self.p.value, limbs::mask(borrow));
        let mut quotient = Zeroizing::new(engine.enter(&difference));
        engine.product(&mut quotient, Some(&self.inverse));
        let quotient = Zeroizing::new(engine.leave(&quotient));
        let whole = self.modulus.engine();
        let mut number = Zeroizing::new(modulo_q.to_vec());
        number.resize(whole.limb_count(), 0);
        limbs::multiply(&mut number, &self.q.value, &quotient);
        Element::from_lanes(&whole.enter(&number))
    }
}

impl PrimeFactor {
    fn new(path: Path, value: &UBig) -> Self {
        let engine = Engine::secret(path, value);
        let mut half = value >> 1;
        let factor = Self {
            value: Zeroizing::new(limbs::from_integer(value, engine.limb_count())),
            bits: value.bit_len(),
            half: Zeroizing::new(limbs::from_integer(&half, engine.limb_count())),
            halves: Engine::secret(path, &half),
            engine,
        };
        half.zeroize();
        factor
    }

    /// The limbs of number^exponent mod p, for a number below n that p does not divide.
    fn power_of(&self, number: &[u64], exponent: &Secret) -> CrtLimbs {
        let residue = Zeroizing::new(self.engine.reduce(number));
        let power = power_in(&self.engine, &residue, &self.reduced(exponent));
        Zeroizing::new(self.engine.leave(&power))
    }

    /// The exponent mod p-1: of the numbers that are correct modulo (p-1)/2, the one that is correct modulo 2.
    fn reduced(&self, exponent: &Secret) -> Secret {
        let residue = Zeroizing::new(self.halves.reduce(exponent.limbs()));
        let mut reduced = Zeroizing::new(self.halves.leave(&residue));
        reduced.resize(self.value.len(), 0);
        let lowest = |limbs: &[u64]| limbs.first().copied().unwrap_or(0);
        let wrong = (lowest(&reduced) ^ lowest(exponent.limbs())) & 1;
        limbs::add_masked(&mut reduced, &self.half, limbs::mask(wrong));
        Secret::from_limbs(&reduced, self.bits)
    }

    /// The limbs of the number's power by the even one of the two exponents that are 1/e modulo (p-1)/2: a square, and
    /// the number's root if the number is a square too.
    fn root(&self, number: &[u64], e: &UBig, divisor: &Engine) -> Result<CrtLimbs, Error> {
        let exponent = self.inverse_exponent(e, divisor)?;
        let residue = Zeroizing::new(self.engine.reduce(number));
        let root = power_in(&self.engine, &residue, &exponent);
        Ok(Zeroizing::new(self.engine.leave(&root)))
    }

    /// The even number below p-1 that is 1/e modulo (p-1)/2, in constant time in p. The odd one, 1/e mod p-1, is
    /// (1 + k·(p-1))/e for the k below e that makes it an integer: k = -1/(p-1) mod e.
    fn inverse_exponent(&self, e: &UBig, divisor: &Engine) -> Result<Secret, Error> {
        let mut less = self.value.clone();
        limbs::subtract_masked(&mut less, &[1], u64::MAX);
        let residue = Zeroizing::new(divisor.reduce(&less));
        // By Fermat again; the product shows that e is prime.
        let base = Element::from_lanes(&residue);
        let exponent = IBig::from(e.clone()) - IBig::from(2);
        let term = Term {
            base: Base::Variable(&base),
            exponent: &exponent,
        };
        let inverse = power::quotients(divisor, &[&[term]]);
        let inverse = inverse.first().map_or(&[][..], |power| power.above.lanes());
        let mut product = Zeroizing::new(residue.to_vec());
        divisor.product(&mut product, Some(inverse));
        if !is_one(divisor, &product) {
            return Err(malformed(
                "exponent",
                "it is not a prime that has an inverse",
            ));
        }
        let mut k = Zeroizing::new(limbs::from_integer(e, divisor.limb_count()));
        limbs::subtract_masked(&mut k, &Zeroizing::new(divisor.leave(inverse)), u64::MAX);
        // The quotient is below p, so its lowest limbs determine it, and dividing by e is multiplying by 1/e there.
        let count = self.value.len();
        let mut dividend = Zeroizing::new(vec![0_u64; count]);
        limbs::multiply(&mut dividend, &less, &k);
        limbs::add_masked(&mut dividend, &[1], u64::MAX);
        let mut quotient = Zeroizing::new(vec![0_u64; count]);
        limbs::multiply(&mut quotient, &dividend, &inverse_of_odd(e, count));
        // Half of p-1 is odd; it is subtracted or added, whichever stays in range.
        let borrow = limbs::subtract_masked(&mut quotient, &self.half, u64::MAX);
        limbs::add_masked(&mut quotient, &less, limbs::mask(borrow));
        Ok(Secret::from_limbs(&quotient, self.bits))
    }
}

impl Drop for PrimeFactor {
    fn drop(&mut self) {
        self.engine.zeroize();
        self.halves.zeroize();
    }
}

impl fmt::Debug for PrivateModulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateModulus")
            .field("modulus", &self.modulus)
            .finish_non_exhaustive()
    }
}

/// A residue's power in constant time.
fn power_in(engine: &Engine, base: &[Lane], exponent: &Secret) -> Zeroizing<Vec<Lane>> {
    let base = Zeroizing::new(Element::from_lanes(base));
    let term = SecretTerm {
        base: Base::Variable(&base),
        exponent,
    };
    let power = Zeroizing::new(secret_power::products(engine, &[&[term]]));
    Zeroizing::new(power.first().map_or(&[][..], Element::lanes).to_vec())
}

/// The inverse of a residue modulo a prime, by Fermat: its power to the prime minus two.
fn inverse(engine: &Engine, prime: &CrtLimbs, residue: &[Lane]) -> Zeroizing<Vec<Lane>> {
    let mut exponent = prime.clone();
    limbs::subtract_masked(&mut exponent, &[2], u64::MAX);
    let bits = exponent.len().saturating_mul(limbs::BITS);
    power_in(engine, residue, &Secret::from_limbs(&exponent, bits))
}

/// Whether the residue is 1.
fn is_one(engine: &Engine, residue: &[Lane]) -> bool {
    let number = Zeroizing::new(engine.leave(residue));
    let rest = number.iter().skip(1).fold(0, |all, limb| all | limb);
    number.first() == Some(&1) && rest == 0
}

/// 1/e modulo 2^(64·count) for an odd public e, by Newton's iteration.
fn inverse_of_odd(e: &UBig, count: usize) -> Vec<u64> {
    let mut inverse = e.clone();
    let mut right = 3_usize;
    let all = count.saturating_mul(64);
    while right < all {
        right = right.saturating_mul(2);
        let modulus = UBig::ONE << right;
        let product = e * &inverse % &modulus;
        let two = &modulus + UBig::from(2_u8);
        inverse = inverse * (two - product) % &modulus;
    }
    limbs::from_integer(&inverse, count)
}

fn malformed(what: &'static str, why: &'static str) -> Error {
    Error::Malformed { what, why }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::testing::{PRIMES, stream};

    #[test]
    fn every_step_to_a_root_is_right_for_factors_and_exponents_of_any_length() {
        let mut random = stream(3, "steps");
        for bits in [256, 260, 317, 318] {
            let p = PRIMES.safe_prime(bits, &mut random);
            for (path, length) in
                Path::available().flat_map(|path| [(path, 40), (path, 300), (path, 900)])
            {
                let factor = PrimeFactor::new(path, &p);
                let number = random.integer(2 * bits);
                let limbs = limbs::from_integer(&number, (2 * bits).div_ceil(64));
                let residue = factor.engine.leave(&factor.engine.reduce(&limbs));
                assert_eq!(limbs::to_integer(&residue), &number % &p);
                for exponent in [
                    number.clone(),
                    &p - UBig::ONE,
                    UBig::ZERO,
                    (&p >> 1) + UBig::ONE,
                ] {
                    let reduced = factor.reduced(&Secret::from_public(&exponent, 2 * bits));
                    assert_eq!(reduced.reveal(), IBig::from(exponent % (&p - UBig::ONE)));
                }
                let start = UBig::ONE << length;
                let e = PRIMES.prime_in_range(&start, &(&start + &start), &mut random);
                assert!(
                    limbs::to_integer(&inverse_of_odd(&e, 7)) * &e % (UBig::ONE << 448)
                        == UBig::ONE
                );
                let divisor = Engine::new(path, &e);
                let inverse = factor
                    .inverse_exponent(&e, &divisor)
                    .expect("coprime")
                    .reveal();
                assert!(inverse < IBig::from(&p - UBig::ONE));
                assert_eq!(&inverse % IBig::from(2), IBig::ZERO);
                assert_eq!(inverse * IBig::from(e) % IBig::from(&p >> 1), IBig::ONE);
            }
        }
    }
}
