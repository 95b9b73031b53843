//! Owns G1: the curve over F_p. Its order is n, so every point but infinity generates it.

use super::Error;
use super::affine::invert_all;
use super::fp::Fp;
use super::group::Point;
use super::scalar::Scalar;
use super::wire;

const HIGH: &str = "a coordinate is not below the modulus";

/// A point of G1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct G1(pub(super) Point<Fp>);

impl G1 {
    /// Bytes of a point where it is hashed.
    pub const BYTES: usize = 128;

    /// (-1, 1).
    pub fn generator() -> Self {
        Self(Point::affine(Fp::ONE.neg(), Fp::ONE))
    }

    /// The point at infinity.
    pub fn identity() -> Self {
        Self(Point::IDENTITY)
    }

    /// Whether this is the point at infinity.
    pub fn is_identity(&self) -> bool {
        self.0.is_identity().into()
    }

    /// The sum of two points.
    pub fn add(&self, other: &Self) -> Self {
        Self(self.0.add(&other.0))
    }

    /// The difference of two points.
    pub fn sub(&self, other: &Self) -> Self {
        Self(self.0.add(&other.0.neg()))
    }

    /// The point with the opposite sign.
    pub fn neg(&self) -> Self {
        Self(self.0.neg())
    }

    /// The multiple by a secret scalar, in constant time.
    pub fn mul(&self, scalar: &Scalar) -> Self {
        Self(self.0.mul(scalar))
    }

    /// The multiple by a public scalar.
    pub fn mul_public(&self, scalar: &Scalar) -> Self {
        self.mul(scalar)
    }

    /// The points scaled to z = 1 with one inversion, so that pairing and writing each needs no further one.
    pub fn normalized<const N: usize>(mut points: [Self; N]) -> [Self; N] {
        let mut inverses = points.map(|point| point.0.z);
        invert_all(&mut inverses);
        for (point, inverse) in points.iter_mut().zip(inverses) {
            if !point.is_identity() {
                let (x, y) = (point.0.x.mul(&inverse), point.0.y.mul(&inverse));
                point.0 = Point::affine(x, y);
            }
        }
        points
    }

    /// The bytes that the published implementation hashes: 04, x, y and 63 zeros; infinity has x = 0, y = 1.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let (x, y) = self.0.to_affine();
        let y = if self.is_identity() { Fp::ONE } else { y };
        let mut bytes = [0; Self::BYTES];
        let content = [4]
            .into_iter()
            .chain(x.to_be_bytes())
            .chain(y.to_be_bytes());
        for (byte, value) in bytes.iter_mut().zip(content) {
            *byte = value;
        }
        bytes
    }

    /// Reads the bytes of [`Self::to_bytes`].
    ///
    /// # Errors
    /// [`Error::Malformed`] for other bytes, for a point that is not on the curve, and for the point at infinity.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Result<Self, Error> {
        let (form, rest) = bytes.split_at(1);
        let numbers = rest.as_chunks::<32>().0;
        let number = |at: usize| Fp::from_be_bytes(numbers.get(at)?);
        let (Some(x), Some(y)) = (number(0), number(1)) else {
            return Err(wire::refuse(wire::G1, HIGH));
        };
        let zeros = rest.get(64..).unwrap_or_default();
        let is_padded = form == [4] && zeros.iter().all(|byte| *byte == 0);
        let point = Self(Point::affine(x, y));
        match is_padded && point.0.is_on_curve() {
            true => Ok(point),
            false => Err(wire::refuse(wire::G1, "it is not on the curve")),
        }
    }

    /// The text of published data: three numbers in Montgomery form. We write z = 1, or 0 for infinity.
    pub(crate) fn to_text(self) -> String {
        if self.is_identity() {
            return wire::write([Fp::ZERO, Fp::ONE, Fp::ZERO]);
        }
        let (x, y) = self.0.to_affine();
        wire::write([x, y, Fp::ONE])
    }

    /// Reads the text of published data. Refuses the point at infinity, since it is not a valid published value.
    pub(crate) fn from_text(text: &str) -> Result<Self, Error> {
        let [x, y, z] = wire::read::<3>(text, wire::G1)?;
        let point = Self(Point { x, y, z });
        if !point.0.is_on_curve() {
            return Err(wire::refuse(wire::G1, "it is not on the curve"));
        }
        if point.is_identity() {
            return Err(wire::refuse(wire::G1, "it is the point at infinity"));
        }
        Ok(point)
    }
}
