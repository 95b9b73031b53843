//! Sequence numbers: the time of insertion in microseconds, and bits that tell the processes apart.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::UNIX_EPOCH;

/// The microseconds from 1970 to 2020, from which sequence numbers count. 51 bits of microseconds last until 2091.
const EPOCH: i64 = 1_577_836_800_000_000;
/// The bits that tell processes apart.
const SLOT_BITS: u32 = 12;

/// Hands out numbers that grow. Two processes hand out the same number only if they have the same slot.
#[derive(Debug)]
pub(crate) struct Sequence {
    slot: i64,
    /// What to add to this machine's clock to get the database's, in microseconds: machines' clocks differ.
    offset: AtomicI64,
    last: AtomicI64,
}

impl Sequence {
    pub(crate) fn new(slot: u16) -> Self {
        Self {
            slot: i64::from(slot) & ((1 << SLOT_BITS) - 1),
            offset: AtomicI64::new(0),
            last: AtomicI64::new(0),
        }
    }

    /// Learns the database's time, in microseconds since 1970.
    pub(crate) fn set_clock(&self, database: i64) {
        let offset = database.saturating_sub(here());
        self.offset.store(offset, Ordering::Relaxed);
    }

    /// Learns a number that is stored. Those handed out next are greater.
    pub(crate) fn follow(&self, stored: i64) {
        self.last.fetch_max(stored >> SLOT_BITS, Ordering::Relaxed);
    }

    pub(crate) fn next(&self) -> i64 {
        let now = here()
            .saturating_add(self.offset.load(Ordering::Relaxed))
            .saturating_sub(EPOCH);
        let after = |last: i64| Some(now.max(last.saturating_add(1)));
        let last = self
            .last
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, after);
        let (Ok(last) | Err(last)) = last;
        (now.max(last.saturating_add(1)) << SLOT_BITS) | self.slot
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "the order of insertion is the store's own, and finer than the clock of use cases"
)]
fn here() -> i64 {
    let since = std::time::SystemTime::now().duration_since(UNIX_EPOCH);
    let micros = since.map_or(0, |since| since.as_micros());
    i64::try_from(micros).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_grow_and_fit_whatever_the_clock_says() {
        let sequence = Sequence::new(0xffff);
        let mut last = 0;
        for skew in [0, -3_000_000_000, 5_000_000_000] {
            sequence.set_clock(here() + skew);
            for _ in 0..1_000 {
                let next = sequence.next();
                assert!(next > last, "{next} follows {last}");
                last = next;
            }
        }
    }

    #[test]
    fn numbers_of_two_processes_differ() {
        let (a, b) = (Sequence::new(1), Sequence::new(2));
        assert_ne!(a.next() & 0xfff, b.next() & 0xfff);
    }

    #[test]
    fn a_number_follows_the_newest_that_is_stored() {
        let sequence = Sequence::new(0);
        let far = (here() - EPOCH + 60_000_000) << SLOT_BITS;
        sequence.follow(far);
        assert!(sequence.next() > far);
    }
}
