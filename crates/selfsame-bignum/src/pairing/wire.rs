//! The text form of field elements in published data.
//!
//! The published implementation writes each coordinate as an excess and a hexadecimal number x·2^280, which need not be
//! below p; the excess only bounds it. We write reduced numbers with excess 1 and read any number that fits 280 bits.

use std::fmt::Write;

use super::Error;
use super::fp::Fp;

pub(super) const G1: &str = "a point of G1";
pub(super) const G2: &str = "a point of G2";
pub(super) const GT: &str = "an element of GT";
pub(super) const SCALAR: &str = "an integer modulo the group order";

/// Hexadecimal digits of 280 bits, the most that the published implementation can hold.
const DIGITS: usize = 70;

pub(super) fn refuse(what: &'static str, why: &'static str) -> Error {
    Error::Malformed { what, why }
}

pub(super) fn write(numbers: impl IntoIterator<Item = Fp>) -> String {
    let mut text = String::new();
    for number in numbers {
        text.push_str(if text.is_empty() { "1 " } else { " 1 " });
        write_hexadecimal(&mut text, &number.to_published());
    }
    text
}

pub(super) fn write_hexadecimal(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        write!(text, "{byte:02X}").unwrap_or_default(); // a String takes everything
    }
}

/// `N` pairs of an excess and a number.
pub(super) fn read<const N: usize>(text: &str, what: &'static str) -> Result<[Fp; N], Error> {
    let mut words = text.split_ascii_whitespace();
    let mut numbers = [Fp::ZERO; N];
    for number in &mut numbers {
        let (Some(excess), Some(digits)) = (words.next(), words.next()) else {
            return Err(refuse(what, "it has too few numbers"));
        };
        if !excess.bytes().all(|digit| digit.is_ascii_digit())
            || !excess.parse::<i32>().is_ok_and(|excess| excess > 0)
        {
            return Err(refuse(what, "an excess is not a positive number"));
        }
        let (low, high) = read_hexadecimal(digits, what)?;
        *number = Fp::from_published(low, high);
    }
    if words.next().is_some() {
        return Err(refuse(what, "it has too many numbers"));
    }
    Ok(numbers)
}

/// The low 256 bits of a number and the bits above them.
pub(super) fn read_hexadecimal(digits: &str, what: &'static str) -> Result<([u64; 4], u64), Error> {
    if digits.is_empty() || digits.len() > DIGITS {
        return Err(refuse(what, "a number is empty or longer than 280 bits"));
    }
    let mut limbs = [0u64; 5];
    for digit in digits.chars() {
        let digit = digit
            .to_digit(16)
            .ok_or(refuse(what, "a number is not hexadecimal"))?;
        let mut carry = u64::from(digit);
        for limb in &mut limbs {
            (*limb, carry) = (*limb << 4 | carry, *limb >> 60);
        }
    }
    let [a, b, c, d, high] = limbs;
    Ok(([a, b, c, d], high))
}
