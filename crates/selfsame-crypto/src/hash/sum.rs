//! Sums that stand for a set: each member has an element, such as a keyed hash, and the order does not matter.

/// The sum of elements modulo 2²⁵⁶, the least significant limb first.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sum([u64; 4]);

impl Sum {
    /// The sum in these 32 bytes; `None` for another number of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let (limbs, rest) = bytes.as_chunks::<8>();
        let limbs: [[u8; 8]; 4] = limbs.try_into().ok()?;
        rest.is_empty().then(|| Self(limbs.map(u64::from_le_bytes)))
    }

    /// The sum in 32 bytes, the least significant first.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (to, limb) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(self.0) {
            *to = limb.to_le_bytes();
        }
        bytes
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(mut self, other: Self) -> Self {
        let mut carry = false;
        for (to, more) in self.0.iter_mut().zip(other.0) {
            let (sum, first) = to.overflowing_add(more);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*to, carry) = (sum, first | second);
        }
        self
    }

    /// The additive inverse.
    #[must_use]
    pub fn negative(self) -> Self {
        Self(self.0.map(|limb| !limb)).plus(Self([1, 0, 0, 0]))
    }
}

/// A sum and the number of its elements: those that were added, less those that were taken away.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Tally {
    /// The sum.
    pub sum: Sum,
    /// The number.
    pub rows: i64,
}

impl Tally {
    /// Adds an element.
    pub fn add(&mut self, element: Sum) {
        self.sum = self.sum.plus(element);
        self.rows = self.rows.saturating_add(1);
    }

    /// Takes an element away.
    pub fn take(&mut self, element: Sum) {
        self.sum = self.sum.plus(element.negative());
        self.rows = self.rows.saturating_sub(1);
    }

    /// The tally of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            sum: self.sum.plus(other.sum),
            rows: self.rows.saturating_add(other.rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum() -> impl Strategy<Value = Sum> {
        prop::array::uniform4(prop_oneof![any::<u64>(), Just(u64::MAX), Just(0)]).prop_map(Sum)
    }

    proptest! {
        #[test]
        fn what_is_added_and_taken_away_in_any_order_leaves_what_was((a, b, c) in (sum(), sum(), sum())) {
            let back = a.plus(b).plus(c).plus(b.negative()).plus(c.negative());
            prop_assert_eq!(back, a);
            prop_assert_eq!(Sum::of(&a.to_bytes()), Some(a));
        }
    }
}
