//! Owns: the load test of Aries agents behind `selfsame bench aries`: the healthcare study's scenario by the admin API of
//! three agents, an issuer, a verifier and a holder. Does not own: the agents (separate processes, ours or others'), the
//! server process and the report, which all load tests share.

mod agents;
mod bulk;
mod closed;
mod cores;
mod delay;
mod donors;
mod open;
mod prescription;
mod replicas;
mod round;
mod scenario;
mod stage;
mod story;
mod study;
mod table;
mod think;

use std::path::Path;
use std::time::Duration;

use selfsame_bench::chart::{Chart, Line};
use selfsame_bench::machine::BenchMachine;
use selfsame_bench::manners::LoadManners;
use selfsame_bench::process::Program;
use selfsame_bench::report::{Figure, FigureTable, Report};
use selfsame_bench::{Error, Progress};

pub use agents::ForeignAgents;
pub use donors::{DONOR_TYPE, Donor, DonorAgents, DonorAnswer, DonorStory, ask_donors};
pub use story::{AriesStory, StoryKind, StoryStep, play};

/// The bench's name.
pub const NAME: &str = "aries";

/// What the names of foreign agents' figures begin with if agents of this program are measured too.
const FOREIGN: &str = "foreign_";

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
    /// The scenarios of each user whose agents are far from each other.
    pub far: usize,
    /// The credentials of one order.
    pub rows: usize,
    /// The numbers of users are divided by this.
    pub thinned: usize,
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
        far: 20,
        rows: 100_000,
        thinned: 1,
    };

    /// The same figures, with pauses of a fortieth and fewer users.
    pub const QUICK: Self = Self {
        quick: true,
        users: &[20, 120],
        each: 1,
        haste: 40.0,
        open_for: Duration::from_secs(4),
        scenarios: 100,
        far: 1,
        rows: 300,
        thinned: 1,
    };

    /// Each measurement once, as short as it can be: it shows that the bench runs, and its figures mean nothing.
    pub const TRIAL: Self = Self {
        haste: 200.0,
        open_for: Duration::from_millis(500),
        scenarios: 5,
        rows: 20,
        thinned: 10,
        ..Self::QUICK
    };

    /// The plans by length: trial, short, whole.
    pub const LENGTHS: [Self; 3] = [Self::TRIAL, Self::QUICK, Self::FULL];
}

/// What is measured, and with what.
pub struct AriesRun<'a> {
    /// The program whose agents are measured; `None` leaves them out.
    pub program: Option<&'a Program>,
    /// Agents of others, with the same load.
    pub foreign: Option<&'a ForeignAgents>,
    /// The address of a PostgreSQL database on this machine, in which schemas may be created, for agents that share one.
    pub database: Option<&'a str>,
    /// The amount of each measurement.
    pub plan: AriesPlan,
    /// Measures the round with this number of users and nothing else.
    pub only_users: Option<usize>,
    /// The manners of the load.
    pub manners: LoadManners,
    /// A directory for the agents' data.
    pub scratch: &'a Path,
}

/// The results of a run.
pub struct AriesFindings {
    /// The figures.
    pub report: Report,
    /// Charts for the page.
    pub charts: Vec<Chart>,
}

/// Runs the whole bench on agents of the program, and the scenario on foreign ones: as the study did, and without pauses.
///
/// # Errors
/// If the agents can't be started, or a call fails that must succeed.
pub async fn run(run: AriesRun<'_>, progress: &dyn Progress) -> Result<AriesFindings, Error> {
    let mut bench = AriesBench {
        plan: run.plan,
        scratch: run.scratch,
        manners: run.manners,
        progress,
        prefix: "",
        figures: Vec::new(),
        tables: Vec::new(),
        means: Vec::new(),
        distances: Vec::new(),
    };
    let users = run.only_users.as_ref().map(std::slice::from_ref);
    let (users, is_whole) = (users.unwrap_or(run.plan.users), users.is_none());
    if let Some(program) = run.program {
        closed::measure(&mut bench, program, users).await?;
    }
    if let Some(program) = run.program.filter(|_| is_whole) {
        open::measure(&mut bench, program).await?;
        prescription::measure(&mut bench, program).await?;
        delay::measure(&mut bench, program).await?;
        cores::measure(&mut bench, program).await?;
        if let Some(database) = run.database {
            replicas::measure(&mut bench, program, database).await?;
        }
        bulk::measure(&mut bench, program).await?;
    }
    if let Some(foreign) = run.foreign {
        if run.program.is_some() {
            bench.prefix = FOREIGN;
        }
        let stage = bench.foreign(foreign).await?;
        closed::rounds(&mut bench, &stage, users).await?;
        if is_whole {
            open::rate(&mut bench, &stage).await?;
        }
    }
    let pauses = bench.manners.pauses() as f64;
    bench.prefix = "";
    bench.push(Figure::new("back_offs", pauses, ""));
    Ok(bench.findings())
}

/// The state that the experiments share.
struct AriesBench<'a> {
    plan: AriesPlan,
    scratch: &'a Path,
    manners: LoadManners,
    progress: &'a dyn Progress,
    /// What the names of figures begin with.
    prefix: &'static str,
    figures: Vec<Figure>,
    tables: Vec<FigureTable>,
    /// The mean of each call by users.
    means: Vec<Line>,
    /// The mean of each call by the delay between agents.
    distances: Vec<Line>,
}

impl AriesBench<'_> {
    fn push(&mut self, mut figure: Figure) {
        figure.name.insert_str(0, self.prefix);
        self.figures.push(figure);
    }

    fn findings(self) -> AriesFindings {
        let report = Report {
            bench: NAME,
            machine: BenchMachine::this(),
            quick: self.plan.quick,
            figures: self.figures,
            tables: self.tables,
        };
        let chart = |title: &str, x: &str, lines| Chart {
            title: title.to_owned(),
            x: x.to_owned(),
            lines,
        };
        let charts = [
            chart(
                "Mean response time of each call by users, ms",
                "users",
                self.means,
            ),
            chart(
                "Mean response time of each call by the delay between agents, ms",
                "ms in each direction",
                self.distances,
            ),
        ];
        let has_lines = |chart: &Chart| !chart.lines.is_empty();
        AriesFindings {
            report,
            charts: charts.into_iter().filter(has_lines).collect(),
        }
    }
}

/// Adds a point to the line of this name.
fn point(lines: &mut Vec<Line>, name: &str, x: f64, y: f64) {
    match lines.iter_mut().find(|line| line.name == name) {
        Some(line) => line.points.push((x, y)),
        None => lines.push(Line {
            name: name.to_owned(),
            points: vec![(x, y)],
        }),
    }
}
