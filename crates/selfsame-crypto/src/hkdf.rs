//! HKDF-SHA256 (RFC 5869) that cannot fail: output lengths are known at compile time.

use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Prk, Salt};

/// The maximum output of one expansion, in bytes (RFC 5869 §2.3).
const MAX: usize = 255 * 32;

/// RFC 5869 §2.2.
pub(crate) fn extract(salt: &[u8], input: &[u8]) -> Prk {
    Salt::new(HKDF_SHA256, salt).extract(input)
}

/// RFC 5869 §2.3, with `info` given in parts. aws-lc fails only if memory runs out; the process then ends, since no
/// other value may stand for a key.
pub(crate) fn expand<const N: usize>(prk: &Prk, info: &[&[u8]]) -> [u8; N] {
    const { assert!(N <= MAX, "HKDF-SHA256 gives at most 8160 bytes") }
    let mut out = [0_u8; N];
    let filled = prk
        .expand(info, Length(N))
        .and_then(|output| output.fill(&mut out));
    if filled.is_err() {
        std::process::abort();
    }
    out
}

/// The length of an output in bytes.
struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::hex_decode;

    #[test]
    fn the_first_and_third_test_cases_of_rfc_5869_hold() {
        let input = [0x0b; 22];
        let salt: Vec<u8> = (0x00..=0x0c).collect();
        let info: Vec<u8> = (0xf0..=0xf9).collect();
        let okm: [u8; 42] = expand(&extract(&salt, &input), &[&info]);
        let expected =
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865";
        assert_eq!(okm.to_vec(), hex_decode(expected).unwrap());

        let okm: [u8; 42] = expand(&extract(&[], &input), &[]);
        let expected =
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8";
        assert_eq!(okm.to_vec(), hex_decode(expected).unwrap());
    }

    #[test]
    fn info_given_in_parts_is_the_same_as_info_given_whole() {
        let prk = extract(b"salt", b"input");
        assert_eq!(
            expand::<64>(&prk, &[b"ab", b"c"]),
            expand::<64>(&prk, &[b"abc"])
        );
    }
}
