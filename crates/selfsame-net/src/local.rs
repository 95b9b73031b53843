//! One value for each serving thread, so that an answer arrives on the thread that asked.

use std::sync::atomic::{AtomicUsize, Ordering};

static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static PLACE: usize = NEXT.fetch_add(1, Ordering::Relaxed);
}

/// As many values as the machine has cores. Further threads share them.
pub struct PerThread<T>(Vec<T>);

impl<T> PerThread<T> {
    /// Creates all values.
    pub fn new(make: impl Fn() -> T) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self((0..cores).map(|_| make()).collect())
    }

    /// The value of the calling thread.
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
