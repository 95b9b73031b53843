//! Point formats and encodings shared by the short Weierstrass curves. aws-lc checks the points.

use aws_lc_rs::encoding::{AsDer, PublicKeyX509Der};
use aws_lc_rs::signature::{EcdsaVerificationAlgorithm, ParsedPublicKey};

use crate::error::KeyError;

/// The parameters of one curve.
pub(crate) struct Curve {
    /// The curve's name in JWK (RFC 7518 §6.2.1.1, RFC 8812 §3.1).
    pub(crate) jwk: &'static str,
    /// The length of a coordinate in bytes.
    pub(crate) size: usize,
    /// ECDSA with the hash that JOSE pairs with the curve. Signatures are r ‖ s.
    pub(crate) ecdsa: &'static EcdsaVerificationAlgorithm,
    /// The multicodec of the curve's public keys, as a varint.
    pub(crate) multicodec: [u8; 2],
    /// SubjectPublicKeyInfo up to the uncompressed point (RFC 5480).
    pub(crate) spki_prefix: &'static [u8],
    /// Computes y from x and the parity of y, if there is such a point. Without this function, aws-lc decompresses.
    pub(crate) root: Option<Root>,
}

/// Computes y from x. The flag says whether y is odd.
type Root = fn(&[u8; 32], bool) -> [u8; 32];

impl Curve {
    /// Reads a compressed or uncompressed point and returns it uncompressed. aws-lc checks that it is on the curve.
    pub(crate) fn parse(&self, point: &[u8]) -> Result<(Vec<u8>, ParsedPublicKey), KeyError> {
        let malformed = KeyError::Malformed("elliptic curve point");
        let (compressed, uncompressed) = (self.size.saturating_add(1), self.uncompressed_len());
        // The library would accept hybrid points (6, 7) and other lengths; they are refused here.
        let known = match point.first() {
            Some(2 | 3) => point.len() == compressed,
            Some(4) => point.len() == uncompressed,
            _ => false,
        };
        if !known {
            return Err(malformed);
        }
        if let Some(found) = self.found(point) {
            let parsed = ParsedPublicKey::new(self.ecdsa, &found).map_err(|_| malformed)?;
            return Ok((found, parsed));
        }
        let parsed = ParsedPublicKey::new(self.ecdsa, point).map_err(|_| malformed)?;
        if point.first() == Some(&4) {
            return Ok((point.to_vec(), parsed));
        }
        let spki: PublicKeyX509Der<'_> = parsed.as_der().map_err(|_| malformed)?;
        let full = spki
            .as_ref()
            .strip_prefix(self.spki_prefix)
            .ok_or(malformed)?;
        if full.len() != uncompressed {
            return Err(malformed);
        }
        Ok((full.to_vec(), parsed))
    }

    /// Decompresses a compressed point. Nothing is checked yet.
    fn found(&self, point: &[u8]) -> Option<Vec<u8>> {
        let (sign @ (2 | 3), x) = point.split_first()? else {
            return None;
        };
        let y = self.root?(x.try_into().ok()?, *sign == 3);
        Some([&[4], x, &y].concat())
    }

    /// Builds a point from the coordinates of a JWK (RFC 7518 §6.2.1.2: each of the full length).
    pub(crate) fn point(&self, x: &[u8], y: &[u8]) -> Result<Vec<u8>, KeyError> {
        if x.len() != self.size || y.len() != self.size {
            return Err(KeyError::Malformed("elliptic curve coordinate length"));
        }
        Ok([&[4], x, y].concat())
    }

    /// The coordinates of an uncompressed point.
    pub(crate) fn coordinates<'a>(&self, point: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        let coordinates = point.split_first().map_or(&[][..], |(_, rest)| rest);
        coordinates
            .split_at_checked(self.size)
            .unwrap_or((&[], &[]))
    }

    /// The compressed form of an uncompressed point (SEC 1 §2.3.3).
    pub(crate) fn compress(&self, point: &[u8]) -> Vec<u8> {
        let (x, y) = self.coordinates(point);
        let sign = if y.last().is_some_and(|byte| byte & 1 == 1) {
            3
        } else {
            2
        };
        [&[sign], x].concat()
    }

    /// The length of an uncompressed point.
    pub(crate) fn uncompressed_len(&self) -> usize {
        self.size.saturating_mul(2).saturating_add(1)
    }
}
