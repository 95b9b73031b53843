//! `selfsame bench signin`: the provider of this program, one of others, or both.

use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_bench::chart::Chart;
use selfsame_bench::process::Program;
use selfsame_bench::report::Report;
use selfsame_bench::{Error, Progress};
use selfsame_sign_in_bench::{ForeignProvider, SignInPlan, SignInRun, run};

use super::BenchSettings;

/// What is measured, and how.
#[derive(Args)]
#[command(after_help = "Example: selfsame bench signin --quick --out report
With two of each process behind nginx: selfsame bench signin --database postgres://selfsame@localhost/bench
Beside a foreign provider: selfsame bench signin --provider http://127.0.0.1:8088/v1/esignet \\
                               --identities http://127.0.0.1:8082/v1/mock-identity-system")]
pub(super) struct SignInBench {
    /// The URL of a foreign provider with eSignet's interface, which is measured too. Its figures begin with `foreign_`.
    #[arg(long, value_name = "URL")]
    provider: Option<String>,
    /// The URL of the mock identity system behind it, to which people are added. Without it they are there already.
    #[arg(long, value_name = "URL", requires = "provider")]
    identities: Option<String>,
    /// A file with the token with which its clients are registered. Without it none is sent.
    #[arg(long, value_name = "FILE", requires = "provider")]
    provider_token_file: Option<PathBuf>,
    /// A PostgreSQL database, as postgres://USER@HOST/DATABASE, for the study's layout: two providers and two identity
    /// systems behind nginx. Without it they are not measured.
    #[arg(
        long,
        value_name = "URL",
        env = "SELFSAME_DATABASE",
        hide_env_values = true
    )]
    database: Option<String>,
    /// Measure the foreign provider alone. Its figures have no `foreign_`.
    #[arg(long, requires = "provider")]
    only: bool,
    #[command(flatten)]
    pub(super) settings: BenchSettings,
}

impl SignInBench {
    /// Measures.
    pub(super) async fn measure(
        &self,
        program: &Program,
        scratch: &Path,
        progress: &dyn Progress,
    ) -> Result<(Report, Vec<Chart>), Error> {
        let foreign = self.foreign()?;
        let run = run(
            SignInRun {
                program: (!self.only).then_some(program),
                foreign: foreign.as_ref(),
                database: self.database.as_deref(),
                plan: self.settings.plan(SignInPlan::LENGTHS),
                scratch,
            },
            progress,
        );
        let found = run.await?;
        Ok((found.report, found.charts))
    }

    /// The foreign provider that is measured, if one is.
    fn foreign(&self) -> Result<Option<ForeignProvider>, Error> {
        let Some(provider) = &self.provider else {
            return Ok(None);
        };
        let token = match &self.provider_token_file {
            Some(file) => std::fs::read_to_string(file)?.trim().to_owned(),
            None => String::new(),
        };
        Ok(Some(ForeignProvider {
            provider: provider.clone(),
            identities: self.identities.clone(),
            token,
        }))
    }
}
