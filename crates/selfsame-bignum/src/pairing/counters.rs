//! Owns the counts of expensive steps on this thread, which guard against performance regressions.

use std::cell::Cell;

/// The counts of this thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pairs that went through a Miller loop.
    pub miller_loops: u64,
    /// Final powers.
    pub final_powers: u64,
}

thread_local! {
    static COUNTS: Cell<Counts> = const { Cell::new(Counts { miller_loops: 0, final_powers: 0 }) };
}

/// The counts since the thread began.
pub fn counts() -> Counts {
    COUNTS.get()
}

pub(super) fn miller_loops(pairs: usize) {
    let mut counts = COUNTS.get();
    counts.miller_loops = counts.miller_loops.saturating_add(pairs as u64);
    COUNTS.set(counts);
}

pub(super) fn final_power() {
    let mut counts = COUNTS.get();
    counts.final_powers = counts.final_powers.saturating_add(1);
    COUNTS.set(counts);
}
