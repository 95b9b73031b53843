//! Eight powers at once, each modulo its own number, for primality tests.
//!
//! A lane holds one digit of all eight numbers. So the digits of one number depend on each other only through carries,
//! and eight products take less than three times as long as one of them alone. Variable time: for public exponents.
#![cfg_attr(
    not(test),
    expect(
        clippy::arithmetic_side_effects,
        reason = "integers of any size do not overflow, and no modulus is zero"
    )
)]

use dashu_int::{UBig, ops::BitTest};

use super::{
    engine::{Path, eight_products},
    lane::Lane,
    limbs,
};

/// The number of powers.
pub(super) const EIGHT: usize = 8;
/// The bits of an exponent for one look-up.
const WINDOW: usize = 4;
const DIGIT_BITS: usize = 52;

/// Up to eight odd moduli of nearly equal length.
pub(super) struct Eight<'a> {
    moduli: &'a [&'a UBig],
    digits: usize,
    /// The moduli, digit by digit.
    modulus: Vec<Lane>,
    /// -1/n modulo 2^64 of each modulus.
    negated_inverse: Lane,
}

impl<'a> Eight<'a> {
    /// Takes up to eight odd moduli above 1; `None` if the path or the length does not support such products.
    pub(super) fn new(path: Path, moduli: &'a [&'a UBig]) -> Option<Self> {
        let longest = moduli.iter().map(|modulus| modulus.bit_len()).max()?;
        let digits = longest.saturating_add(2).div_ceil(DIGIT_BITS);
        if path != Path::Ifma || moduli.len() > EIGHT || !matches!(digits, 12 | 20) {
            return None;
        }
        let modulus = columns(digits, moduli.iter().map(|modulus| (*modulus).clone()));
        let mut negated_inverse = Lane::default();
        for (slot, lowest) in negated_inverse.0.iter_mut().zip(&moduli_lowest(moduli)) {
            *slot = limbs::negated_inverse(*lowest);
        }
        Some(Self {
            moduli,
            digits,
            modulus,
            negated_inverse,
        })
    }

    /// Each base to its own exponent, modulo its own modulus and below it: as many as there are moduli.
    pub(super) fn powers(&self, bases: &[&UBig], exponents: &[UBig]) -> Vec<UBig> {
        let one = self.enter(self.moduli.iter().map(|_| UBig::ONE));
        let table = self.table(&one, bases);
        let exponents: Vec<Vec<u64>> = exponents
            .iter()
            .map(|exponent| limbs::from_integer(exponent, exponent.bit_len().div_ceil(64)))
            .collect();
        let longest = exponents.iter().map(Vec::len).max().unwrap_or(0);
        let mut result: Option<Vec<Lane>> = None;
        for window in (0..longest.saturating_mul(64 / WINDOW)).rev() {
            if let Some(result) = &mut result {
                (0..WINDOW).for_each(|_| self.product(result, None));
            }
            let picks: Vec<u64> = exponents
                .iter()
                .map(|exponent| limbs::bits(exponent, window.saturating_mul(WINDOW), WINDOW))
                .collect();
            if picks.iter().all(|pick| *pick == 0) {
                continue;
            }
            let row = self.row(&table, &picks);
            match &mut result {
                Some(result) => self.product(result, Some(&row)),
                None => result = Some(row),
            }
        }
        self.leave(&result.unwrap_or(one))
    }

    /// base⁰, base¹, base², … of all eight, one after the other.
    fn table(&self, one: &[Lane], bases: &[&UBig]) -> Vec<Lane> {
        let base = self.enter(bases.iter().map(|base| (*base).clone()));
        let mut table = one.to_vec();
        let mut power = base.clone();
        for _ in 1..1 << WINDOW {
            table.extend_from_slice(&power);
            self.product(&mut power, Some(&base));
        }
        table
    }

    /// For each number, the power that its pick selects.
    fn row(&self, table: &[Lane], picks: &[u64]) -> Vec<Lane> {
        let mut row = vec![Lane::default(); self.digits];
        for (place, pick) in picks.iter().enumerate() {
            let power = usize::try_from(*pick).unwrap_or(0);
            let power = table.chunks_exact(self.digits).nth(power);
            for (slot, lane) in row.iter_mut().zip(power.into_iter().flatten()) {
                if let (Some(slot), Some(digit)) = (slot.0.get_mut(place), lane.0.get(place)) {
                    *slot = *digit;
                }
            }
        }
        row
    }

    fn product(&self, acc: &mut [Lane], x: Option<&[Lane]>) {
        eight_products(&self.modulus, &self.negated_inverse, acc, x);
    }

    /// Converts numbers to residues, one for each modulus.
    fn enter(&self, numbers: impl Iterator<Item = UBig>) -> Vec<Lane> {
        let radix = self.digits.saturating_mul(DIGIT_BITS);
        let residues = numbers
            .zip(self.moduli)
            .map(|(number, modulus)| (number << radix) % *modulus);
        columns(self.digits, residues)
    }

    /// Converts residues to numbers.
    fn leave(&self, residues: &[Lane]) -> Vec<UBig> {
        let mut unit = vec![Lane::default(); self.digits];
        if let Some(lowest) = unit.first_mut() {
            lowest.0 = [1; EIGHT];
        }
        self.product(&mut unit, Some(residues));
        let number = |place: usize| {
            unit.iter().rev().fold(UBig::ZERO, |number, lane| {
                (number << DIGIT_BITS) + UBig::from(lane.0.get(place).copied().unwrap_or(0))
            })
        };
        let numbers = self.moduli.iter().enumerate();
        numbers
            .map(|(place, modulus)| number(place) % *modulus)
            .collect()
    }
}

