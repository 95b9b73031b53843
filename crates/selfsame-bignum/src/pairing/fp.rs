//! Owns the field of the curve, F_p with p = 36u^4 + 36u^3 + 24u^2 + 6u + 1 for u = -(2^62 + 2^55 + 1).

use super::montgomery::{Limbs, Prime, Residue};

/// p, the order of the field.
#[derive(Clone, Copy)]
pub(super) struct FieldOrder;

impl Prime for FieldOrder {
    const P: Limbs = [
        0xA700_0000_0000_0013,
        0x6121_0000_0000_0013,
        0xBA34_4D80_0000_0008,
        0x2523_6482_4000_0001,
    ];
}

/// An element of F_p.
pub(super) type Fp = Residue<FieldOrder>;

/// 2^232 and 2^488 mod p: converts from the published Montgomery form, with 2^280, to ours, with 2^256.
const FROM_PUBLISHED: Fp = Fp::from_montgomery([0, 0, 0, 1 << 40]);
const FROM_PUBLISHED_HIGH: Fp = Fp::new([0, 0, 0, 1 << 40]);
/// 2^280 mod p: converts from our Montgomery form to the published one.
const TO_PUBLISHED: Fp = Fp::new([1 << 24, 0, 0, 0]);

impl Fp {
    /// The number x·2^280 mod p, big-endian, which represents x in published data.
    pub(super) fn to_published(self) -> [u8; 32] {
        let [a, b, c, d] = *self.mul(&TO_PUBLISHED).limbs();
        let mut bytes = [0; 32];
        for (chunk, limb) in bytes.chunks_exact_mut(8).zip([d, c, b, a]) {
            chunk.copy_from_slice(&limb.to_be_bytes());
        }
        bytes
    }

    /// The x of a number x·2^280, which need not be reduced, given by its low 256 bits and the bits above them.
    pub(super) fn from_published(low: Limbs, high: u64) -> Self {
        // A product with a factor below p is reduced for any other factor below 2^256.
        let low = FROM_PUBLISHED.mul(&Self::from_montgomery(low));
        let high = FROM_PUBLISHED_HIGH.mul(&Self::from_montgomery([high, 0, 0, 0]));
        low.add(&high)
    }
}
