//! Runs one operation on both sides in turn and measures the CPU time of each.

use rustix::time::{ClockId, clock_gettime};
use selfsame_bench::statistics::Sample;

use crate::ours::Ours;
use crate::party::Party;
use crate::rig::Wheel;
use crate::scene::Operation;

/// The length of a measurement.
#[derive(Clone, Copy)]
pub struct Plan {
    budget_ms: f64,
    fewest: usize,
    most: usize,
}

impl Plan {
    /// About one minute for all operations.
    pub const QUICK: Self = Self {
        budget_ms: 700.0,
        fewest: 3,
        most: 15,
    };
    /// Some minutes.
    pub const FULL: Self = Self {
        budget_ms: 5000.0,
        fewest: 11,
        most: 101,
    };
}

/// CPU milliseconds of each round, over all threads.
pub struct Comparison {
    /// Our times.
    pub ours: Sample,
    /// The library's times.
    pub library: Sample,
}

impl Comparison {
    /// How many times faster ours was, round by round.
    pub fn ratios(&self) -> Sample {
        let mut ratios = Sample::default();
        for (ours, library) in self.ours.values().iter().zip(self.library.values()) {
            ratios.push(library / ours);
        }
        ratios
    }

    /// This operation's times minus those of another.
    pub fn without(&self, other: &Self) -> Self {
        Self {
            ours: difference(&self.ours, &other.ours),
            library: difference(&self.library, &other.library),
        }
    }
}

fn difference(with: &Sample, without: &Sample) -> Sample {
    let mut rest = Sample::default();
    for (with, without) in with.values().iter().zip(without.values()) {
        rest.push(with - without);
    }
    rest
}

/// Measures one operation. With `known`, both sides have cached the definitions already. Without it, each of our runs
/// starts with nothing cached, and the library keeps nothing between calls.
pub fn compare(
    wheel: &mut Wheel,
    known: Option<&mut Ours>,
    operation: &Operation,
    plan: Plan,
) -> Comparison {
    let warm = known.is_some();
    let mut runner = Runner { operation, known };
    let mut library = || {
        let (_, times) = wheel
            .timed(operation.call, &operation.arguments, 1, warm)
            .unwrap_or_else(|error| panic!("{}, the library: {error}", operation.name));
        times[0].cpu.as_secs_f64() * 1e3
    };
    // The first run of each side fills its caches and is not counted.
    let _ = (runner.run(1), library());
    let (once_ours, once_library) = (runner.run(1), library());
    // Ours runs for as long as the library, so that the clock's resolution affects both equally.
    let repeat = (once_library / once_ours.max(1e-6)).clamp(1.0, 100.0) as usize;
    let round = once_library + once_ours * repeat as f64;
    let rounds = ((plan.budget_ms / round) as usize).clamp(plan.fewest, plan.most);
    let mut found = Comparison {
        ours: Sample::default(),
        library: Sample::default(),
    };
    for _ in 0..rounds {
        found.ours.push(runner.run(repeat));
        found.library.push(library());
    }
    found
}

struct Runner<'a> {
    operation: &'a Operation,
    known: Option<&'a mut Ours>,
}

impl Runner<'_> {
    /// The mean CPU milliseconds of `repeat` runs.
    fn run(&mut self, repeat: usize) -> f64 {
        let mut spent = 0.0;
        for _ in 0..repeat {
            let mut fresh = Ours::new();
            let ours = self.known.as_deref_mut().unwrap_or(&mut fresh);
            let began = cpu_ms();
            let answer = ours.call(self.operation.call, &self.operation.arguments);
            spent += cpu_ms() - began;
            if let Err(error) = answer {
                panic!("{}, ours: {error}", self.operation.name);
            }
        }
        spent / repeat as f64
    }
}

/// CPU time of this process so far, all threads.
fn cpu_ms() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}
