//! Owns: the load test of the store behind `selfsame bench store`, on SQLite and on a PostgreSQL database, straight at the
//! store and through the measured server. Does not own: the flows, the server process and the report, which all load tests
//! share.

mod answers;
pub mod balancer;
mod copying;
pub mod database;
mod direct;
mod pairs;
mod sides;
mod tenants;

use std::path::Path;
use std::time::Duration;

use selfsame_bench::machine::BenchMachine;
use selfsame_bench::process::Program;
use selfsame_bench::report::{Figure, Report};
use selfsame_bench::{Error, Progress};
use selfsame_crypto::seal::SealingKey;

use crate::database::BenchDatabase;

/// The bench's name.
pub const NAME: &str = "store";

/// The amount of each measurement.
#[derive(Clone, Copy, Debug)]
pub struct StorePlan {
    /// Whether this is the short run, with fewer and shorter measurements.
    pub quick: bool,
    /// How many records are loaded into each store.
    pub records: usize,
    /// The number of look-ups by tag.
    pub lookups: usize,
    /// The time for which each measurement of a rate runs.
    pub rate_for: Duration,
    /// The number of rounds; in each, the sides of a ratio are measured in turn.
    pub rounds: usize,
    /// How many organisations there are when tenants are compared.
    pub tenants: usize,
    /// How many cards the larger of two wallets has.
    pub cards: usize,
}

impl StorePlan {
    /// What the figures' names say.
    pub const FULL: Self = Self {
        quick: false,
        records: 2_000_000,
        lookups: 5_000,
        rate_for: Duration::from_secs(10),
        rounds: 3,
        tenants: 1_000,
        cards: 1_000_000,
    };

    /// The same figures over fewer records and organisations.
    pub const QUICK: Self = Self {
        quick: true,
        records: 200_000,
        lookups: 2_000,
        rate_for: Duration::from_secs(3),
        rounds: 1,
        tenants: 100,
        cards: 100_000,
    };

    /// Each measurement once, as short as it can be: it shows that the bench runs, and its figures mean nothing.
    pub const TRIAL: Self = Self {
        records: 500,
        lookups: 50,
        rate_for: Duration::from_millis(500),
        tenants: 5,
        cards: 500,
        ..Self::QUICK
    };

    /// The plans by length: trial, short, whole.
    pub const LENGTHS: [Self; 3] = [Self::TRIAL, Self::QUICK, Self::FULL];

    /// The plan with this many records, and with no more cards in a wallet.
    #[must_use]
    pub fn with_records(self, records: usize) -> Self {
        Self {
            records,
            cards: self.cards.min(records),
            ..self
        }
    }
}

/// What is measured, and where.
pub struct Target<'a> {
    /// The program to start as the server.
    pub program: &'a Program,
    /// The address of a PostgreSQL database on this machine, in which schemas may be created. They are dropped at the end.
    pub database: &'a str,
    /// Loads the master key that a server has left in its data directory.
    pub master_key: &'a (dyn Fn(&Path) -> Result<SealingKey, Error> + Sync),
    /// A directory for the data of the servers.
    pub scratch: &'a Path,
}

/// Runs the whole bench.
///
/// # Errors
/// If the database can't be used, the server can't be started, or a call fails that should succeed.
pub async fn run(
    target: Target<'_>,
    plan: StorePlan,
    progress: &dyn Progress,
) -> Result<Report, Error> {
    let url = target.database;
    let measured = BenchDatabase::during(url, async |database| {
        let mut bench = StoreBench {
            target,
            plan,
            progress,
            database,
            figures: Vec::new(),
        };
        bench.measure().await?;
        Ok(bench.figures)
    });
    let figures = measured.await?;
    Ok(Report {
        bench: NAME,
        machine: BenchMachine::this(),
        quick: plan.quick,
        figures,
        tables: Vec::new(),
    })
}

/// The state that the experiments share.
struct StoreBench<'a> {
    target: Target<'a>,
    plan: StorePlan,
    progress: &'a dyn Progress,
    database: &'a BenchDatabase,
    figures: Vec<Figure>,
}

impl StoreBench<'_> {
    async fn measure(&mut self) -> Result<(), Error> {
        sides::measure(self).await?;
        pairs::measure_replicas(self).await?;
        tenants::measure(self).await?;
        answers::measure(self).await
    }

    fn push(&mut self, figure: Figure) {
        self.figures.push(match self.plan.quick {
            true => figure.note(format!("{} records only", self.plan.records)),
            false => figure,
        });
    }
}

/// A failure of the store as one of a measurement.
fn stored(error: selfsame_store::StoreError) -> Error {
    Error::Call {
        what: "the store".to_owned(),
        why: error.to_string(),
    }
}
