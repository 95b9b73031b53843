//! Challenges: SHA-256 over the concatenated numbers in their shortest big-endian form.

use dashu_int::UBig;
use selfsame_bignum::Random;
use selfsame_crypto::hash::{sha256, sha256_parts};

use super::bounds;

/// The bytes of a number in a challenge.
pub(crate) fn bytes(number: &UBig) -> Vec<u8> {
    number.to_be_bytes().into_vec()
}

/// The challenge over these numbers.
pub(crate) fn over<'a>(numbers: impl IntoIterator<Item = &'a UBig>) -> UBig {
    let parts: Vec<Vec<u8>> = numbers.into_iter().map(bytes).collect();
    over_bytes(parts.iter().map(Vec::as_slice))
}

/// The challenge over numbers that are already bytes.
pub(crate) fn over_bytes<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> UBig {
    let parts: Vec<&[u8]> = parts.into_iter().collect();
    UBig::from_be_bytes(&sha256_parts(&parts))
}

/// The credential context m₂ of a credential that is issued now, with 256 fresh random bits.
///
/// A holder that knew m₂ before it sent its blinded secret for revocation could choose that secret so that the
/// non-revocation part of one credential fits another, revoked one. No party recomputes m₂, so any content will do.
pub(crate) fn fresh_context(
    holder: &str,
    revocation_index: Option<u32>,
    random: &mut Random,
) -> UBig {
    let fresh = random.integer(bounds::VALUE);
    credential_context(&format!("{holder} {fresh}"), revocation_index)
}

/// The credential context m₂: the holder, by the identifier or entropy of the request, and the revocation index.
/// (AnonCreds v1.0, "Constructing a Credential"; bytes as in the published implementations.)
pub fn credential_context(holder: &str, revocation_index: Option<u32>) -> UBig {
    let index = revocation_index.map_or_else(|| "-1".to_owned(), |index| index.to_string());
    over([&little_endian(holder), &little_endian(&index)])
}

fn little_endian(text: &str) -> UBig {
    UBig::from_le_bytes(&sha256(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_is_that_of_the_published_library() {
        let expected =
            "31894574610223295263712513093148707509913459424901632064286025736442349335521";
        assert_eq!(credential_context("111", Some(110)).to_string(), expected);
        assert_ne!(credential_context("111", None).to_string(), expected);
    }
}
