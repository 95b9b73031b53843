//! Owns residues modulo a 254-bit prime, in Montgomery form on four limbs; every operation takes the same time for
//! all values.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "limb arithmetic: the bounds stand beside each sum, the indices are loop constants below the width"
)]

use std::fmt;
use std::marker::PhantomData;

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroize;

/// Four limbs, least significant first.
pub(super) type Limbs = [u64; 4];
/// A product of two four-limb numbers.
pub(super) type Wide = [u64; 8];

/// A prime between 2^253 and 2^254, so that four times the prime fits four limbs.
pub(super) trait Prime: Copy + 'static {
    /// The prime.
    const P: Limbs;
    /// -P^-1 mod 2^64.
    const NEGATIVE_INVERSE: u64 = negative_inverse(Self::P[0]);
    /// 2^256 mod P.
    const R: Limbs = power_of_two(256, &Self::P);
    /// 2^512 mod P.
    const R2: Limbs = power_of_two(512, &Self::P);
}

/// A residue x mod P, kept as x·2^256 mod P below P.
pub(super) struct Residue<M>(Limbs, PhantomData<M>);

impl<M: Prime> Residue<M> {
    pub(super) const ZERO: Self = Self::from_montgomery([0; 4]);
    pub(super) const ONE: Self = Self::from_montgomery(M::R);

    /// Takes limbs that are already in Montgomery form and below P.
    pub(super) const fn from_montgomery(limbs: Limbs) -> Self {
        Self(limbs, PhantomData)
    }

    /// The residue of any four-limb number.
    pub(super) const fn new(number: Limbs) -> Self {
        Self::from_montgomery(multiply::<M>(&M::R2, &number))
    }

    /// The number below P.
    pub(super) const fn number(&self) -> Limbs {
        let [a, b, c, d] = self.0;
        reduce::<M>(&[a, b, c, d, 0, 0, 0, 0])
    }

    /// The number in big-endian bytes.
    pub(super) fn to_be_bytes(self) -> [u8; 32] {
        let [a, b, c, d] = self.number();
        let mut bytes = [0; 32];
        for (chunk, limb) in bytes.chunks_exact_mut(8).zip([d, c, b, a]) {
            chunk.copy_from_slice(&limb.to_be_bytes());
        }
        bytes
    }

    /// The residue of big-endian bytes; `None` if the number is not below P.
    pub(super) fn from_be_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let number = limbs_from_be_bytes(bytes);
        let canonical = subtract(&number, &M::P).1;
        canonical.then(|| Self::new(number))
    }

    pub(super) const fn limbs(&self) -> &Limbs {
        &self.0
    }

    #[inline(always)]
    pub(super) const fn add(&self, other: &Self) -> Self {
        Self::from_montgomery(subtract_once::<M>(&add(&self.0, &other.0)))
    }

    #[inline(always)]
    pub(super) const fn double(&self) -> Self {
        self.add(self)
    }

    #[inline(always)]
    pub(super) const fn sub(&self, other: &Self) -> Self {
        let (difference, borrow) = subtract(&self.0, &other.0);
        Self::from_montgomery(add(&difference, &masked(&M::P, borrow)))
    }

    #[inline(always)]
    pub(super) const fn neg(&self) -> Self {
        Self::ZERO.sub(self)
    }

    #[inline(always)]
    pub(super) const fn mul(&self, other: &Self) -> Self {
        Self::from_montgomery(multiply::<M>(&self.0, &other.0))
    }

    #[inline(always)]
    pub(super) const fn square(&self) -> Self {
        Self::from_montgomery(reduce::<M>(&widening_square(&self.0)))
    }

    /// x/2: an odd representative is made even by adding P first.
    #[inline(always)]
    pub(super) const fn halve(&self) -> Self {
        let [a, b, c, d] = add(&self.0, &masked(&M::P, self.0[0] & 1 == 1));
        Self::from_montgomery([a >> 1 | b << 63, b >> 1 | c << 63, c >> 1 | d << 63, d >> 1])
    }

    /// x to the power of a public exponent, four bits at a time.
    pub(super) fn power(&self, exponent: &Limbs) -> Self {
        let mut table = [Self::ONE; 16];
        for i in 1..16 {
            table[i] = table[i - 1].mul(self);
        }
        let mut result = Self::ONE;
        for limb in exponent.iter().rev() {
            for shift in (0..64).step_by(4).rev() {
                result = result.square().square().square().square();
                result = result.mul(&table[(limb >> shift & 15) as usize]);
            }
        }
        result
    }

    /// 1/x, by Fermat; 0 for 0.
    pub(super) fn inverse(&self) -> Self {
        self.power(&subtract(&M::P, &[2, 0, 0, 0]).0)
    }

    pub(super) fn is_zero(&self) -> Choice {
        self.0.ct_eq(&[0; 4])
    }
}

