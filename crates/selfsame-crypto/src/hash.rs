//! Digests, and comparison in constant time.

pub mod sum;

use std::fmt;

use aws_lc_rs::{digest, hmac};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// SHA-256.
pub fn sha256(data: &[u8]) -> [u8; 32] {
    sha256_parts(&[data])
}

/// SHA-256 of the concatenated parts.
pub fn sha256_parts(parts: &[&[u8]]) -> [u8; 32] {
    digest_parts(&digest::SHA256, parts)
}

/// Incremental SHA-256, for input that comes in pieces, such as a large file.
#[derive(Clone)]
pub struct Sha256(digest::Context);

impl Sha256 {
    /// A hasher without input.
    pub fn new() -> Self {
        Self(digest::Context::new(&digest::SHA256))
    }

    /// Adds `part` to the input. Where one part ends and the next begins does not matter.
    pub fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// The hash of all parts.
    pub fn finish(self) -> [u8; 32] {
        finish(self.0)
    }
}

impl Default for Sha256 {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sha256(…)")
    }
}

/// SHA3-256 (FIPS 202).
pub fn sha3_256(data: &[u8]) -> [u8; 32] {
    digest_parts(&digest::SHA3_256, &[data])
}

/// SHA-384.
pub fn sha384(data: &[u8]) -> [u8; 48] {
    digest_parts(&digest::SHA384, &[data])
}

/// SHA-512.
pub fn sha512(data: &[u8]) -> [u8; 64] {
    digest_parts(&digest::SHA512, &[data])
}

/// HMAC-SHA256 of the concatenated parts (RFC 2104).
pub fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    hmac_parts(hmac::HMAC_SHA256, key, parts)
}

/// HMAC-SHA1, which authenticator apps use (RFC 6238 §1.2). It needs no resistance to collisions of SHA-1.
pub fn hmac_sha1(key: &[u8], parts: &[&[u8]]) -> [u8; 20] {
    hmac_parts(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key, parts)
}

/// HMAC-SHA512 of the concatenated parts (RFC 2104).
pub fn hmac_sha512(key: &[u8], parts: &[&[u8]]) -> [u8; 64] {
    hmac_parts(hmac::HMAC_SHA512, key, parts)
}

fn hmac_parts<const N: usize>(algorithm: hmac::Algorithm, key: &[u8], parts: &[&[u8]]) -> [u8; N] {
    let mut context = hmac::Context::with_key(&hmac::Key::new(algorithm, key));
    for part in parts {
        context.update(part);
    }
    let mut tag = [0; N];
    for (to, from) in tag.iter_mut().zip(context.sign().as_ref()) {
        *to = *from;
    }
    tag
}

/// Whether two values are equal. The time depends on their lengths alone.
pub fn ct_eq(a: &[u8], b: &[u8]) -> bool {
    a.ct_eq(b).into()
}

/// Parts of up to this many bytes in all are concatenated before hashing, such as the nodes of a tree. For these,
/// creating a context would take as long as the hashing.
const SHORT: usize = 128;

fn digest_parts<const N: usize>(algorithm: &'static digest::Algorithm, parts: &[&[u8]]) -> [u8; N] {
    if let [whole] = parts {
        return sized(&digest::digest(algorithm, whole));
    }
    let mut short = Zeroizing::new([0_u8; SHORT]);
    if let Some(length) = joined(parts, &mut *short) {
        return sized(&digest::digest(
            algorithm,
            short.get(..length).unwrap_or_default(),
        ));
    }
    let mut context = digest::Context::new(algorithm);
    for part in parts {
        context.update(part);
    }
    finish(context)
}

/// Concatenates the parts into `to` and returns their total length; `None` if they do not fit.
fn joined(parts: &[&[u8]], to: &mut [u8]) -> Option<usize> {
    let mut at = 0_usize;
    for part in parts {
        let end = at.checked_add(part.len())?;
        to.get_mut(at..end)?.copy_from_slice(part);
        at = end;
    }
    Some(at)
}

fn finish<const N: usize>(context: digest::Context) -> [u8; N] {
    sized(&context.finish())
}

fn sized<const N: usize>(digest: &digest::Digest) -> [u8; N] {
    let mut out = [0_u8; N];
    for (to, from) in out.iter_mut().zip(digest.as_ref()) {
        *to = *from;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::hex_encode;

    #[test]
    fn digests_of_abc_are_those_of_fips_180() {
        assert_eq!(
            hex_encode(&sha256(b"abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(
            hex_encode(&sha3_256(b"abc")),
            "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"
        );
        assert!(hex_encode(&sha384(b"abc")).starts_with("cb00753f45a35e8bb5a03d699ac65007"));
        assert!(hex_encode(&sha512(b"abc")).starts_with("ddaf35a193617abacc417349ae204131"));
        assert_eq!(sha256_parts(&[b"a", b"", b"bc"]), sha256(b"abc"));
        let mut in_pieces = Sha256::new();
        for piece in [b"a".as_slice(), b"", b"bc"] {
            in_pieces.update(piece);
        }
        assert_eq!(in_pieces.finish(), sha256(b"abc"));
    }

    #[test]
    fn parts_of_any_length_have_the_digest_of_the_whole() {
        let bytes: Vec<u8> = (0..=255).collect();
        for end in 0..bytes.len() {
            let (whole, half) = (&bytes[..end], end / 2);
            let mut pieces = Sha256::new();
            pieces.update(whole);
            let expected = pieces.finish();
            assert_eq!(sha256(whole), expected, "{end}");
            let parts = [&whole[..half], b"", &whole[half..]];
            assert_eq!(sha256_parts(&parts), expected, "{end}");
        }
        assert_eq!(sha256_parts(&[]), sha256(b""));
    }

    #[test]
    fn equality_is_of_content_and_length() {
        assert!(ct_eq(b"same", b"same"));
        assert!(!ct_eq(b"same", b"sama"));
        assert!(!ct_eq(b"same", b"sam"));
    }
}
