//! `selfsame check`: checks a data directory for damage, and rebuilds a damaged ledger from its log.

mod report;

use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use selfsame_abci::Home;
use selfsame_app::backup::{LEDGER_FILE, STORE_FILE};
use selfsame_driver::clock::Clock;
use selfsame_ledger::check;
use selfsame_ledger::check::{Found, Subject};
use selfsame_registry::Genesis;
use selfsame_store::offline::{LedgerFile, Looked, StoreFile, Tell};
use selfsame_store::{StoreError, Vault};

use crate::data::unusable;
use crate::exit::{Answer, End, Failure};
use crate::master_key::MasterKey;
use crate::{master_key, output, private_directory};
use report::{Kind, Report};

/// The folder in the data directory where a ledger is rebuilt.
const ANEW: &str = "ledger.anew";

/// Check a data directory for damage, while nothing runs on it.
///
/// Checks the records, the registry's ledger, and whether both are from the same time; changes nothing. It also checks
/// the folder of a network's node. Exit codes: 0 nothing is damaged, 1 something is, 2 the check is not possible.
#[derive(Args)]
#[command(after_help = "Example: selfsame check --data data
         selfsame check --data network/node-1 --json
         selfsame check --data data --rebuild-ledger

What each line means, and what to do about damage: docs/check.md")]
pub struct Check {
    /// The data directory of an instance, or the folder of a node.
    #[arg(long, default_value = "data")]
    data: PathBuf,
    /// If the ledger is damaged and its log is complete, rebuild the ledger from the log. The damaged file is kept next
    /// to it.
    #[arg(long)]
    rebuild_ledger: bool,
    #[command(flatten)]
    master_key: MasterKey,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

impl Check {
    /// Checks, rebuilds if requested, and prints the result.
    pub async fn run(self) -> End {
        let has = |file: &str| self.data.join(file).exists();
        if !has(STORE_FILE) && !has(LEDGER_FILE) {
            let nothing = format!("{}: the directory contains no data", self.data.display());
            return Err(Failure::environment(nothing).hint(
                "name the data directory of an instance, or the folder of a node, with --data",
            ));
        }
        let home = match has("node.json") {
            true => Some(Home::open(&self.data)?),
            false => None,
        };
        let progress = Progress::new(self.json);
        let tell = |what: &'static str, seen: u64| progress.at(what, seen);
        let kind = match home {
            Some(_) => Kind::Node,
            None => Kind::Instance,
        };
        let mut report = Report::new(&self.data, kind);
        let store = match has(STORE_FILE) {
            true => self.store(&mut report, &tell)?,
            false => None,
        };
        if has(LEDGER_FILE) {
            self.ledger(&mut report, store.as_ref(), home.as_ref(), &tell)
                .await?;
        }
        drop(progress);
        report.conclude();
        output::either(self.json, &report, Report::lines);
        Ok(match report.sound {
            true => Answer::Yes,
            false => Answer::No,
        })
    }

    /// Checks the records.
    fn store(&self, report: &mut Report, tell: Tell<'_>) -> Result<Option<StoreFile>, Failure> {
        let custody = self.master_key.custody(&self.data)?;
        let vault = Vault::from_master(master_key::load(&custody, &self.data)?);
        let opened = StoreFile::open(&self.data.join(STORE_FILE), vault);
        let Some(store) = self.opened(report, STORE_FILE, opened)? else {
            return Ok(None);
        };
        report.add(STORE_FILE, store.look(tell));
        Ok(Some(store))
    }

