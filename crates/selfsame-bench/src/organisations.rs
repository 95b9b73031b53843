//! `organisations`: many organisations on one instance, offers by thousands, and webhooks.

mod bulk;
pub mod data;
mod pairs;
mod starting;

use std::path::Path;
use std::time::Duration;

use crate::machine::BenchMachine;
use crate::process::Program;
use crate::report::{Figure, Report};
use crate::{Error, Progress};

use data::OrganisationsData;

/// The bench's name.
pub const NAME: &str = "organisations";

/// The amount of each measurement.
#[derive(Clone, Copy, Debug)]
pub struct OrganisationsPlan {
    /// Whether this is the short run, with fewer and shorter measurements.
    pub quick: bool,
    /// The number of rounds; in each, pairs are made over 1, 100 and 1,000 organisations.
    pub rounds: usize,
    /// The time for which pairs are made over each number of organisations.
    pub pairs_for: Duration,
    /// How many organisations there are when the start is measured.
    pub organisations: usize,
    /// The number of starts.
    pub starts: usize,
    /// The number of requests that create offers.
    pub bulk_requests: usize,
    /// The number of rows of a file that is issued.
    pub file_rows: usize,
}

impl OrganisationsPlan {
    /// What the figures' names say.
    pub const FULL: Self = Self {
        quick: false,
        rounds: 3,
        pairs_for: Duration::from_secs(20),
        organisations: 10_000,
        starts: 5,
        bulk_requests: 40,
        file_rows: 50_000,
    };

    /// The same figures over fewer organisations, within a minute.
    pub const QUICK: Self = Self {
        quick: true,
        rounds: 1,
        pairs_for: Duration::from_secs(2),
        organisations: 120,
        starts: 1,
        bulk_requests: 2,
        file_rows: 2_000,
    };

    /// Each measurement once, as short as it can be: it shows that the bench runs, and its figures mean nothing.
    pub const TRIAL: Self = Self {
        pairs_for: Duration::from_millis(500),
        // More than 100, so that the three numbers of organisations differ.
        organisations: 101,
        bulk_requests: 1,
        file_rows: 200,
        ..Self::QUICK
    };

    /// The plans by length: trial, short, whole.
    pub const LENGTHS: [Self; 3] = [Self::TRIAL, Self::QUICK, Self::FULL];

    /// Over this many organisations pairs are made in turn. The short run has fewer than the figure's name says.
    fn spread(self) -> [usize; 3] {
        [1, 100, 1_000].map(|count: usize| count.min(self.organisations))
    }
}

/// Runs the whole bench with servers whose data are below `scratch`.
///
/// # Errors
/// If the server can't be started, or a call fails that should succeed.
pub async fn run(
    program: &Program,
    plan: OrganisationsPlan,
    scratch: &Path,
    progress: &dyn Progress,
) -> Result<Report, Error> {
    let mut bench = OrganisationsBench {
        program,
        plan,
        progress,
        figures: Vec::new(),
    };
    let data = OrganisationsData::new(scratch, "pairs");
    let [.., most] = plan.spread();
    data.fill(&bench, most).await?;
    pairs::measure(&mut bench, &data).await?;
    bulk::measure(&mut bench, &data).await?;
    let data = OrganisationsData::new(scratch, "starting");
    starting::measure(&mut bench, &data).await?;
    Ok(Report {
        bench: NAME,
        machine: BenchMachine::this(),
        quick: plan.quick,
        figures: bench.figures,
        tables: Vec::new(),
    })
}

/// The state that the experiments share.
struct OrganisationsBench<'a> {
    program: &'a Program,
    plan: OrganisationsPlan,
    progress: &'a dyn Progress,
    figures: Vec<Figure>,
}

impl OrganisationsBench<'_> {
    /// A figure whose name tells the full run's amounts, with a note if this run is shorter.
    fn push(&mut self, figure: Figure) {
        self.figures.push(match self.plan.quick {
            true => figure.note(format!("{} organisations only", self.plan.organisations)),
            false => figure,
        });
    }
}