impl<M> Clone for Residue<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Residue<M> {}

impl<M> PartialEq for Residue<M> {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl<M> Eq for Residue<M> {}

impl<M> fmt::Debug for Residue<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Residue(..)")
    }
}

impl<M: Prime> ConditionallySelectable for Residue<M> {
    #[inline(always)]
    fn conditional_select(a: &Self, b: &Self, choice: Choice) -> Self {
        let (a, b) = (&a.0, &b.0);
        Self::from_montgomery([
            u64::conditional_select(&a[0], &b[0], choice),
            u64::conditional_select(&a[1], &b[1], choice),
            u64::conditional_select(&a[2], &b[2], choice),
            u64::conditional_select(&a[3], &b[3], choice),
        ])
    }
}

impl<M> Zeroize for Residue<M> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// The limbs of a big-endian number of 32 bytes.
pub(super) fn limbs_from_be_bytes(bytes: &[u8; 32]) -> Limbs {
    let mut limbs = [0; 4];
    for (limb, chunk) in limbs.iter_mut().rev().zip(bytes.as_chunks().0) {
        *limb = u64::from_be_bytes(*chunk);
    }
    limbs
}

/// a + b·c + carry, which fits two limbs.
#[inline(always)]
const fn multiply_add(a: u64, b: u64, c: u64, carry: u64) -> (u64, u64) {
    let sum = a as u128 + b as u128 * c as u128 + carry as u128;
    (sum as u64, (sum >> 64) as u64)
}

/// a + b + carry. (The standard library's version is not `const` yet.)
#[inline(always)]
const fn add_carry(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, one) = a.overflowing_add(b);
    let (sum, other) = sum.overflowing_add(carry as u64);
    (sum, one | other)
}

/// a - b - borrow.
#[inline(always)]
const fn subtract_borrow(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (difference, one) = a.overflowing_sub(b);
    let (difference, other) = difference.overflowing_sub(borrow as u64);
    (difference, one | other)
}

/// a + b; for callers that know that it fits, or need it mod 2^256.
#[inline(always)]
pub(super) const fn add(a: &Limbs, b: &Limbs) -> Limbs {
    let (w, carry) = add_carry(a[0], b[0], false);
    let (x, carry) = add_carry(a[1], b[1], carry);
    let (y, carry) = add_carry(a[2], b[2], carry);
    let (z, _) = add_carry(a[3], b[3], carry);
    [w, x, y, z]
}

/// a - b mod 2^256, and whether b is above a.
#[inline(always)]
pub(super) const fn subtract(a: &Limbs, b: &Limbs) -> (Limbs, bool) {
    let (w, borrow) = subtract_borrow(a[0], b[0], false);
    let (x, borrow) = subtract_borrow(a[1], b[1], borrow);
    let (y, borrow) = subtract_borrow(a[2], b[2], borrow);
    let (z, borrow) = subtract_borrow(a[3], b[3], borrow);
    ([w, x, y, z], borrow)
}

