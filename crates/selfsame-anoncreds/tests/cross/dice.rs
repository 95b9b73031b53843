//! Choices derived from a seed, so that a failed flow can be repeated.

/// A stream of choices (SplitMix64).
pub struct Dice(u64);

impl Dice {
    /// The choices of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    /// True with a probability of 1 in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, these: &'a [T]) -> &'a T {
        &these[self.below(these.len())]
    }

    /// A predicate's integer, often near a bound.
    pub fn integer(&mut self) -> i32 {
        let bits = u32::try_from(self.below(32)).unwrap();
        let near = i32::try_from(self.next() >> 33).unwrap() >> bits;
        match self.below(6) {
            0 => i32::MIN.wrapping_add(near & 3),
            1 => i32::MAX.wrapping_sub(near & 3),
            2 => near.wrapping_neg(),
            _ => near,
        }
    }
}
