//! `oid4vc`: issuance and verification as in the walt.id study, on a separate server process.

mod latency;
mod overload;
mod pairs;
mod resolver;
mod small;
mod users;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::client::BenchClient;
use crate::flow::{self, Operator};
use crate::machine::BenchMachine;
use crate::process::{Program, ServerProcess};
use crate::report::{Bar, Figure, Report};
use crate::statistics::Sample;
use crate::{Error, Progress};

/// The bench's name.
pub const NAME: &str = "oid4vc";

/// The amount of each measurement.
#[derive(Clone, Copy, Debug)]
pub struct Oid4vcPlan {
    /// Whether this is the short run, with fewer and shorter measurements.
    pub quick: bool,
    /// The number of repetitions for the latency of one user.
    pub latency_repetitions: usize,
    /// The number of runs of sequential pairs.
    pub pair_runs: usize,
    /// The time for which pairs are made in each run.
    pub pairs_for: Duration,
    /// The idle time of the server before and after.
    pub idle: Duration,
    /// The number of repetitions with 1 to 40 users.
    pub user_repetitions: usize,
    /// The number of requests by each of 100 and more users.
    pub requests_each: usize,
    /// The maximum number of users in the search for the first failure.
    pub users_max: usize,
    /// The numbers of users above 40 are divided by this.
    pub thinned: usize,
}

impl Oid4vcPlan {
    /// The study's measurements and more.
    pub const FULL: Self = Self {
        quick: false,
        latency_repetitions: 50,
        pair_runs: 3,
        pairs_for: Duration::from_secs(60),
        idle: Duration::from_secs(10),
        user_repetitions: 10,
        requests_each: 5,
        users_max: 8000,
        thinned: 1,
    };

    /// The figures of the full run, within a minute.
    pub const QUICK: Self = Self {
        quick: true,
        latency_repetitions: 5,
        pair_runs: 1,
        pairs_for: Duration::from_secs(5),
        idle: Duration::from_secs(1),
        user_repetitions: 2,
        requests_each: 1,
        users_max: 1000,
        thinned: 1,
    };

    /// Each measurement once, as short as it can be: it shows that the bench runs, and its figures mean nothing.
    pub const TRIAL: Self = Self {
        latency_repetitions: 1,
        pairs_for: Duration::from_millis(500),
        idle: Duration::from_millis(200),
        user_repetitions: 1,
        thinned: 20,
        ..Self::QUICK
    };

    /// The plans by length: trial, short, whole.
    pub const LENGTHS: [Self; 3] = [Self::TRIAL, Self::QUICK, Self::FULL];
}

/// The results of a run.
pub struct Findings {
    /// The figures.
    pub report: Report,
    /// Charts for the page.
    pub charts: Vec<crate::chart::Chart>,
}

/// Runs the whole bench with servers in directories below `scratch`.
///
/// # Errors
/// If the server can't be started, or a call fails that should succeed.
pub async fn run(
    program: &Program,
    plan: Oid4vcPlan,
    scratch: &Path,
    progress: &dyn Progress,
) -> Result<Findings, Error> {
    let mut bench = Oid4vcBench {
        program,
        plan,
        scratch: scratch.to_owned(),
        progress,
        figures: Vec::new(),
        charts: Vec::new(),
    };
    bench.readiness().await?;
    latency::measure(&mut bench).await?;
    let mut stage = bench.stage("main", "").await?;
    pairs::measure(&mut bench, &stage).await?;
    users::measure(&mut bench, &mut stage, "").await?;
    overload::measure(&mut bench, &mut stage).await?;
    drop(stage);
    latency::measure_users(&mut bench).await?;
    small::measure(&mut bench).await?;
    let report = Report {
        bench: NAME,
        machine: BenchMachine::this(),
        quick: plan.quick,
        figures: bench.figures,
        tables: Vec::new(),
    };
    Ok(Findings {
        report,
        charts: bench.charts,
    })
}

/// The state that the experiments share.
struct Oid4vcBench<'a> {
    program: &'a Program,
    plan: Oid4vcPlan,
    scratch: PathBuf,
    progress: &'a dyn Progress,
    figures: Vec<Figure>,
    charts: Vec<crate::chart::Chart>,
}

/// A server with a client and registered people.
struct Stage {
    server: ServerProcess,
    client: BenchClient,
    people: Vec<String>,
}

impl Oid4vcBench<'_> {
    async fn stage(&self, name: &str, settings: &str) -> Result<Stage, Error> {
        let server = self
            .program
            .start(&self.scratch.join(name), settings)
            .await?;
        let client = BenchClient::new(&server.base);
        Ok(Stage {
            server,
            client,
            people: Vec::new(),
        })
    }

    /// Measures the time from the start of the process to readiness, with new and with existing data.
    async fn readiness(&mut self) -> Result<(), Error> {
        let times = 5;
        self.progress.begin("readiness", times);
        let mut fresh = Sample::default();
        let mut used = Sample::default();
        for number in 0..times {
            let data = self.scratch.join(format!("ready-{number}"));
            fresh.add(self.program.start(&data, "").await?.ready);
            used.add(self.program.start(&data, "").await?.ready);
            self.progress.advance(1);
        }
        self.figures.push(
            Figure::new("ready_ms", fresh.median(), "ms")
                .spread(fresh.deviation())
                .bar(Bar::AtMost(1000.0)),
        );
        self.figures
            .push(Figure::new("ready_used_data_ms", used.median(), "ms").spread(used.deviation()));
        Ok(())
    }
}

impl Stage {
    /// The operator of the server.
    fn operator(&self) -> Operator<'_> {
        Operator::main(&self.server.operator)
    }

    /// Registers people until there are `count`.
    async fn people(&mut self, count: usize, progress: &dyn Progress) -> Result<(), Error> {
        let missing = self.people.len()..count;
        let more = flow::register_all(&self.client, missing, progress).await?;
        self.people.extend(more);
        Ok(())
    }
}