/// The limbs if `bit`, else zero.
#[inline(always)]
const fn masked(limbs: &Limbs, bit: bool) -> Limbs {
    let mask = (bit as u64).wrapping_neg();
    [
        limbs[0] & mask,
        limbs[1] & mask,
        limbs[2] & mask,
        limbs[3] & mask,
    ]
}

/// Brings a number below 2P below P.
#[inline(always)]
const fn subtract_once<M: Prime>(limbs: &Limbs) -> Limbs {
    let (difference, borrow) = subtract(limbs, &M::P);
    let keep = (borrow as u64).wrapping_neg();
    [
        difference[0] ^ keep & (difference[0] ^ limbs[0]),
        difference[1] ^ keep & (difference[1] ^ limbs[1]),
        difference[2] ^ keep & (difference[2] ^ limbs[2]),
        difference[3] ^ keep & (difference[3] ^ limbs[3]),
    ]
}

/// a·b in five limbs.
#[inline(always)]
const fn row(a: &Limbs, b: u64) -> [u64; 5] {
    let (r0, h0) = multiply_add(0, a[0], b, 0);
    let (l1, h1) = multiply_add(0, a[1], b, 0);
    let (l2, h2) = multiply_add(0, a[2], b, 0);
    let (l3, h3) = multiply_add(0, a[3], b, 0);
    let (r1, carry) = add_carry(h0, l1, false);
    let (r2, carry) = add_carry(h1, l2, carry);
    let (r3, carry) = add_carry(h2, l3, carry);
    let (r4, _) = add_carry(h3, 0, carry);
    [r0, r1, r2, r3, r4]
}

/// a + b in five limbs; for callers that know that it fits.
#[inline(always)]
const fn add_row(a: &[u64; 5], b: &[u64; 5]) -> [u64; 5] {
    let (v, carry) = add_carry(a[0], b[0], false);
    let (w, carry) = add_carry(a[1], b[1], carry);
    let (x, carry) = add_carry(a[2], b[2], carry);
    let (y, carry) = add_carry(a[3], b[3], carry);
    let (z, _) = add_carry(a[4], b[4], carry);
    [v, w, x, y, z]
}

/// Adds the multiple of P that clears the lowest limb, and drops it.
#[inline(always)]
const fn fold<M: Prime>(t: &[u64; 5]) -> [u64; 5] {
    let k = t[0].wrapping_mul(M::NEGATIVE_INVERSE);
    let [_, w, x, y, z] = add_row(t, &row(&M::P, k));
    [w, x, y, z, 0]
}

/// a·b/2^256 mod P, below P, for a below 2P and a·b below 2^256·P. The sums stay below 2^64·(a + P), five limbs.
#[inline(always)]
const fn multiply<M: Prime>(a: &Limbs, b: &Limbs) -> Limbs {
    let t = fold::<M>(&row(a, b[0]));
    let t = fold::<M>(&add_row(&t, &row(a, b[1])));
    let t = fold::<M>(&add_row(&t, &row(a, b[2])));
    let [w, x, y, z, _] = fold::<M>(&add_row(&t, &row(a, b[3])));
    subtract_once::<M>(&[w, x, y, z])
}

/// (a·b + c·d)/2^256 mod P, below P, for numbers up to P, with one reduction for both products.
#[inline(always)]
pub(super) const fn multiply_twice<M: Prime>(a: &Limbs, b: &Limbs, c: &Limbs, d: &Limbs) -> Limbs {
    // The sums stay below 2^64·4P.
    let t = add_row(&row(a, b[0]), &row(c, d[0]));
    let t = fold::<M>(&t);
    let t = add_row(&add_row(&t, &row(a, b[1])), &row(c, d[1]));
    let t = fold::<M>(&t);
    let t = add_row(&add_row(&t, &row(a, b[2])), &row(c, d[2]));
    let t = fold::<M>(&t);
    let t = add_row(&add_row(&t, &row(a, b[3])), &row(c, d[3]));
    let [w, x, y, z, _] = fold::<M>(&t);
    // Below P + 2P²/2^256, less than 2P.
    subtract_once::<M>(&[w, x, y, z])
}

