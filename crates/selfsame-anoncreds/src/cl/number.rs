//! Numbers as the proofs use them: exponents, responses, and the bytes that are hashed.

use dashu_int::{IBig, Sign, UBig};
use selfsame_bignum::Signed;

/// The number as an exponent.
pub(super) fn positive(number: &UBig) -> IBig {
    IBig::from_parts(Sign::Positive, number.clone())
}

/// A response of a proof. It is negative only with a probability below 2^-79, and then the proof does not hold.
pub(super) fn revealed(response: impl Into<Signed>) -> UBig {
    response.into().reveal().into_parts().1
}

/// The number big-endian in `length` bytes; it has no more.
pub(super) fn padded(number: &UBig, length: usize) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let mut padded = vec![0; length.saturating_sub(bytes.len())];
    padded.extend_from_slice(&bytes);
    padded
}
