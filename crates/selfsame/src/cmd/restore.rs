//! `selfsame restore`: restores a backup into a new data directory.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_app::backup::{LEDGER_FILE, STORE_FILE};
use selfsame_driver::data_directory::SALT_FILE;
use selfsame_store::ledger::SqliteLedger;
use selfsame_store::{Sqlite, StoreError};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output;
use serde::Serialize;

use crate::private_file;

/// Restore a backup into a new data directory, after checking it for damage.
///
/// At its first start, the restored instance ends open offers, codes, requests and sessions. It skips status list
/// indices that may have been used after the copy was made.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame restore 2026-11-21T120000Z --data restored
See docs/backup.md for what a copy does not contain."
)]
pub struct Restore {
    /// The directory that `selfsame backup` made.
    copy: PathBuf,
    /// The data directory to create; if it exists, it must be empty.
    #[arg(long, default_value = "data")]
    data: PathBuf,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Restored {
    data: String,
    files: Vec<&'static str>,
}

impl Restore {
    /// Checks, then copies.
    pub fn run(self) -> End {
        let (store, ledger) = (self.copy.join(STORE_FILE), self.copy.join(LEDGER_FILE));
        if !store.exists() {
            return Err(Failure::environment(format!(
                "{}: the directory contains no {STORE_FILE}",
                self.copy.display()
            ))
            .hint("name the directory that `selfsame backup` printed"));
        }
        sound(&store, Sqlite::check(&store))?;
        let mut files = vec![STORE_FILE];
        if ledger.exists() {
            sound(&ledger, SqliteLedger::check(&ledger))?;
            files.push(LEDGER_FILE);
        }
        if self.copy.join(SALT_FILE).exists() {
            files.push(SALT_FILE);
        }
        self.empty_directory()?;
        for file in &files {
            let to = self.data.join(file);
            std::fs::copy(self.copy.join(file), &to).map_err(|error| unwritable(&to, &error))?;
            private_file::close(&to)?;
            sync(&to)?;
        }
        sync(&self.data)?;
        let restored = Restored {
            data: self.data.display().to_string(),
            files,
        };
        output::either(self.json, &restored, lines);
        Ok(Answer::Yes)
    }

    fn empty_directory(&self) -> Result<(), Failure> {
        let Ok(mut entries) = std::fs::read_dir(&self.data) else {
            let mut directory = std::fs::DirBuilder::new();
            let made = directory.recursive(true).mode(0o700).create(&self.data);
            return made.map_err(|error| unwritable(&self.data, &error));
        };
        if entries.next().is_some() {
            return Err(Failure::environment(format!(
                "{}: the directory is not empty",
                self.data.display()
            ))
            .hint("name a new directory with --data"));
        }
        Ok(())
    }
}

fn sync(path: &Path) -> Result<(), Failure> {
    let synced = std::fs::File::open(path).and_then(|opened| opened.sync_all());
    synced.map_err(|error| unwritable(path, &error))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::environment(format!("{}: {error}", path.display()))
        .hint("name a new directory with --data, on a disk with enough free space for the copy")
}

fn sound(file: &Path, checked: Result<(), StoreError>) -> Result<(), Failure> {
    checked.map_err(|error| {
        Failure::environment(format!("{}: {error}", file.display()))
            .hint("use another copy; nothing was written")
    })
}

fn lines(restored: &Restored) -> Vec<String> {
    vec![
        format!("{} holds {}", restored.data, restored.files.join(" and ")),
        format!(
            "Put the master key there as `master-key` (or name its source as before), then: selfsame up --data {}",
            restored.data
        ),
        "Credentials that were revoked after the copy was made are valid again: revoke them again."
            .to_owned(),
    ]
}
