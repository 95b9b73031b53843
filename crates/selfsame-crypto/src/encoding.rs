//! Bytes as text: base64url, base64, base58, base32, hex, multibase. Decoding is strict: each value has exactly one
//! text.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use data_encoding::{BASE32_NOPAD, HEXLOWER, HEXLOWER_PERMISSIVE};

/// Decoding base58 takes time quadratic in the length. The longest RSA key needs 1,400 characters; a DID that contains
/// its document has up to 4,096.
const MAX_BASE58: usize = 4096;

/// The digits of base58 in Bitcoin's alphabet.
const ALPHABET: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/// Why a text was not decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum EncodingError {
    /// A character, the padding or the final bits are wrong.
    #[error("the text is not {0}")]
    Invalid(&'static str),
    /// The text is longer than the limit of this encoding.
    #[error("the text is too long")]
    TooLong,
    /// The multibase letter is not `z` or `u`.
    #[error("the multibase is neither base58 (z) nor base64url (u)")]
    UnknownBase,
}

/// Base64url without padding (RFC 7515 §2).
pub fn base64url_encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Appends base64url without padding to `text`.
pub fn base64url_append(bytes: &[u8], text: &mut String) {
    URL_SAFE_NO_PAD.encode_string(bytes, text);
}

/// Base64url without padding; padding, foreign characters and stray final bits are refused.
pub fn base64url_decode(text: &str) -> Result<Vec<u8>, EncodingError> {
    URL_SAFE_NO_PAD
        .decode(text)
        .map_err(|_| EncodingError::Invalid("base64url without padding"))
}

/// Base64 with padding (RFC 4648 §4), as `x5c` uses it.
pub fn base64_encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Base64 with padding (RFC 4648 §4).
pub fn base64_decode(text: &str) -> Result<Vec<u8>, EncodingError> {
    STANDARD
        .decode(text)
        .map_err(|_| EncodingError::Invalid("base64 with padding"))
}

/// Base58 in Bitcoin's alphabet. Works on five digits and four bytes at a time. An RSA DID's key is encoded each time
/// its document is made; this takes a tenth of the time of working on single digits.
pub fn base58_encode(bytes: &[u8]) -> String {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let (first, rest) = bytes.as_rchunks::<4>();
    let first = first
        .iter()
        .fold(0, |word, byte| (word << 8) | u32::from(*byte));
    let rest = rest.iter().map(|word| u32::from_be_bytes(*word));
    let mut words: Vec<u32> = std::iter::once(first).chain(rest).collect();
    let mut number = words.as_mut_slice();
    let mut digits = Vec::with_capacity(bytes.len().saturating_mul(7) / 5);
    while !number.is_empty() {
        let mut five = divide(number);
        for _ in 0..5 {
            digits.push(ALPHABET.get((five % 58) as usize).copied().unwrap_or(b'1'));
            five /= 58;
        }
        let begin = number.iter().position(|word| *word != 0);
        number = begin
            .and_then(|begin| number.get_mut(begin..))
            .unwrap_or_default();
    }
    let significant = digits.iter().rposition(|digit| *digit != b'1');
    digits.truncate(significant.map_or(0, |last| last.saturating_add(1)));
    digits.resize(digits.len().saturating_add(zeros), b'1');
    digits
        .iter()
        .rev()
        .map(|digit| char::from(*digit))
        .collect()
}

/// Divides a number, most significant word first, by 58⁵ in place and returns the remainder.
fn divide(number: &mut [u32]) -> u32 {
    const FIVE_DIGITS: u64 = 58_u64.pow(5);
    let mut remainder = 0;
    for word in number {
        let dividend = (remainder << 32) | u64::from(*word);
        *word = (dividend / FIVE_DIGITS) as u32;
        remainder = dividend % FIVE_DIGITS;
    }
    remainder as u32
}

/// Base58 in Bitcoin's alphabet, at most 4,096 characters. Works on five digits and four bytes at a time.
pub fn base58_decode(text: &str) -> Result<Vec<u8>, EncodingError> {
    if text.len() > MAX_BASE58 {
        return Err(EncodingError::TooLong);
    }
    let zeros = text.bytes().take_while(|byte| *byte == b'1').count();
    let (first, fives) = text.as_bytes().as_rchunks::<5>();
    // The least significant word first.
    let mut number = Vec::new();
    for digits in std::iter::once(first).chain(fives.iter().map(|five| &five[..])) {
        let mut scale = 1;
        let mut value = 0;
        for digit in digits {
            let digit = ALPHABET.iter().position(|known| known == digit);
            let digit = digit.ok_or(EncodingError::Invalid("base58"))?;
            value = 58_u64.wrapping_mul(value).wrapping_add(digit as u64);
            scale = 58_u64.wrapping_mul(scale);
        }
        multiply_add(&mut number, scale, value);
    }
    let bytes = number.iter().rev().flat_map(|word| word.to_be_bytes());
    let significant = bytes.skip_while(|byte| *byte == 0);
    Ok(std::iter::repeat_n(0, zeros).chain(significant).collect())
}

/// Multiplies a number, least significant word first, by `scale` and adds `value`. Both are at most 58⁵.
fn multiply_add(number: &mut Vec<u32>, scale: u64, value: u64) {
    let mut carry = value;
    for word in number.iter_mut() {
        let product = u64::from(*word).wrapping_mul(scale).wrapping_add(carry);
        *word = product as u32;
        carry = product >> 32;
    }
    if carry > 0 {
        number.push(carry as u32);
    }
}

/// Base32 in lower case without padding.
pub fn base32_lower_encode(bytes: &[u8]) -> String {
    BASE32_NOPAD.encode(bytes).to_ascii_lowercase()
}

/// Base32 in lower case without padding; upper case is refused.
pub fn base32_lower_decode(text: &str) -> Result<Vec<u8>, EncodingError> {
    let invalid = EncodingError::Invalid("lower-case base32");
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Err(invalid);
    }
    BASE32_NOPAD
        .decode(text.to_ascii_uppercase().as_bytes())
        .map_err(|_| invalid)
}

/// Hexadecimal in lower case.
pub fn hex_encode(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

/// Hexadecimal in either case.
pub fn hex_decode(text: &str) -> Result<Vec<u8>, EncodingError> {
    HEXLOWER_PERMISSIVE
        .decode(text.as_bytes())
        .map_err(|_| EncodingError::Invalid("hexadecimal"))
}

/// Multibase base58, `z…`.
pub fn multibase_base58_encode(bytes: &[u8]) -> String {
    format!("z{}", base58_encode(bytes))
}

/// Multibase base58 (`z`) or base64url without padding (`u`).
pub fn multibase_decode(text: &str) -> Result<Vec<u8>, EncodingError> {
    match (text.strip_prefix('z'), text.strip_prefix('u')) {
        (Some(rest), _) => base58_decode(rest),
        (_, Some(rest)) => base64url_decode(rest),
        _ => Err(EncodingError::UnknownBase),
    }
}

#[cfg(test)]
mod tests;
