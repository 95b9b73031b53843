//! Random numbers of any length from a source of blocks; equal blocks give equal numbers.

use dashu_int::UBig;
use zeroize::Zeroizing;

const BLOCK: usize = 1024;

/// A stream of random bytes, made of the blocks that its source gives.
pub struct Random {
    source: Box<dyn FnMut(u64) -> Zeroizing<[u8; BLOCK]> + Send + Sync>,
    block: Zeroizing<[u8; BLOCK]>,
    used: usize,
    number: u64,
}

impl Random {
    /// The stream of this source, which gives the uniformly random and secret block of each number from 0 on.
    pub fn new(source: impl FnMut(u64) -> Zeroizing<[u8; BLOCK]> + Send + Sync + 'static) -> Self {
        Self {
            source: Box::new(source),
            block: Zeroizing::new([0; BLOCK]),
            used: BLOCK,
            number: 0,
        }
    }

    /// Fills `out` with the stream's next bytes.
    pub fn fill(&mut self, out: &mut [u8]) {
        for byte in out {
            if self.used >= BLOCK {
                self.block = (self.source)(self.number);
                self.number = self.number.wrapping_add(1);
                self.used = 0;
            }
            if let Some(next) = self.block.get(self.used) {
                *byte = *next;
            }
            self.used = self.used.saturating_add(1);
        }
    }

    /// A uniformly distributed public number of at most `bits` bits.
    pub fn integer(&mut self, bits: usize) -> UBig {
        UBig::from_be_bytes(&self.bytes(bits))
    }

    /// A uniformly distributed public number below `bound`; 0 if `bound` is 0.
    pub fn below(&mut self, bound: &UBig) -> UBig {
        use dashu_int::ops::BitTest;
        if bound.is_zero() {
            return UBig::ZERO;
        }
        loop {
            let number = self.integer(bound.bit_len());
            if &number < bound {
                return number;
            }
        }
    }

    /// The big-endian bytes of a number of at most `bits` bits.
    pub(crate) fn bytes(&mut self, bits: usize) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![0; bits.div_ceil(8)]);
        self.fill(&mut bytes);
        let spare = bytes.len().saturating_mul(8).saturating_sub(bits);
        if let Some(first) = bytes.first_mut() {
            *first &= u8::MAX.wrapping_shr(u32::try_from(spare).unwrap_or(0));
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use dashu_int::ops::BitTest;

    use super::*;
    use crate::testing::stream;

    #[test]
    fn the_stream_is_the_same_however_it_is_cut() {
        let (mut whole, mut parts) = ([0; 3000], [0; 3000]);
        stream(5, "a").fill(&mut whole);
        let mut random = stream(5, "a");
        for part in parts.chunks_mut(7) {
            random.fill(part);
        }
        assert_eq!(whole, parts);
        assert_ne!(stream(5, "b").integer(256), stream(5, "a").integer(256));
        assert_ne!(whole[..1024], whole[1024..2048]);
    }

    #[test]
    fn numbers_reach_their_length_and_never_pass_it() {
        let mut random = stream(5, "lengths");
        for bits in [1, 7, 8, 9, 593, 3060] {
            let longest = (0..64).map(|_| random.integer(bits).bit_len()).max();
            assert_eq!(longest, Some(bits));
            assert_eq!(random.secret(bits).bits(), bits);
        }
        assert_eq!(random.integer(0), UBig::ZERO);
    }

    #[test]
    fn numbers_below_a_bound_reach_all_of_it() {
        let mut random = stream(5, "bound");
        let seen: std::collections::BTreeSet<UBig> =
            (0..200).map(|_| random.below(&UBig::from(5_u8))).collect();
        assert_eq!(
            seen.into_iter().collect::<Vec<_>>(),
            (0_u8..5).map(UBig::from).collect::<Vec<_>>()
        );
        assert_eq!(random.below(&UBig::ZERO), UBig::ZERO);
    }
}