/// a·b in full.
#[inline(always)]
pub(super) const fn widening_multiply(a: &Limbs, b: &Limbs) -> Wide {
    let [t0, t1, t2, t3, t4] = row(a, b[0]);
    let [t1, t2, t3, t4, t5] = add_row(&[t1, t2, t3, t4, 0], &row(a, b[1]));
    let [t2, t3, t4, t5, t6] = add_row(&[t2, t3, t4, t5, 0], &row(a, b[2]));
    let [t3, t4, t5, t6, t7] = add_row(&[t3, t4, t5, t6, 0], &row(a, b[3]));
    [t0, t1, t2, t3, t4, t5, t6, t7]
}

/// a² in full: each product of two different limbs computed once and doubled, and the squares.
#[inline(always)]
const fn widening_square(a: &Limbs) -> Wide {
    let (t1, carry) = multiply_add(0, a[0], a[1], 0);
    let (t2, carry) = multiply_add(0, a[0], a[2], carry);
    let (t3, t4) = multiply_add(0, a[0], a[3], carry);
    let (t3, carry) = multiply_add(t3, a[1], a[2], 0);
    let (t4, t5) = multiply_add(t4, a[1], a[3], carry);
    let (t5, t6) = multiply_add(t5, a[2], a[3], 0);
    let t7 = t6 >> 63;
    let t6 = t6 << 1 | t5 >> 63;
    let t5 = t5 << 1 | t4 >> 63;
    let t4 = t4 << 1 | t3 >> 63;
    let t3 = t3 << 1 | t2 >> 63;
    let t2 = t2 << 1 | t1 >> 63;
    let t1 = t1 << 1;
    let (s0, s1) = multiply_add(0, a[0], a[0], 0);
    let (s2, s3) = multiply_add(0, a[1], a[1], 0);
    let (s4, s5) = multiply_add(0, a[2], a[2], 0);
    let (s6, s7) = multiply_add(0, a[3], a[3], 0);
    let (t1, carry) = add_carry(t1, s1, false);
    let (t2, carry) = add_carry(t2, s2, carry);
    let (t3, carry) = add_carry(t3, s3, carry);
    let (t4, carry) = add_carry(t4, s4, carry);
    let (t5, carry) = add_carry(t5, s5, carry);
    let (t6, carry) = add_carry(t6, s6, carry);
    let (t7, _) = add_carry(t7, s7, carry);
    [s0, t1, t2, t3, t4, t5, t6, t7]
}

/// t/2^256 mod P, below P, if t is below 2^256·P.
#[inline(always)]
pub(super) const fn reduce<M: Prime>(t: &Wide) -> Limbs {
    // The low half's own reduction is at most P; the high half is below P.
    let low = fold::<M>(&[t[0], t[1], t[2], t[3], 0]);
    let [w, x, y, z, _] = fold::<M>(&fold::<M>(&fold::<M>(&low)));
    subtract_once::<M>(&add(&[w, x, y, z], &[t[4], t[5], t[6], t[7]]))
}

/// By Newton: each step doubles the number of correct bits, and an odd number is its own inverse mod 8.
const fn negative_inverse(p: u64) -> u64 {
    let mut inverse = p;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(p.wrapping_mul(inverse)));
        step += 1;
    }
    inverse.wrapping_neg()
}

pub(super) const fn power_of_two(exponent: u32, p: &Limbs) -> Limbs {
    let mut power = [1, 0, 0, 0];
    let mut step = 0;
    while step < exponent {
        let double = add(&power, &power);
        let (difference, borrow) = subtract(&double, p);
        power = if borrow { double } else { difference };
        step += 1;
    }
    power
}
