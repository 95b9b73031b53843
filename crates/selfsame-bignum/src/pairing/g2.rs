//! Owns G2: the points of order n of the twist over F_p². The twist has other points too, so points from outside are
//! checked.

use super::Error;
use super::fp::{FieldOrder, Fp};
use super::fp2::Fp2;
use super::group::Point;
use super::montgomery::{Limbs, Prime, limbs_from_be_bytes, subtract};
use super::powers::{MINUS_U, frobenius};
use super::scalar::Scalar;
use super::wire;

/// A point of G2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct G2(pub(super) Point<Fp2>);

const GENERATOR: Point<Fp2> = Point::affine(
    Fp2::new(
        [
            0x91EE_4224_C803_FB2B,
            0xA464_8BBB_4898_BF0D,
            0xEB8D_8C7E_8C61_EDB6,
            0x061A_10BB_519E_B62F,
        ],
        [
            0x0D8C_34C1_E7D5_4CF3,
            0x1F4D_746B_AE37_84B7,
            0x310A_A78C_5982_AA5B,
            0x0516_AAF9_BA73_7833,
        ],
    ),
    Fp2::new(
        [
            0x19F0_E078_91CD_2B9A,
            0x29BD_0AE6_BDBE_09BD,
            0x9A90_E096_698C_8223,
            0x0218_97A0_6BAF_9343,
        ],
        [
            0x8A2D_1AEC_6B3A_CE9B,
            0xB090_06FF_D739_C957,
            0x8F6D_4456_F5F3_8D37,
            0x0EBB_2B0E_7C8B_1526,
        ],
    ),
);

pub(super) const NOT_ON_CURVE: Error = Error::Malformed {
    what: wire::G2,
    why: "it is not on the curve",
};

impl G2 {
    /// The length of a point in bytes, when it is hashed and in a tails file.
    pub const BYTES: usize = 128;

    /// The generator of the published implementation.
    pub fn generator() -> Self {
        Self(GENERATOR)
    }

    /// The point at infinity.
    pub fn identity() -> Self {
        Self(Point::IDENTITY)
    }

    pub(crate) fn is_identity(&self) -> bool {
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

    #[cfg(test)]
    pub(crate) fn neg(&self) -> Self {
        Self(self.0.neg())
    }

    /// The multiple by a secret scalar, in constant time.
    pub fn mul(&self, scalar: &Scalar) -> Self {
        Self(self.0.mul(scalar))
    }

    /// x and y, real part first, big-endian, as in a tails file; infinity has x = 0, y = 1.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let (x, y) = self.0.to_affine();
        let y = if self.is_identity() { Fp2::ONE } else { y };
        let mut bytes = [0; Self::BYTES];
        for (chunk, number) in bytes.chunks_exact_mut(32).zip([x.c0, x.c1, y.c0, y.c1]) {
            chunk.copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// Reads the bytes of [`Self::to_bytes`].
    pub(super) fn from_bytes_or_identity(bytes: &[u8; Self::BYTES]) -> Result<Self, Error> {
        if *bytes == Self::identity().to_bytes() {
            return Ok(Self::identity());
        }
        let [x, y] = coordinates(&read_numbers(bytes)?);
        let point = Point::affine(x, y);
        match point.is_on_curve() {
            true => Self(point).in_group(),
            false => Err(NOT_ON_CURVE),
        }
    }

    /// The text of published data: six numbers in Montgomery form. We write z = 1, or 0 for infinity.
    pub(crate) fn to_text(self) -> String {
        if self.is_identity() {
            return wire::write([Fp::ZERO, Fp::ZERO, Fp::ONE, Fp::ZERO, Fp::ZERO, Fp::ZERO]);
        }
        let (x, y) = self.0.to_affine();
        wire::write([x.c0, x.c1, y.c0, y.c1, Fp::ONE, Fp::ZERO])
    }

    /// Reads the text of published data. Refuses the point at infinity.
    pub(crate) fn from_text(text: &str) -> Result<Self, Error> {
        let point = Self::from_text_or_identity(text)?;
        if point.is_identity() {
            return Err(wire::refuse(wire::G2, "it is the point at infinity"));
        }
        Ok(point)
    }

    /// Like `from_text`, but allows the point at infinity: an accumulator or a witness over no credentials.
    pub(crate) fn from_text_or_identity(text: &str) -> Result<Self, Error> {
        let [x0, x1, y0, y1, z0, z1] = wire::read::<6>(text, wire::G2)?;
        let point = Point {
            x: Fp2::of(x0, x1),
            y: Fp2::of(y0, y1),
            z: Fp2::of(z0, z1),
        };
        if !point.is_on_curve() {
            return Err(NOT_ON_CURVE);
        }
        Self(point).in_group()
    }

    /// (u + 1)P + ψ(uP) + ψ²(uP) = ψ³(2uP) for the p-th power ψ (Dai, Lin, Zhao and Zhou, 2022; the kernel of the
    /// difference has no part in the cofactor of this twist).
    pub(super) fn in_group(self) -> Result<Self, Error> {
        if self.is_identity() {
            return Ok(self);
        }
        let minus_u = self.0.times_minus_u();
        let first = minus_u.frobenius();
        let second = first.frobenius();
        let third = second.frobenius().double();
        let left = minus_u.add(&first).add(&second).add(&self.0.neg());
        if left == third {
            Ok(self)
        } else {
            Err(wire::refuse(wire::G2, "it is not in the group"))
        }
    }
}

/// Both parts of x and of y of a point that need not be on the curve, in the order of its bytes; each below p.
pub(super) fn read_numbers(bytes: &[u8; G2::BYTES]) -> Result<[Limbs; 4], Error> {
    let mut numbers = [Limbs::default(); 4];
    for (number, chunk) in numbers.iter_mut().zip(bytes.as_chunks().0) {
        *number = limbs_from_be_bytes(chunk);
        let is_below = subtract(number, &FieldOrder::P).1;
        if !is_below {
            return Err(wire::refuse(
                wire::G2,
                "a coordinate is not below the modulus",
            ));
        }
    }
    Ok(numbers)
}

/// x and y of those numbers.
pub(super) fn coordinates(&[x0, x1, y0, y1]: &[Limbs; 4]) -> [Fp2; 2] {
    [Fp2::new(x0, x1), Fp2::new(y0, y1)]
}

impl Point<Fp2> {
    /// The p-th power of a point of the curve, in the twist's coordinates.
    pub(super) fn frobenius(&self) -> Self {
        let (x, y) = frobenius(&self.x, &self.y);
        let z = self.z.conjugate();
        Self { x, y, z }
    }

    fn times_minus_u(&self) -> Self {
        const { assert!(MINUS_U == ((1 << 7) + 1) * (1 << 55) + 1) };
        let multiple = self.doubled(7).add(self);
        multiple.doubled(55).add(self)
    }
}
