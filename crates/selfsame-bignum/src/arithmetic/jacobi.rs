//! The Jacobi symbol.

use dashu_int::{UBig, ops::BitTest};

/// The Jacobi symbol of `number` over an odd `n`: 1, -1, or 0 if they have a common divisor. Variable time.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "integers of any size do not overflow, and no divisor is zero"
)]
pub fn jacobi(number: &UBig, n: &UBig) -> i8 {
    let mut n = n.clone();
    let mut number = number % &n;
    let mut is_negative = false;
    while let Some(twos) = number.trailing_zeros() {
        number >>= twos;
        // 2 over n is -1 where n is 3 or 5 modulo 8.
        is_negative ^= !twos.is_multiple_of(2) & (n.bit(1) ^ n.bit(2));
        // Reciprocity: the sign changes where both are 3 modulo 4.
        is_negative ^= number.bit(1) & n.bit(1);
        std::mem::swap(&mut number, &mut n);
        number %= &n;
    }
    match (n.is_one(), is_negative) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => -1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_symbol_is_the_product_of_those_of_the_prime_factors() {
        let of_prime = |number: u32, prime: u32| {
            let squares: Vec<u32> = (1..prime).map(|root| root * root % prime).collect();
            match number % prime {
                0 => 0,
                rest if squares.contains(&rest) => 1,
                _ => -1,
            }
        };
        for (first, second) in [(3, 5), (7, 7), (11, 13), (17, 19), (31, 31)] {
            for number in 0..400 {
                let expected = of_prime(number, first) * of_prime(number, second);
                let found = jacobi(&number.into(), &(first * second).into());
                assert_eq!(found, expected, "{number} over {first}·{second}");
            }
        }
        assert_eq!(jacobi(&UBig::from(7_u8), &UBig::ONE), 1);
    }
}
