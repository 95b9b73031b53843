//! `selfsame check`: checks a data directory for damage, and rebuilds a damaged ledger from its log.

mod certificates;
mod report;

use std::path::PathBuf;

use clap::Args;
use selfsame_network::checkup::{Records, check, has_data};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::master_key::MasterKey;
use selfsame_terminal::progress::Progress;
use selfsame_terminal::{next_key, output};

use crate::database::DatabaseOptions;
use crate::settings::Settings;
use certificates::HostSource;

/// Check a data directory for damage, while nothing runs on it.
///
/// Checks the records, the registry's ledger, and whether both are from the same time; changes nothing. With --database,
/// the records are those of a PostgreSQL database, which no process may serve meanwhile. It also checks the folder of a
/// network's node. Exit codes: 0 nothing is damaged, 1 something is, 2 the check is not possible.
#[derive(Args)]
#[command(after_help = "Example: selfsame check --data data
         selfsame check --data network/node-1 --json
         selfsame check --data data --database postgres://selfsame@localhost/selfsame
         selfsame check --data data --rebuild-ledger
         selfsame check --data data --config selfsame.toml

What each line means, and what to do about damage: docs/check.md")]
pub struct Check {
    /// The data directory of an instance, or the folder of a node.
    #[arg(long, default_value = "data")]
    data: PathBuf,
    /// If the ledger is damaged and its log is complete, rebuild the ledger from the log. The damaged file is kept next
    /// to it.
    #[arg(long)]
    rebuild_ledger: bool,
    /// The settings file of the instance. It names the database, and the certificates for hosts of organisations are checked
    /// too.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    database: DatabaseOptions,
    #[command(flatten)]
    master_key: MasterKey,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

impl Check {
    /// Checks, rebuilds if requested, and prints the result.
    pub async fn run(self) -> End {
        let mut settings = self.config.as_deref().map(Settings::read).transpose()?;
        let named = settings
            .as_mut()
            .and_then(|settings| settings.database.take());
        let database = self.database.database(named)?;
        if database.is_none() && !has_data(&self.data) {
            let nothing = format!("{}: the directory contains no data", self.data.display());
            return Err(Failure::environment(nothing).hint(
                "name the data directory of an instance, or the folder of a node, with --data",
            ));
        }
        let progress = Progress::new(self.json);
        let tell = |what: &'static str, seen: u64| progress.at(what, seen);
        let vault = || {
            let custody = self.master_key.custody(&self.data)?;
            next_key::vault(&custody, &self.data)
        };
        let records = match &database {
            Some(database) => {
                let custody = self.master_key.custody(&self.data)?;
                database.looked_through(&self.data, &custody, &tell).await?
            }
            None => Records::File(vault),
        };
        let mut checkup = check(&self.data, self.rebuild_ledger, records, &tell).await?;
        drop(progress);
        if let Some(settings) = settings {
            let source = HostSource {
                data: &self.data,
                custody: &self.master_key.custody(&self.data)?,
                database: database.as_ref(),
            };
            source.look(settings.tls, &mut checkup).await?;
        }
        if let Some(why) = &checkup.left_behind {
            output::complain(&format!("selfsame: {why}"));
        }
        output::either(self.json, &checkup, report::lines);
        Ok(match checkup.sound {
            true => Answer::Yes,
            false => Answer::No,
        })
    }
}
