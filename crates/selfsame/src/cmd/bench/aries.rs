//! `selfsame bench aries`: agents of this program, of others, or both.

use std::num::NonZeroUsize;
use std::path::Path;

use clap::Args;
use selfsame_aries_bench::{AriesPlan, AriesRun, ForeignAgents, run};
use selfsame_bench::chart::Chart;
use selfsame_bench::manners::LoadManners;
use selfsame_bench::process::Program;
use selfsame_bench::report::Report;
use selfsame_bench::{Error, Progress};

use super::BenchSettings;

/// What is measured, and how.
#[derive(Args)]
#[command(after_help = "Example: selfsame bench aries --quick --out report
With two of each agent behind nginx: selfsame bench aries --database postgres://selfsame@localhost/bench
Foreign agents: selfsame bench aries --quick --issuer http://127.0.0.1:8031 --verifier http://127.0.0.1:8041 \\
                    --holder http://127.0.0.1:8051")]
pub(super) struct AriesBench {
    /// The URL of a foreign issuer's admin API, in place of agents of this program. Its wallet has a public DID that may
    /// write to its ledger.
    #[arg(long, value_name = "URL", requires_all = ["verifier", "holder"])]
    issuer: Option<String>,
    /// The URL of a foreign verifier's admin API.
    #[arg(long, value_name = "URL", requires = "issuer")]
    verifier: Option<String>,
    /// The URL of a foreign holder's admin API. It answers offers by itself.
    #[arg(long, value_name = "URL", requires = "issuer")]
    holder: Option<String>,
    /// Measure agents of this program too, before the foreign ones. The figures of those begin with `foreign_`.
    #[arg(long, requires = "issuer")]
    both: bool,
    /// A PostgreSQL database, as postgres://USER@HOST/DATABASE, for two of each agent behind nginx. Without it they are not
    /// measured.
    #[arg(
        long,
        value_name = "URL",
        env = "SELFSAME_DATABASE",
        hide_env_values = true
    )]
    database: Option<String>,
    /// Measure the round with this number of users, who pause as the study's, and nothing else.
    #[arg(long, value_name = "COUNT")]
    users: Option<NonZeroUsize>,
    /// Have at most this number of calls under way at once; further ones wait for a place.
    #[arg(long, value_name = "CALLS")]
    pool: Option<NonZeroUsize>,
    /// Repeat a call that an agent refuses for now (403, 429 or 503), after pauses that grow from 50 ms to 1.6 s.
    #[arg(long)]
    back_off: bool,
    #[command(flatten)]
    pub(super) settings: BenchSettings,
}

impl AriesBench {
    /// Measures.
    pub(super) async fn measure(
        &self,
        program: &Program,
        scratch: &Path,
        progress: &dyn Progress,
    ) -> Result<(Report, Vec<Chart>), Error> {
        let foreign = self.foreign();
        let is_own = foreign.is_none() || self.both;
        let found = run(
            AriesRun {
                program: is_own.then_some(program),
                foreign: foreign.as_ref(),
                database: self.database.as_deref(),
                plan: self.settings.plan(AriesPlan::LENGTHS),
                only_users: self.users.map(NonZeroUsize::get),
                manners: LoadManners::new(self.pool, self.back_off),
                scratch,
            },
            progress,
        )
        .await?;
        Ok((found.report, found.charts))
    }

    /// The foreign agents that are measured, if they are.
    fn foreign(&self) -> Option<ForeignAgents> {
        let bare = |url: &Option<String>| Some(url.as_ref()?.trim_end_matches('/').to_owned());
        Some(ForeignAgents {
            issuer: bare(&self.issuer)?,
            verifier: bare(&self.verifier)?,
            holder: bare(&self.holder)?,
        })
    }
}
