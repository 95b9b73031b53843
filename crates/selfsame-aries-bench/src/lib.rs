//! Owns: the load test of Aries agents behind `selfsame bench aries`: the healthcare study's scenario by the admin API of
//! three agents, an issuer, a verifier and a holder. Does not own: the agents (separate processes, ours or others'), the
//! server process and the report, which all load tests share.

mod agents;
mod bulk;
mod closed;
mod open;
mod prescription;
mod scenario;
mod story;
mod study;
mod think;

use std::path::Path;
use std::time::Duration;

use selfsame_bench::chart::{Chart, Line};
use selfsame_bench::machine::BenchMachine;
use selfsame_bench::process::Program;
use selfsame_bench::report::{Figure, Report};
use selfsame_bench::{Error, Progress};

pub use agents::ForeignAgents;
pub use story::{AriesStory, StoryKind, StoryStep, play};

/// The bench's name.
pub const NAME: &str = "aries";

/// The amount of each measurement.
#[derive(Clone, Copy, Debug)]
pub struct AriesPlan {
    /// Whether this is the short run, with fewer and shorter measurements.
    pub quick: bool,
    /// The numbers of simultaneous users who pause between calls as the study's do.
    pub users: &'static [usize],
    /// The scenarios of each user.
    pub each: usize,
    /// The study's pauses are divided by this.
    pub haste: f64,
    /// How long scenarios follow each other without a pause.
    pub open_for: Duration,
    /// Scenarios for which the memory is observed.
    pub scenarios: usize,
    /// The credentials of one order.
    pub rows: usize,
}

impl AriesPlan {
    /// The study's numbers of users and more, with its pauses.
    pub const FULL: Self = Self {
        quick: false,
        users: &[20, 40, 60, 80, 100, 120, 500, 1_000, 2_000],
        each: 2,
        haste: 1.0,
        open_for: Duration::from_secs(60),
        scenarios: 20_000,
        rows: 100_000,
    };

    /// The same figures, with pauses of a twentieth.
    pub const QUICK: Self = Self {
        quick: true,
        users: &[20, 120, 2_000],
        each: 1,
        haste: 20.0,
        open_for: Duration::from_secs(6),
        scenarios: 200,
        rows: 1_000,
    };
}

/// The results of a run.
pub struct AriesFindings {
    /// The figures.
    pub report: Report,
    /// Charts for the page.
    pub charts: Vec<Chart>,
}

/// Runs the whole bench on agents whose data are below `scratch`, or on foreign ones.
///
/// # Errors
/// If the agents can't be started, or a call fails that must succeed.
pub async fn run(
    program: &Program,
    plan: AriesPlan,
    scratch: &Path,
    progress: &dyn Progress,
) -> Result<AriesFindings, Error> {
    let mut bench = AriesBench {
        program,
        plan,
        scratch,
        progress,
        figures: Vec::new(),
        lines: Vec::new(),
    };
    closed::measure(&mut bench).await?;
    open::measure(&mut bench).await?;
    prescription::measure(&mut bench).await?;
    bulk::measure(&mut bench).await?;
    Ok(bench.findings())
}

/// Runs the scenario on foreign agents: as the study did, and without pauses.
///
/// # Errors
/// If a call fails that must succeed.
pub async fn run_foreign(
    program: &Program,
    plan: AriesPlan,
    foreign: &ForeignAgents,
    progress: &dyn Progress,
) -> Result<AriesFindings, Error> {
    let mut bench = AriesBench {
        program,
        plan,
        scratch: Path::new(""),
        progress,
        figures: Vec::new(),
        lines: Vec::new(),
    };
    let stage = foreign.stage().await?;
    closed::rounds(&mut bench, &stage).await?;
    open::rate(&mut bench, &stage).await?;
    Ok(bench.findings())
}

/// The state that the experiments share.
struct AriesBench<'a> {
    program: &'a Program,
    plan: AriesPlan,
    scratch: &'a Path,
    progress: &'a dyn Progress,
    figures: Vec<Figure>,
    lines: Vec<Line>,
}

impl AriesBench<'_> {
    fn findings(self) -> AriesFindings {
        let report = Report {
            bench: NAME,
            machine: BenchMachine::this(),
            quick: self.plan.quick,
            figures: self.figures,
            tables: Vec::new(),
        };
        let chart = Chart {
            title: "Mean response time of each call by users, ms".to_owned(),
            x: "users".to_owned(),
            lines: self.lines,
        };
        AriesFindings {
            report,
            charts: vec![chart],
        }
    }
}
