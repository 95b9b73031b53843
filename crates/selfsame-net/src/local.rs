//! One of a thing for each thread that serves, so that an answer arrives on the thread that asked.

use std::sync::atomic::{AtomicUsize, Ordering};

static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static PLACE: usize = NEXT.fetch_add(1, Ordering::Relaxed);
}

/// As many as the machine has cores; threads beyond that share.
pub struct PerThread<T>(Vec<T>);

impl<T> PerThread<T> {
    /// Makes them all.
    pub fn new(make: impl Fn() -> T) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self((0..cores).map(|_| make()).collect())
    }

    /// The calling thread's.
    pub fn here(&self) -> &T {
        let place = PLACE.with(|place| place % self.0.len());
        &self.0[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_always_finds_the_same_one() {
        let numbers = AtomicUsize::new(0);
        let numbered = PerThread::new(|| numbers.fetch_add(1, Ordering::Relaxed));
        let here = *numbered.here();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let there = *numbered.here();
                    assert_eq!(there, *numbered.here());
                });
            }
        });
        assert_eq!(here, *numbered.here());
    }
}
