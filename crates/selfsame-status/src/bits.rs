//! An array of small values, packed into bytes.

use super::{MAX_LIST_BYTES, StatusError};

/// The number of bits of a status.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Width {
    /// Two statuses.
    One,
    /// Four statuses.
    Two,
    /// Sixteen statuses.
    Four,
    /// 256 statuses.
    Eight,
}

impl Width {
    /// The number of bits.
    pub const fn bits(self) -> u8 {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// The width of this number of bits, if there is one.
    pub const fn from_bits(bits: u64) -> Option<Self> {
        match bits {
            1 => Some(Self::One),
            2 => Some(Self::Two),
            4 => Some(Self::Four),
            8 => Some(Self::Eight),
            _ => None,
        }
    }

    const fn mask(self) -> u8 {
        match self {
            Self::One => 0b1,
            Self::Two => 0b11,
            Self::Four => 0b1111,
            Self::Eight => 0xff,
        }
    }
}

/// The end of a byte at which the first status is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Order {
    /// The least significant (Token Status List §4.1).
    LeastFirst,
    /// The most significant (Bitstring Status List §2.2).
    MostFirst,
}

/// The position of a status: its byte, and its shift to the left in it.
fn place(width: Width, order: Order, index: u64) -> Option<(usize, u32)> {
    let first_bit = index.checked_mul(u64::from(width.bits()))?;
    let byte = usize::try_from(first_bit.checked_div(8)?).ok()?;
    let from_least = u32::try_from(first_bit.checked_rem(8)?).ok()?;
    let shift = match order {
        Order::LeastFirst => from_least,
        Order::MostFirst => 8_u32
            .checked_sub(u32::from(width.bits()))?
            .checked_sub(from_least)?,
    };
    Some((byte, shift))
}

/// The status at `index`, given the bytes by their positions; `None` outside of them.
pub(super) fn read(
    byte_at: impl FnOnce(usize) -> Option<u8>,
    width: Width,
    order: Order,
    index: u64,
) -> Option<u8> {
    let (byte, shift) = place(width, order, index)?;
    Some(byte_at(byte)?.checked_shr(shift)? & width.mask())
}

/// The number of statuses in this many bytes.
pub(super) fn entries(bytes: usize, width: Width) -> u64 {
    let per_byte = 8_u64.checked_div(u64::from(width.bits())).unwrap_or(1);
    u64::try_from(bytes)
        .unwrap_or(u64::MAX)
        .saturating_mul(per_byte)
}

/// An issuer's statuses, before they are compressed; all zero (valid) at first.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Bits {
    width: Width,
    bytes: Vec<u8>,
}

impl Bits {
    /// At least `len` statuses; the last byte is filled up.
    pub fn new(width: Width, len: u64) -> Result<Self, StatusError> {
        let bits = len.checked_mul(u64::from(width.bits()));
        let bytes = bits.and_then(|bits| usize::try_from(bits.div_ceil(8)).ok());
        match bytes {
            Some(bytes) if bytes <= MAX_LIST_BYTES => Ok(Self {
                width,
                bytes: vec![0; bytes],
            }),
            _ => Err(StatusError::TooLarge),
        }
    }

    /// The statuses from the result of [`Bits::as_bytes`].
    pub fn from_bytes(width: Width, bytes: Vec<u8>) -> Result<Self, StatusError> {
        if bytes.len() > MAX_LIST_BYTES {
            return Err(StatusError::TooLarge);
        }
        Ok(Self { width, bytes })
    }

    /// The statuses as bytes, the first at the least significant end.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of bits of a status.
    pub const fn width(&self) -> Width {
        self.width
    }

    /// The number of statuses.
    pub fn len(&self) -> u64 {
        entries(self.bytes.len(), self.width)
    }

    /// Whether there is no status.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The status at `index`; `None` outside of the list.
    pub fn get(&self, index: u64) -> Option<u8> {
        read(
            |byte| self.bytes.get(byte).copied(),
            self.width,
            Order::LeastFirst,
            index,
        )
    }

    /// Sets the status at `index`. A value that does not fit the width, like an index outside of the list, is refused.
    pub fn set(&mut self, index: u64, value: u8) -> Result<(), StatusError> {
        let mask = self.width.mask();
        let (byte, shift) =
            place(self.width, Order::LeastFirst, index).ok_or(StatusError::OutOfRange)?;
        let byte = self.bytes.get_mut(byte).ok_or(StatusError::OutOfRange)?;
        if value & !mask != 0 {
            return Err(StatusError::OutOfRange);
        }
        *byte = (*byte & !(mask << shift)) | (value << shift);
        Ok(())
    }
}
