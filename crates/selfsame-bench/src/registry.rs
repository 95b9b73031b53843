//! `registry`: writes to the registry and verified reads from it, on one process and on four validators.

mod agreed;
pub(crate) mod author;
mod network;
mod reads;
mod writes;

use std::path::Path;
use std::time::Duration;

use crate::client::BenchClient;
use crate::machine::BenchMachine;
use crate::process::{Program, ServerProcess};
use crate::report::{Figure, Report};
use crate::{Error, Progress};
use author::Author;

/// The bench's name.
pub const NAME: &str = "registry";

/// The kinds of registry to measure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Parts {
    /// The registry in one process.
    Embedded,
    /// A network of four validators.
    Network,
    /// Both, one after the other.
    Both,
}

/// The amount of each measurement.
#[derive(Clone, Copy, Debug)]
pub struct RegistryPlan {
    /// Whether this is the short run.
    pub quick: bool,
    /// The kinds of registry to measure.
    pub parts: Parts,
    /// The number of single writes, one after the other, in each run.
    pub singles: usize,
    /// The number of runs; their median is the figure and their deviation its spread.
    pub runs: usize,
    /// The time for which many clients write or read at once, in each run.
    pub load_for: Duration,
    /// The time for which proofs are checked in this process, in each run.
    pub checks_for: Duration,
    /// The amount of each measurement on four validators.
    pub network: agreed::AgreedPlan,
}

impl RegistryPlan {
    /// The plan of the published figures.
    pub const FULL: Self = Self {
        quick: false,
        parts: Parts::Both,
        singles: 2_000,
        runs: 5,
        load_for: Duration::from_secs(10),
        checks_for: Duration::from_secs(3),
        network: agreed::AgreedPlan {
            singles: 200,
            runs: 3,
            load_for: Duration::from_secs(8),
            away_for: Duration::from_secs(8),
            transactions: 50_000,
            rest: Duration::from_secs(60),
        },
    };

    /// The figures of the full run, within a minute.
    pub const QUICK: Self = Self {
        quick: true,
        parts: Parts::Both,
        singles: 200,
        runs: 2,
        load_for: Duration::from_secs(2),
        checks_for: Duration::from_millis(500),
        network: agreed::AgreedPlan {
            singles: 40,
            runs: 2,
            load_for: Duration::from_secs(2),
            away_for: Duration::from_secs(2),
            transactions: 3_000,
            rest: Duration::from_secs(5),
        },
    };

    /// Each measurement once, as short as it can be: it shows that the bench runs, and its figures mean nothing.
    pub const TRIAL: Self = Self {
        singles: 10,
        runs: 1,
        load_for: Duration::from_millis(300),
        checks_for: Duration::from_millis(100),
        network: agreed::AgreedPlan {
            singles: 5,
            runs: 1,
            load_for: Duration::from_millis(500),
            away_for: Duration::from_secs(1),
            transactions: 300,
            rest: Duration::from_secs(1),
        },
        ..Self::QUICK
    };

    /// The plans by length: trial, short, whole.
    pub const LENGTHS: [Self; 3] = [Self::TRIAL, Self::QUICK, Self::FULL];
}

/// The state that the experiments share.
struct RegistryBench<'a> {
    plan: RegistryPlan,
    progress: &'a dyn Progress,
    figures: Vec<Figure>,
}

/// A registry with an author that may write to it.
struct RegistryStage {
    server: ServerProcess,
    client: BenchClient,
    author: Author,
}

/// Runs the whole bench with servers in directories below `scratch`.
///
/// # Errors
/// If a server can't be started, or a call fails that should succeed.
pub async fn run(
    program: &Program,
    plan: RegistryPlan,
    scratch: &Path,
    progress: &dyn Progress,
) -> Result<Report, Error> {
    let mut bench = RegistryBench {
        plan,
        progress,
        figures: Vec::new(),
    };
    if plan.parts != Parts::Network {
        embedded(&mut bench, program, &scratch.join("embedded")).await?;
    }
    if plan.parts != Parts::Embedded {
        progress.begin("four validators", 1);
        let network = network::BenchNetwork::start(program, &scratch.join("network")).await?;
        agreed::measure(&mut bench, network).await?;
    }
    Ok(Report {
        bench: NAME,
        machine: BenchMachine::this(),
        quick: plan.quick,
        figures: bench.figures,
        tables: Vec::new(),
    })
}

/// Measures the registry in one process.
async fn embedded(
    bench: &mut RegistryBench<'_>,
    program: &Program,
    data: &Path,
) -> Result<(), Error> {
    let mut stage = RegistryStage::embedded(program, data).await?;
    writes::singles(bench, &mut stage).await?;
    writes::batches(bench, &stage).await?;
    reads::measure(bench, &stage).await
}

impl RegistryStage {
    async fn embedded(program: &Program, data: &Path) -> Result<Self, Error> {
        let role = ["--role", "registry"].map(str::to_owned);
        let server = program.start_with(data, "", &role).await?;
        let client = BenchClient::new(&server.base);
        let author = Author::register(&client, &server.operator).await?;
        Ok(Self {
            server,
            client,
            author,
        })
    }
}
