//! A Reed–Solomon code over GF(2^10): thirteen symbols of data and two that check them.
//!
//! Symbols c0 … c14 are a code word if Σ ci = 0 and Σ ci·α^i = 0. If one symbol is wrong by e at the place j, the sums
//! are e and e·α^j, so their quotient names the place.

use crate::COUNT;

/// Symbols of data.
const DATA: usize = 13;
/// Bits of a symbol.
const BITS: u32 = 10;
/// x^10 + x^3 + 1, which is primitive: α = x has the order 1,023.
const POLYNOMIAL: u16 = 0b100_0000_1001;
/// The bits of the data that are no secret: 13 · 10 − 128.
const SPARE: u32 = 2;

/// Symbols that fit together.
#[derive(Clone)]
pub struct CheckedCode([u16; COUNT]);

/// What is wrong with symbols.
pub enum CodeCheck {
    /// Nothing.
    Right(CheckedCode),
    /// The symbol at this place, counted from 0.
    Wrong(usize),
    /// More than one.
    Several,
}

impl CheckedCode {
    /// The symbols of a secret.
    pub fn of(secret: [u8; 16]) -> Self {
        let mut left = u128::from_be_bytes(secret);
        let mut symbols = [0_u16; COUNT];
        // The last symbol of data has the lowest bits; the first one has two bits fewer.
        for symbol in symbols.iter_mut().take(DATA).rev() {
            *symbol = u16::try_from(left & 0x3FF).unwrap_or_default();
            left >>= BITS;
        }
        let (sum, weighed) = (sum(&symbols), weighed(&symbols));
        // p + q = sum and p·α^13 + q·α^14 = weighed give q = (weighed + sum·α^13) / (α^13 + α^14).
        let (before, last) = (power(DATA), power(DATA.saturating_add(1)));
        let q = divided(weighed ^ product(sum, before), before ^ last);
        let p = sum ^ q;
        for (symbol, check) in symbols.iter_mut().skip(DATA).zip([p, q]) {
            *symbol = check;
        }
        Self(symbols)
    }

    /// The symbols.
    pub fn symbols(&self) -> [u16; COUNT] {
        self.0
    }
}

/// Looks for a wrong symbol.
pub fn check(symbols: [u16; COUNT]) -> CodeCheck {
    let (sum, weighed) = (sum(&symbols), weighed(&symbols));
    if sum == 0 && weighed == 0 {
        // A secret has 128 bits; no secret has others.
        let is_secret = symbols
            .first()
            .is_some_and(|first| first >> (BITS - SPARE) == 0);
        return match is_secret {
            true => CodeCheck::Right(CheckedCode(symbols)),
            false => CodeCheck::Several,
        };
    }
    let place = (0..COUNT).find(|place| sum != 0 && product(sum, power(*place)) == weighed);
    place.map_or(CodeCheck::Several, CodeCheck::Wrong)
}

fn sum(symbols: &[u16; COUNT]) -> u16 {
    symbols.iter().fold(0, |sum, symbol| sum ^ symbol)
}

fn weighed(symbols: &[u16; COUNT]) -> u16 {
    let weighed = symbols.iter().enumerate();
    weighed.fold(0, |sum, (place, symbol)| {
        sum ^ product(*symbol, power(place))
    })
}

/// The product of two elements of the field.
fn product(one: u16, other: u16) -> u16 {
    let (mut one, mut product) = (one, 0);
    for bit in 0..BITS {
        if (other >> bit) & 1 == 1 {
            product ^= one;
        }
        one <<= 1;
        if one >> BITS == 1 {
            one ^= POLYNOMIAL;
        }
    }
    product
}

/// A power of α.
fn power(exponent: usize) -> u16 {
    (0..exponent).fold(1, |power, _| product(power, 2))
}

/// The quotient; the divisor is not 0. The inverse of an element is its 1,022nd power.
fn divided(one: u16, by: u16) -> u16 {
    let inverse = (0..1_022).fold(1, |power, _| product(power, by));
    product(one, inverse)
}
