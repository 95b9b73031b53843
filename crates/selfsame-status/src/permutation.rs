//! Indexes in a list that look random and never repeat: a keyed permutation of a counter.

use selfsame_crypto::seal::SealingKey;

/// Balanced Feistel networks are indistinguishable from random from four rounds on; small domains need more.
const ROUNDS: u8 = 10;

/// A permutation of `0..size` that can't be distinguished from a random one without the key. Ascending counters lead to
/// distinct indexes, and the indexes do not reveal their order (Token Status List §13.3).
pub struct Permutation {
    key: SealingKey,
    size: u64,
    /// Bits of one half; the network permutes numbers of twice as many.
    half: u32,
}

impl Permutation {
    /// The permutation of `0..size` under this key.
    pub fn new(key: [u8; 32], size: u64) -> Self {
        let largest = size.saturating_sub(1);
        let bits = 64_u32.saturating_sub(largest.leading_zeros()).max(2);
        Self {
            key: SealingKey::from_bytes(key),
            size,
            half: bits.div_ceil(2),
        }
    }

    /// The index for the counter; `None` once all indexes are taken.
    pub fn at(&self, counter: u64) -> Option<u64> {
        if counter >= self.size {
            return None;
        }
        // Cycle walking: the network permutes a domain less than four times as large (or of four numbers). Following it
        // from a number inside the domain must lead back inside.
        let mut place = self.network(counter);
        while place >= self.size {
            place = self.network(place);
        }
        Some(place)
    }

    fn network(&self, number: u64) -> u64 {
        let mask = 1_u64
            .checked_shl(self.half)
            .unwrap_or_default()
            .wrapping_sub(1);
        let mut left = number.checked_shr(self.half).unwrap_or_default() & mask;
        let mut right = number & mask;
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ (self.round(round, right) & mask));
        }
        left.checked_shl(self.half).unwrap_or_default() | right
    }

    fn round(&self, round: u8, half: u64) -> u64 {
        let input = [
            b"status index".as_slice(),
            &self.size.to_be_bytes(),
            &[round],
            &half.to_be_bytes(),
        ]
        .concat();
        let mac = self.key.mac(&input);
        mac.iter()
            .take(8)
            .fold(0, |number, byte| (number << 8) | u64::from(*byte))
    }
}
