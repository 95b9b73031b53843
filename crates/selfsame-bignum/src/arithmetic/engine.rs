//! Montgomery products modulo one number, on the path that suits the processor.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU8, Ordering},
};

use dashu_int::{UBig, ops::BitTest};
use zeroize::Zeroize;

use super::{
    lane::{Factors, Lane, PICKS},
    limbs,
    portable::{self, Plain},
};

#[cfg(target_arch = "x86_64")]
use super::{
    adx::{self, Adx},
    ifma,
};

/// The implementation that computes products.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Path {
    /// 52-bit digits, eight at once (AVX-512 IFMA).
    Ifma,
    /// 64-bit limbs, by instructions with two separate carries (BMI2 and ADX).
    Adx,
    /// 64-bit limbs, on any processor.
    Portable,
}

impl Zeroize for Engine {
    fn zeroize(&mut self) {
        self.modulus.zeroize();
        self.square.zeroize();
        self.one.zeroize();
        self.negated_inverse.zeroize();
    }
}

/// The precomputed data of one modulus for products.
///
/// A residue is a number below 2n in Montgomery form: x·R mod n for R = 2^(digits · digit width), where 4n < R, so that
/// products need no final subtraction. It takes `lanes` lanes of digits, which are zero above the number's own digits.
pub(super) struct Engine {
    path: Path,
    /// The digits of n.
    modulus: Vec<Lane>,
    /// The digits of R² mod n.
    square: Vec<Lane>,
    /// The digits of R mod n: the residue 1.
    one: Vec<Lane>,
    /// -1/n modulo 2^64; its low bits serve shorter digits.
    negated_inverse: u64,
    /// The number of significant digits.
    digits: usize,
}

/// The index of the first path that may be chosen, in the order of `Path`.
static FIRST: AtomicU8 = AtomicU8::new(0);

thread_local! {
    static PRODUCTS: Cell<u64> = const { Cell::new(0) };
}

/// Makes every new modulus of the process use the portable path from now on: for tests and measurements.
pub fn force_portable() {
    FIRST.store(Path::Portable as u8, Ordering::Relaxed);
}

/// Like [`force_portable`], for the path of processors with BMI2 and ADX; used only where these are available.
pub fn force_adx() {
    FIRST.store(Path::Adx as u8, Ordering::Relaxed);
}

/// Whether new moduli use the path for processors with AVX-512 IFMA.
pub fn uses_ifma() -> bool {
    Path::best() == Path::Ifma
}

/// Whether new moduli use the path for processors with BMI2 and ADX.
pub fn uses_adx() -> bool {
    Path::best() == Path::Adx
}

/// The number of Montgomery products that this thread has computed so far: tests guard the cost of an operation by it,
/// since it has no noise.
pub fn products() -> u64 {
    PRODUCTS.get()
}

/// Counts `count` products that this thread computed without an engine.
pub(super) fn count_products(count: usize) {
    PRODUCTS.set(PRODUCTS.get().wrapping_add(count as u64));
}

/// Eight independent products by AVX-512 IFMA, whose presence the caller has checked. A lane holds one digit of all.
pub(super) fn eight_products(
    modulus: &[Lane],
    negated_inverse: &Lane,
    acc: &mut [Lane],
    x: Option<&[Lane]>,
) {
    count_products(8);
    #[cfg(target_arch = "x86_64")]
    ifma::eight(modulus, negated_inverse, acc, x);
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (modulus, negated_inverse, acc, x);
}

impl Path {
    /// The fastest path of this processor, unless another is forced.
    pub(crate) fn best() -> Self {
        let first = FIRST.load(Ordering::Relaxed);
        let mut paths = Self::available();
        paths
            .find(|path| *path as u8 >= first)
            .unwrap_or(Self::Portable)
    }

    /// The paths that this processor has, fastest first.
    pub(crate) fn available() -> impl Iterator<Item = Self> {
        let all = [Self::Ifma, Self::Adx, Self::Portable];
        all.into_iter().filter(|path| path.is_available())
    }

    fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Ifma => ifma::is_available(),
            #[cfg(target_arch = "x86_64")]
            Self::Adx => adx::is_available(),
            #[cfg(not(target_arch = "x86_64"))]
            Self::Ifma | Self::Adx => false,
            Self::Portable => true,
        }
    }

    /// The bits of one digit.
    fn width(self) -> usize {
        match self {
            Self::Ifma => 52,
            Self::Adx | Self::Portable => 64,
        }
    }
}

impl Engine {
    /// Prepares an odd modulus above 1 for a path that this processor has.
    pub(super) fn new(path: Path, n: &UBig) -> Self {
        Self::with_remainders(path, n, |bits| {
            limbs::from_integer(&remainder(bits, n), n.bit_len().div_ceil(64))
        })
    }

    /// Like `new`, in constant time in the modulus except for its length.
    pub(super) fn secret(path: Path, n: &UBig) -> Self {
        let modulus = limbs::from_integer(n, n.bit_len().div_ceil(64));
        Self::with_remainders(path, n, |bits| {
            limbs::power_of_two(&modulus, n.bit_len(), bits)
        })
    }

    /// Prepares a modulus, given 2^bits mod n for any number of bits above its own.
    fn with_remainders(path: Path, n: &UBig, remainder: impl Fn(usize) -> Vec<u64>) -> Self {
        let needed = n.bit_len().saturating_add(2).div_ceil(path.width());
        let lanes = needed.div_ceil(8);
        let digits = match path {
            Path::Ifma => lanes.saturating_mul(8),
            Path::Adx | Path::Portable => needed,
        };
        let radix = digits.saturating_mul(path.width());
        let modulus = limbs::from_integer(n, n.bit_len().div_ceil(64));
        Self {
            path,
            square: to_lanes(&remainder(radix.saturating_mul(2)), path.width(), lanes),
            one: to_lanes(&remainder(radix), path.width(), lanes),
            negated_inverse: limbs::negated_inverse(modulus.first().copied().unwrap_or(1)),
            modulus: to_lanes(&modulus, path.width(), lanes),
            digits,
        }
    }

    pub(super) fn path(&self) -> Path {
        self.path
    }

    /// The number of lanes of one residue.
    pub(super) fn lanes(&self) -> usize {
        self.modulus.len()
    }

    /// The residue 1.
    pub(super) fn one(&self) -> &[Lane] {
        &self.one
    }

    /// The bits of R.
    pub(super) fn radix_bits(&self) -> usize {
        self.digits.saturating_mul(self.path.width())
    }

    /// Replaces `acc` by acc·x/R, or by acc²/R without an `x`. Both are below 2n, or `x` alone below R.
    pub(super) fn product(&self, acc: &mut [Lane], x: Option<&[Lane]>) {
        count_products(1);
        match self.path {
            #[cfg(target_arch = "x86_64")]
            Path::Ifma => ifma::product(&self.modulus, self.negated_inverse, acc, x),
            #[cfg(target_arch = "x86_64")]
            Path::Adx => portable::product::<Adx>(&self.limbs(), acc, x),
            _ => portable::product::<Plain>(&self.limbs(), acc, x),
        }
    }

    /// Two independent products at once.
    pub(super) fn pair(&self, first: Factors<'_>, second: Factors<'_>) {
        match self.path {
            #[cfg(target_arch = "x86_64")]
            Path::Ifma => {
                count_products(2);
                ifma::pair(&self.modulus, self.negated_inverse, first, second);
            }
            _ => {
                self.product(first.acc, first.x);
                self.product(second.acc, second.x);
            }
        }
    }

    /// Reads the whole table, row by row, and copies the rows numbered `picks` to `out`.
    pub(super) fn scan(&self, table: &[Lane], picks: &[u64; PICKS], out: &mut [Lane]) {
        match self.path {
            #[cfg(target_arch = "x86_64")]
            Path::Ifma => ifma::scan(self.lanes(), table, picks, out),
            _ => portable::scan(self.lanes(), table, picks, out),
        }
    }

