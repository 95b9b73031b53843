//! Roots that need the factors: of squares, to any exponent; and square roots, where both factors are 3 modulo 4.

use zeroize::Zeroizing;

use super::{CrtLimbs, Element, PrimeFactor, PrivateModulus, Secret, inverse, limbs, power_in};
use dashu_int::{UBig, ops::BitTest as _};

/// The inverse of an exponent modulo (p-1)/2 and modulo (q-1)/2.
pub struct RootExponent {
    p: Secret,
    q: Secret,
}

impl PrivateModulus {
    /// The exponent of `e`-th roots of squares, for a public `e`; (p-1)/2 and (q-1)/2 are primes and do not divide it.
    pub fn root_exponent(&self, e: &UBig) -> RootExponent {
        let e = limbs::from_integer(e, e.bit_len().div_ceil(limbs::BITS));
        RootExponent {
            p: self.p.inverse_modulo_half(&e),
            q: self.q.inverse_modulo_half(&e),
        }
    }

    /// The square whose `e`-th power is `base`, a square. In constant time in the factors; the result is not checked.
    pub fn root_of_square(&self, base: &Element, exponent: &RootExponent) -> Element {
        let number = Zeroizing::new(self.modulus.engine().leave(base.lanes()));
        let modulo_p = self.p.power_of(&number, &exponent.p);
        let modulo_q = self.q.power_of(&number, &exponent.q);
        self.join(&modulo_p, &modulo_q)
    }

    /// 1/number, in constant time in the factors, which are primes that do not divide it.
    pub fn inverse_of(&self, number: &Element) -> Element {
        let number = Zeroizing::new(self.modulus.engine().leave(number.lanes()));
        self.join(&self.p.inverse_of(&number), &self.q.inverse_of(&number))
    }

    /// A root r of a number x: r² = x, and `true`, or r² = -x, and `false`; `None` if x is a square modulo one of the
    /// factors and not modulo the other. `negated` chooses one of the four. Both factors are primes, and 3 modulo 4.
    pub fn square_root(&self, x: &Element, negated: [bool; 2]) -> Option<(Element, bool)> {
        let number = Zeroizing::new(self.modulus.engine().leave(x.lanes()));
        let [negated_p, negated_q] = negated;
        let (modulo_p, is_square) = self.p.square_root(&number, negated_p);
        let (modulo_q, is_square_too) = self.q.square_root(&number, negated_q);
        (is_square == is_square_too).then(|| (self.join(&modulo_p, &modulo_q), is_square))
    }
}

impl PrimeFactor {
    fn inverse_modulo_half(&self, e: &[u64]) -> Secret {
        let residue = Zeroizing::new(self.halves.reduce(e));
        let inverse = inverse(&self.halves, &self.half, &residue);
        let inverse = Zeroizing::new(self.halves.leave(&inverse));
        Secret::from_limbs(&inverse, self.bits)
    }

    fn inverse_of(&self, number: &[u64]) -> CrtLimbs {
        let residue = Zeroizing::new(self.engine.reduce(number));
        let inverse = inverse(&self.engine, &self.value, &residue);
        Zeroizing::new(self.engine.leave(&inverse))
    }

    /// Whether the number is a square modulo p, or else its negation is, and a root of that square.
    fn square_root(&self, number: &[u64], negated: bool) -> (CrtLimbs, bool) {
        let residue = Zeroizing::new(self.engine.reduce(number));
        // (p + 1)/4 is half of (p - 1)/2, rounded up.
        let halved = (0..self.half.len()).map(|limb| {
            let start = limb.saturating_mul(limbs::BITS).saturating_add(1);
            limbs::bits(&self.half, start, limbs::BITS)
        });
        let mut exponent = Zeroizing::new(halved.collect::<Vec<u64>>());
        limbs::add_masked(&mut exponent, &[1], u64::MAX);
        let root = power_in(
            &self.engine,
            &residue,
            &Secret::from_limbs(&exponent, self.bits),
        );
        let mut square = root.clone();
        self.engine.product(&mut square, None);
        let [square, residue] =
            [&square, &residue].map(|lanes| Zeroizing::new(self.engine.leave(lanes)));
        let both = square.iter().zip(residue.iter());
        let is_square = both.fold(0, |all, (left, right)| all | (left ^ right)) == 0;
        let mut root = Zeroizing::new(self.engine.leave(&root));
        let select = limbs::mask(u64::from(negated));
        limbs::negate_masked(&mut root, select);
        limbs::add_masked(&mut root, &self.value, select);
        (root, is_square)
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::arithmetic::Path;
    use crate::testing::{PRIMES, stream};

    #[test]
    fn roots_are_those_of_the_integers() {
        let mut random = stream(3, "roots");
        for bits in [260, 318] {
            let [p, q] = [(); 2].map(|()| PRIMES.safe_prime(bits, &mut random));
            for path in Path::available() {
                let private = PrivateModulus::on(path, &p, &q).unwrap();
                let modulus = private.modulus();
                let root = random.below(modulus.value());
                let square = modulus.square(&modulus.element(&root).unwrap());
                for length in [3, 250, 900] {
                    let mut e = random.integer(length);
                    e.set_bit(length - 1);
                    let found = private.root_of_square(&square, &private.root_exponent(&e));
                    let found = modulus.integer(&found);
                    let power = (0..length).rev().fold(UBig::ONE, |power, bit| {
                        let squared = &power * &power % modulus.value();
                        if e.bit(bit) {
                            squared * &found % modulus.value()
                        } else {
                            squared
                        }
                    });
                    assert_eq!(power, modulus.integer(&square), "{path:?} {length}");
                }
                let inverse = modulus.integer(&private.inverse_of(&square));
                assert!((inverse * modulus.integer(&square) % modulus.value()).is_one());
            }
        }
    }

    #[test]
    fn a_quarter_of_all_numbers_are_squares_and_each_has_four_roots() {
        let mut random = stream(3, "square roots");
        let [p, q] = [(); 2].map(|()| PRIMES.safe_prime(260, &mut random));
        for path in Path::available() {
            let private = PrivateModulus::on(path, &p, &q).unwrap();
            let modulus = private.modulus();
            let mut kinds = [0; 3];
            for _ in 0..80 {
                let x = random.below(modulus.value());
                let element = modulus.element(&x).unwrap();
                let signs = [[false, false], [false, true], [true, false], [true, true]];
                let roots = signs.map(|signs| private.square_root(&element, signs));
                let mut different = std::collections::BTreeSet::new();
                for (root, is_square) in roots.iter().flatten() {
                    let root = modulus.integer(root);
                    let square = &root * &root % modulus.value();
                    let expected = if *is_square {
                        x.clone()
                    } else {
                        modulus.value() - &x
                    };
                    assert_eq!(square, expected);
                    different.insert(root);
                }
                assert_eq!(different.len() % 4, 0);
                kinds[roots[0]
                    .as_ref()
                    .map_or(2, |(_, is_square)| usize::from(*is_square))] += 1;
            }
            assert!(kinds[0] > 8 && kinds[1] > 8 && kinds[2] > 20, "{kinds:?}");
        }
    }
}