/// The lowest limbs of the moduli; 1 for missing moduli.
fn moduli_lowest(moduli: &[&UBig]) -> [u64; EIGHT] {
    let mut lowest = [1; EIGHT];
    for (slot, modulus) in lowest.iter_mut().zip(moduli) {
        *slot = limbs::from_integer(modulus, 1)
            .first()
            .copied()
            .unwrap_or(1);
    }
    lowest
}

/// Digit by digit, all numbers side by side.
fn columns(digits: usize, numbers: impl Iterator<Item = UBig>) -> Vec<Lane> {
    let mut columns = vec![Lane::default(); digits];
    for (place, number) in numbers.take(EIGHT).enumerate() {
        let number = limbs::from_integer(&number, number.bit_len().div_ceil(64));
        for (digit, lane) in columns.iter_mut().enumerate() {
            if let Some(slot) = lane.0.get_mut(place) {
                *slot = limbs::bits(&number, digit.saturating_mul(DIGIT_BITS), DIGIT_BITS);
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(bits: usize) -> impl Strategy<Value = UBig> {
        prop::collection::vec(any::<u8>(), bits.div_ceil(8)).prop_map(move |bytes| {
            let mut number = UBig::from_be_bytes(&bytes) % (UBig::ONE << bits);
            number.set_bit(bits - 1);
            number.set_bit(0);
            number
        })
    }

    fn power(base: &UBig, exponent: &UBig, modulus: &UBig) -> UBig {
        (0..exponent.bit_len()).rev().fold(UBig::ONE, |power, bit| {
            let square = &power * &power % modulus;
            if exponent.bit(bit) {
                square * base % modulus
            } else {
                square
            }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn eight_powers_are_those_of_the_integers(
            moduli in prop_oneof![
                prop::collection::vec(number(597), 1..=8),
                prop::collection::vec(number(1_025), 1..=8),
                prop::collection::vec(number(622), 1..=8),
            ],
            numbers in prop::collection::vec(number(600), 16),
            length in 1_usize..600,
        ) {
            let moduli: Vec<&UBig> = moduli.iter().collect();
            if Path::best() != Path::Ifma {
                return Ok(());
            }
            let eight = Eight::new(Path::Ifma, &moduli).expect("a length that it has");
            let bases: Vec<&UBig> = numbers.iter().take(moduli.len()).collect();
            let exponents: Vec<UBig> = numbers
                .iter()
                .skip(8)
                .take(moduli.len())
                .map(|number| number % (UBig::ONE << length))
                .collect();
            let powers = eight.powers(&bases, &exponents);
            prop_assert_eq!(powers.len(), moduli.len());
            for (place, found) in powers.iter().enumerate() {
                let expected = power(bases[place], &exponents[place], moduli[place]);
                prop_assert_eq!(found, &expected);
            }
        }
    }

    #[test]
    fn the_portable_path_and_other_lengths_have_none() {
        let [short, right] = [500_usize, 597].map(UBig::ones);
        assert!(Eight::new(Path::Portable, &[&right]).is_none());
        assert!(Eight::new(Path::Ifma, &[&short]).is_none());
        assert!(Eight::new(Path::Ifma, &[]).is_none());
    }

    #[test]
    fn an_exponent_of_zero_gives_one() {
        let modulus = UBig::ones(597);
        if let Some(eight) = Eight::new(Path::best(), &[&modulus]) {
            assert_eq!(
                eight.powers(&[&UBig::from(5_u8)], &[UBig::ZERO]),
                [UBig::ONE]
            );
        }
    }
}