    /// Converts a number below R, given by its limbs, to a residue.
    pub(super) fn enter(&self, number: &[u64]) -> Vec<Lane> {
        let mut residue = self.square.clone();
        let digits = to_lanes(number, self.path.width(), self.lanes());
        self.product(&mut residue, Some(&digits));
        residue
    }

    /// Converts a residue to the limbs of its number, below n.
    pub(super) fn leave(&self, residue: &[Lane]) -> Vec<u64> {
        let mut unit = vec![Lane::default(); self.lanes()];
        if let Some(digit) = unit.first_mut().and_then(|lane| lane.0.first_mut()) {
            *digit = 1;
        }
        // (x·1 + m·n)/R <= n for x < 2n and m < R, so one subtraction is enough.
        self.product(&mut unit, Some(residue));
        let mut number = from_lanes(&unit, self.path.width(), self.limb_count());
        let modulus = from_lanes(&self.modulus, self.path.width(), self.limb_count());
        let borrow = limbs::subtract_masked(&mut number, &modulus, u64::MAX);
        limbs::add_masked(&mut number, &modulus, limbs::mask(borrow));
        number
    }

    /// The residue of a number of any length, in constant time: by Horner's rule over pieces below R.
    pub(super) fn reduce(&self, number: &[u64]) -> Vec<Lane> {
        let radix = self.radix_bits();
        let mut sum = vec![Lane::default(); self.lanes()];
        for piece in (0..number.len().saturating_mul(64).div_ceil(radix.max(1))).rev() {
            // The sum so far moves up by one piece. This multiplies it by R, by a product with R² in place of R.
            self.product(&mut sum, Some(&self.square));
            let limbs = (0..self.limb_count()).map(|limb| {
                let inside = limb.saturating_mul(64);
                let start = piece.saturating_mul(radix).saturating_add(inside);
                limbs::bits(number, start, radix.saturating_sub(inside).min(64))
            });
            let lower = self.leave(&self.enter(&limbs.collect::<Vec<u64>>()));
            // Both are below n, and 2n is below R.
            let mut both = self.leave(&sum);
            limbs::add_masked(&mut both, &lower, u64::MAX);
            sum = self.enter(&both);
        }
        sum
    }

    /// The number of limbs for a number below n, or below R.
    pub(super) fn limb_count(&self) -> usize {
        self.radix_bits().div_ceil(64)
    }

    fn limbs(&self) -> portable::Limbs<'_> {
        portable::Limbs {
            modulus: &self.modulus,
            negated_inverse: self.negated_inverse,
            count: self.digits,
        }
    }
}

/// 2^bits mod n.
#[cfg_attr(
    not(test),
    expect(clippy::arithmetic_side_effects, reason = "a modulus is not zero")
)]
fn remainder(bits: usize, n: &UBig) -> UBig {
    (UBig::ONE << bits) % n
}

/// A number's digits of `width` bits, cut off after `lanes` lanes.
fn to_lanes(number: &[u64], width: usize, lanes: usize) -> Vec<Lane> {
    let mut out = vec![Lane::default(); lanes];
    for (place, digit) in out.iter_mut().flat_map(|lane| &mut lane.0).enumerate() {
        *digit = limbs::bits(number, place.saturating_mul(width), width);
    }
    out
}

/// The `count` lowest limbs of a number in digits of `width` bits.
fn from_lanes(lanes: &[Lane], width: usize, count: usize) -> Vec<u64> {
    let mut out = vec![0_u64; count];
    for (place, digit) in lanes.iter().flat_map(|lane| lane.0).enumerate() {
        let start = place.saturating_mul(width);
        let (limb, shift) = (start.wrapping_div(64), start.wrapping_rem(64));
        let wide = u128::from(digit) << shift;
        for (slot, part) in out
            .iter_mut()
            .skip(limb)
            .zip([limbs::low(wide), limbs::high(wide)])
        {
            *slot |= part;
        }
    }
    out
}
