//! Owns: the load test of sign-ins behind `selfsame bench signin`, by eSignet's interface and by OpenID Connect, and the
//! calculator of sizes that works with its figures. Does not own: the provider and the identity system (separate
//! processes, ours or others'), the server process and the report, which all load tests share.

mod bench_token;
mod caller;
mod clock;
#[cfg(test)]
mod fake_provider;
mod foreign;
mod layout;
mod loads;
mod over_time;
mod own;
mod party;
mod people;
mod round;
mod seven;
pub mod sizing;
mod stage;
mod standard;
mod study;
mod table;
mod tokens;
mod walk;
mod watch;

use std::path::Path;
use std::time::Duration;

use selfsame_bench::chart::{Chart, Line};
use selfsame_bench::machine::BenchMachine;
use selfsame_bench::process::Program;
use selfsame_bench::report::{Figure, FigureTable, Report};
use selfsame_bench::{Error, Progress};

use crate::loads::PacedTime;

pub use foreign::ForeignProvider;

/// The bench's name.
pub const NAME: &str = "signin";

/// What the names of a foreign provider's figures begin with if this program is measured too.
const FOREIGN: &str = "foreign_";

/// The amount of each measurement.
#[derive(Clone, Copy, Debug)]
pub struct SignInPlan {
    /// Whether this is the short run, with fewer people and shorter measurements.
    pub quick: bool,
    /// The people whom the identity system knows.
    pub people: usize,
    /// How long the study's users sign in at their pace.
    pub paced: Duration,
    /// The time in which they arrive.
    pub ramp: Duration,
    /// The time in which they arrive at two providers behind nginx, as the study reports it.
    pub layout_ramp: Duration,
    /// The requests that they send together in a second.
    pub requests_s: usize,
    /// How long users sign in without pauses.
    pub unpaused: Duration,
    /// How many sign in at once while the identity system is slow.
    pub at_once: usize,
}

impl SignInPlan {
    /// The study's amounts.
    pub const FULL: Self = Self {
        quick: false,
        people: 100_000,
        paced: Duration::from_secs(1_800),
        ramp: Duration::from_secs(30),
        layout_ramp: Duration::from_secs(180),
        requests_s: study::REQUESTS_S,
        unpaused: Duration::from_secs(60),
        at_once: 5_000,
    };

    /// The same figures in shorter times.
    pub const QUICK: Self = Self {
        quick: true,
        people: 2_000,
        paced: Duration::from_secs(20),
        ramp: Duration::from_secs(2),
        layout_ramp: Duration::from_secs(2),
        requests_s: study::REQUESTS_S,
        unpaused: Duration::from_secs(3),
        at_once: 500,
    };

    /// Each measurement once, as short as it can be: it shows that the bench runs, and its figures mean nothing.
    pub const TRIAL: Self = Self {
        people: 200,
        paced: Duration::from_secs(2),
        ramp: Duration::from_millis(500),
        layout_ramp: Duration::from_millis(500),
        unpaused: Duration::from_millis(500),
        at_once: 20,
        ..Self::QUICK
    };

    /// The plans by length: trial, short, whole.
    pub const LENGTHS: [Self; 3] = [Self::TRIAL, Self::QUICK, Self::FULL];

    /// The times of the study's users.
    fn paced_time(&self) -> PacedTime {
        PacedTime {
            all: self.paced,
            ramp: self.ramp,
            apart: Duration::from_secs_f64(study::USERS as f64 / self.requests_s as f64),
        }
    }
}

/// What is measured, and with what.
pub struct SignInRun<'a> {
    /// The program whose provider is measured; `None` leaves it out.
    pub program: Option<&'a Program>,
    /// A provider of others with eSignet's interface.
    pub foreign: Option<&'a ForeignProvider>,
    /// The amount of each measurement.
    pub plan: SignInPlan,
    /// A PostgreSQL database for two providers and two identity systems behind nginx; without it they are not measured.
    pub database: Option<&'a str>,
    /// A directory for the data of the processes.
    pub scratch: &'a Path,
}

/// The results of a run.
pub struct SignInFindings {
    /// The figures.
    pub report: Report,
    /// Charts for the page.
    pub charts: Vec<Chart>,
}

/// Runs the whole bench on this program's provider, and what can be measured from outside on a foreign one.
///
/// # Errors
/// If a process can't be started, or a call fails that must succeed.
pub async fn run(run: SignInRun<'_>, progress: &dyn Progress) -> Result<SignInFindings, Error> {
    let mut bench = SignInBench {
        plan: run.plan,
        scratch: run.scratch,
        progress,
        prefix: "",
        figures: Vec::new(),
        tables: Vec::new(),
        charts: Vec::new(),
    };
    if let Some(program) = run.program {
        own::measure(&mut bench, program).await?;
        if let Some(database) = run.database {
            layout::measure(&mut bench, program, database).await?;
        }
    }
    if let Some(foreign) = run.foreign {
        if run.program.is_some() {
            bench.prefix = FOREIGN;
        }
        foreign::measure(&mut bench, foreign).await?;
    }
    Ok(bench.findings())
}

/// The state that the experiments share.
struct SignInBench<'a> {
    plan: SignInPlan,
    scratch: &'a Path,
    progress: &'a dyn Progress,
    /// What the names of figures begin with.
    prefix: &'static str,
    figures: Vec<Figure>,
    tables: Vec<FigureTable>,
    charts: Vec<Chart>,
}

impl SignInBench<'_> {
    fn push(&mut self, mut figure: Figure) {
        figure.name.insert_str(0, self.prefix);
        self.figures.push(figure);
    }

    fn draw(&mut self, title: String, lines: Vec<Line>) {
        if lines.iter().any(|line| !line.points.is_empty()) {
            let x = "seconds".to_owned();
            self.charts.push(Chart { title, x, lines });
        }
    }

    fn findings(self) -> SignInFindings {
        let report = Report {
            bench: NAME,
            machine: BenchMachine::this(),
            quick: self.plan.quick,
            figures: self.figures,
            tables: self.tables,
        };
        SignInFindings {
            report,
            charts: self.charts,
        }
    }
}