    /// Checks the ledger, and rebuilds it if requested.
    async fn ledger(
        &self,
        report: &mut Report,
        store: Option<&StoreFile>,
        home: Option<&Home>,
        tell: Tell<'_>,
    ) -> Result<(), Failure> {
        let opened = LedgerFile::open(&self.data.join(LEDGER_FILE));
        let Some(ledger) = self.opened(report, LEDGER_FILE, opened)? else {
            return Ok(());
        };
        let Some(genesis) = genesis(store, home, &ledger) else {
            report.add(LEDGER_FILE, ledger.look(tell));
            let mut looked = Looked::at("network");
            looked.wrong("no readable part names its network");
            report.add(LEDGER_FILE, vec![looked]);
            return Ok(());
        };
        let checkpoint = home.and_then(|home| home.checkpoint().ok());
        let subject = match home {
            Some(_) => Subject::of_node(&ledger, genesis, checkpoint.as_deref(), tell),
            None => Subject::embedded(&ledger, genesis, tell),
        };
        let anew = Anew::begin(&self.data)?;
        let found = subject.examine(&anew.ledger()).await;
        let age = store.map(|store| check::together(store, &ledger));
        report.ledger(&found);
        if self.rebuild_ledger {
            self.rebuild(ledger, &anew, &found, report)?;
        }
        report.add(LEDGER_FILE, found.parts);
        report.add("both", age.into_iter().collect());
        Ok(())
    }

    /// Replaces a damaged ledger with the rebuilt one.
    fn rebuild(
        &self,
        ledger: LedgerFile,
        anew: &Anew,
        found: &Found,
        report: &mut Report,
    ) -> Result<(), Failure> {
        if found.is_sound() || !found.log_is_whole {
            return Ok(());
        }
        let now = Clock::default().now().rfc3339().replace(':', "");
        let kept = self.data.join(format!("ledger.damaged-{now}.sqlite"));
        if kept.exists() {
            let there = format!("{} exists", kept.display());
            return Err(Failure::environment(there).hint("try again in a second"));
        }
        let given = ledger.give_way(&anew.ledger(), &kept);
        given.map_err(|error| unusable(&self.data, &error))?;
        report.rebuilt(&kept);
        Ok(())
    }

    /// A file that could be opened. If it is too damaged to open, reports that and returns `None`.
    fn opened<T>(
        &self,
        report: &mut Report,
        file: &'static str,
        opened: Result<T, StoreError>,
    ) -> Result<Option<T>, Failure> {
        match opened {
            Ok(opened) => Ok(Some(opened)),
            Err(StoreError::Tampered(_)) => {
                let mut looked = Looked::at("pages");
                looked.wrong("the file is so damaged that SQLite can't read it");
                report.add(file, vec![looked]);
                Ok(None)
            }
            Err(error) => Err(unusable(&self.data, &error).into()),
        }
    }
}

/// The network's genesis: from the node's folder, the store, or else the ledger itself.
fn genesis(store: Option<&StoreFile>, home: Option<&Home>, ledger: &LedgerFile) -> Option<Genesis> {
    if let Some(home) = home {
        return Some(home.genesis().clone());
    }
    let kept = store.and_then(|store| check::genesis_in(store).ok().flatten());
    kept.or_else(|| check::genesis_of(ledger).ok().flatten())
}

/// The folder where a ledger is rebuilt; removed on drop.
struct Anew(PathBuf);

impl Anew {
    fn begin(data: &Path) -> Result<Self, Failure> {
        let folder = data.join(ANEW);
        if folder.exists() {
            // Left behind by a process that was stopped during a rebuild.
            std::fs::remove_dir_all(&folder)?;
        }
        private_directory::take(&folder)?;
        Ok(Self(folder))
    }

    fn ledger(&self) -> PathBuf {
        self.0.join(LEDGER_FILE)
    }
}

impl Drop for Anew {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            output::complain(&format!("selfsame: {}: {error}", self.0.display()));
        }
    }
}

/// The progress, for a person at a terminal.
struct Progress(ProgressBar);

impl Progress {
    fn new(hidden: bool) -> Self {
        Self(match hidden {
            true => ProgressBar::hidden(),
            false => ProgressBar::new_spinner(),
        })
    }

    fn at(&self, what: &str, seen: u64) {
        self.0.set_message(format!("{what} {seen}"));
        self.0.tick();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
