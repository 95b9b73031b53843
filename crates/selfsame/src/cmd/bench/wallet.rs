//! `selfsame bench wallet`: a credential book with claims of six issuers.

use std::num::NonZeroUsize;
use std::path::Path;

use clap::Args;
use selfsame_bench::chart::Chart;
use selfsame_bench::process::Program;
use selfsame_bench::report::Report;
use selfsame_bench::{Error, Progress};
use selfsame_wallet_bench::{WalletPlan, WalletRun, run};

use super::BenchSettings;

/// What is measured, and how.
#[derive(Args)]
#[command(after_help = "Example: selfsame bench wallet --quick --out report
With the records and the index in PostgreSQL: selfsame bench wallet --database postgres://selfsame@localhost/bench
The database is one for tests on this machine. Schemas are made in it, and dropped at the end.")]
pub(super) struct WalletBench {
    /// A PostgreSQL database, as postgres://USER@HOST/DATABASE. Without it the records and the index are in files.
    #[arg(
        long,
        value_name = "URL",
        env = "SELFSAME_DATABASE",
        hide_env_values = true
    )]
    database: Option<String>,
    /// How many credentials to load directly [default: 2000000, or 200000 with --quick].
    #[arg(long, value_name = "COUNT")]
    records: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(super) settings: BenchSettings,
}

impl WalletBench {
    /// Measures.
    pub(super) async fn measure(
        &self,
        program: &Program,
        scratch: &Path,
        progress: &dyn Progress,
    ) -> Result<(Report, Vec<Chart>), Error> {
        let plan = self.settings.plan(WalletPlan::LENGTHS);
        let records = self.records.map_or(plan.records, NonZeroUsize::get);
        let order = WalletRun {
            program,
            database: self.database.as_deref(),
            plan: plan.with_records(records),
            scratch,
        };
        let found = run(order, progress).await?;
        Ok((found.report, found.charts))
    }
}
