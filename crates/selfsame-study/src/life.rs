//! `life`: what one credential costs over its life, and what happens when each process is killed once.

mod cost;
mod drill;
mod parties;

use std::path::Path;

use selfsame_bench::machine::BenchMachine;
use selfsame_bench::process::Program;
use selfsame_bench::report::{Figure, Report};
use selfsame_bench::{Error, Progress};

/// The load test's name.
pub const NAME: &str = "life";

/// The amount of each measurement.
#[derive(Clone, Copy, Debug)]
pub struct LifePlan {
    /// Whether this is the short run.
    pub quick: bool,
    /// How many credentials live.
    pub credentials: usize,
    /// How many times each process is killed.
    pub kills: usize,
}

impl LifePlan {
    /// The whole run.
    pub const FULL: Self = Self {
        quick: false,
        credentials: 200,
        kills: 5,
    };

    /// The same figures over fewer credentials.
    pub const QUICK: Self = Self {
        quick: true,
        credentials: 20,
        kills: 1,
    };

    /// Each measurement once, as short as it can be: it shows that the bench runs, and its figures mean nothing.
    pub const TRIAL: Self = Self {
        credentials: 2,
        ..Self::QUICK
    };

    /// The plans by length: trial, short, whole.
    pub const LENGTHS: [Self; 3] = [Self::TRIAL, Self::QUICK, Self::FULL];
}

/// The state that both experiments share.
struct LifeBench<'a> {
    program: &'a Program,
    plan: LifePlan,
    scratch: &'a Path,
    progress: &'a dyn Progress,
    figures: Vec<Figure>,
}

/// Runs both experiments with servers in directories below `scratch`.
///
/// # Errors
/// If a server can't be started, or a call fails that should succeed.
pub async fn run(
    program: &Program,
    plan: LifePlan,
    scratch: &Path,
    progress: &dyn Progress,
) -> Result<Report, Error> {
    let mut bench = LifeBench {
        program,
        plan,
        scratch,
        progress,
        figures: Vec::new(),
    };
    cost::measure(&mut bench).await?;
    drill::measure(&mut bench).await?;
    Ok(Report {
        bench: NAME,
        machine: BenchMachine::this(),
        quick: plan.quick,
        figures: bench.figures,
        tables: Vec::new(),
    })
}
