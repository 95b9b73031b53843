//! `selfsame restore`: restores a backup into a new data directory, or its records into a database.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use clap::Args;
use selfsame_app::backup::{LEDGER_FILE, STORE_FILE};
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::data_directory::{KEY_FILE, SALT_FILE, WRAPPED_FILE};
use selfsame_postgres::RowCount;
use selfsame_store::ledger::SqliteLedger;
use selfsame_store::offline::StoreFile;
use selfsame_store::{Sqlite, StoreError, Vault};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::master_key::{self, Custody, MasterKey};
use selfsame_terminal::output;
use selfsame_terminal::progress::Progress;
use serde::Serialize;

use crate::database::{Database, DatabaseOptions};
use crate::private_file;

const ANOTHER: &str = "use another copy; nothing was written";

/// Restore a backup into a new data directory, after checking it for damage.
///
/// With --database, the records go into an empty PostgreSQL database, all or none of them. They are opened with the
/// master key before, and counted and hashed on both sides after that.
///
/// At its first start, the restored instance ends open offers, codes, requests and sessions. It skips status list
/// indices that may have been used after the copy was made.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame restore 2026-11-21T120000Z --data restored
         selfsame restore 2026-11-21T120000Z --data restored --master-key-file key --database postgres://selfsame@localhost/selfsame

See docs/backup.md for what a copy does not contain."
)]
pub struct Restore {
    /// The directory that `selfsame backup` made.
    copy: PathBuf,
    /// The data directory to create; if it exists, it must be empty, except for the master key.
    #[arg(long, default_value = "data")]
    data: PathBuf,
    #[command(flatten)]
    database: DatabaseOptions,
    #[command(flatten)]
    master_key: MasterKey,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Restored {
    data: String,
    files: Vec<&'static str>,
    /// The database that has the records, if they are not in a file.
    database: Option<String>,
    /// The rows in the database, by table and kind.
    rows: Vec<KindRows>,
}

#[derive(Serialize)]
struct KindRows {
    table: &'static str,
    kind: String,
    rows: u64,
    hash: String,
}

impl Restore {
    /// Checks, then copies.
    pub async fn run(self) -> End {
        let database = self.database.database(None)?;
        let mut files = self.checked()?;
        let rows = match &database {
            None => {
                files.insert(0, STORE_FILE);
                self.fill_directory(&files)?;
                Vec::new()
            }
            Some(database) => self.fill_database(database, &files).await?,
        };
        let restored = Restored {
            data: self.data.display().to_string(),
            files,
            database: database.map(|database| database.to_string()),
            rows: rows.into_iter().map(KindRows::from).collect(),
        };
        output::either(self.json, &restored, lines);
        Ok(Answer::Yes)
    }

    /// Checks the files of the copy, and names those beside the records.
    fn checked(&self) -> Result<Vec<&'static str>, Failure> {
        let (store, ledger) = (self.copy.join(STORE_FILE), self.copy.join(LEDGER_FILE));
        if !store.exists() {
            return Err(Failure::environment(format!(
                "{}: the directory contains no {STORE_FILE}",
                self.copy.display()
            ))
            .hint("name the directory that `selfsame backup` printed"));
        }
        sound(&store, Sqlite::check(&store))?;
        let mut files = Vec::new();
        if ledger.exists() {
            sound(&ledger, SqliteLedger::check(&ledger))?;
            files.push(LEDGER_FILE);
        }
        let of_key = [SALT_FILE, WRAPPED_FILE].into_iter();
        files.extend(of_key.filter(|name| self.copy.join(name).exists()));
        Ok(files)
    }

    /// Makes the data directory with these files.
    fn fill_directory(&self, files: &[&str]) -> Result<(), Failure> {
        self.empty_directory()?;
        for file in files {
            let to = self.data.join(file);
            std::fs::copy(self.copy.join(file), &to).map_err(|error| unwritable(&to, &error))?;
            private_file::close(&to)?;
            sync(&to)?;
        }
        sync(&self.data)
    }

    /// Writes the records to the database, and the other files to the data directory: both or neither.
    async fn fill_database(
        &self,
        database: &Database,
        files: &[&str],
    ) -> Result<Vec<RowCount>, Failure> {
        let progress = Progress::new(self.json);
        let tell = |what: &'static str, seen: u64| progress.at(what, seen);
        let store = self.copy.join(STORE_FILE);
        let opened = StoreFile::open(&store, Vault::from_master(self.key()?));
        let file = opened.map_err(|error| unusable(&store, &error))?;
        // The database gets a sum of its own, which must not cover up what the sum of the copy reveals.
        let looked = file.look(&tell);
        // The index of tags follows from the records, and is made anew.
        let mut damage = looked.iter().filter(|part| part.what != "tags");
        if let Some(damage) = damage.find_map(|part| part.damage.first()) {
            let damaged = format!("{}: {damage}", store.display());
            return Err(Failure::environment(damaged).hint(ANOTHER));
        }
        self.fill_directory(files)?;
        let restored = database.restore(file, &tell).await;
        if restored.is_err() {
            for file in files {
                let copied = self.data.join(file);
                std::fs::remove_file(&copied).map_err(|error| unwritable(&copied, &error))?;
            }
        }
        restored
    }

    /// The master key of the copy.
    fn key(&self) -> Result<SealingKey, Failure> {
        let custody = self.master_key.custody(&self.copy)?;
        // The salt of a passphrase and an encrypted key are in the copy; a key never is.
        let place = match custody {
            Custody::BesideTheData => &self.data,
            Custody::File(_) | Custody::Passphrase(_) | Custody::Hsm(_) => &self.copy,
        };
        master_key::load_kept(&custody, place)
    }

    fn empty_directory(&self) -> Result<(), Failure> {
        let Ok(mut entries) = std::fs::read_dir(&self.data) else {
            let mut directory = std::fs::DirBuilder::new();
            let made = directory.recursive(true).mode(0o700).create(&self.data);
            return made.map_err(|error| unwritable(&self.data, &error));
        };
        let is_key = |entry: io::Result<std::fs::DirEntry>| {
            entry.is_ok_and(|entry| entry.file_name() == KEY_FILE)
        };
        if !entries.all(is_key) {
            return Err(Failure::environment(format!(
                "{}: the directory is not empty",
                self.data.display()
            ))
            .hint("name a new directory with --data"));
        }
        Ok(())
    }
}

impl From<RowCount> for KindRows {
    fn from(count: RowCount) -> Self {
        let RowCount {
            table,
            kind,
            rows,
            hash,
        } = count;
        Self {
            table,
            kind,
            rows,
            hash,
        }
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
    checked
        .map_err(|error| Failure::environment(format!("{}: {error}", file.display())).hint(ANOTHER))
}

fn unusable(file: &Path, error: &StoreError) -> Failure {
    let hint = match error {
        StoreError::WrongKey(_) => {
            "use the master key of the instance that the copy was made of; nothing was written"
        }
        StoreError::InUse(_) => "stop the process that has the copy open; nothing was written",
        _ => ANOTHER,
    };
    Failure::environment(format!("{}: {error}", file.display())).hint(hint)
}

fn lines(restored: &Restored) -> Vec<String> {
    let Restored {
        data,
        files,
        database,
        rows,
    } = restored;
    let mut lines = Vec::new();
    if let Some(database) = database {
        lines.push(format!(
            "{database} holds all rows; counts and hashes are those of the copy:"
        ));
        lines.extend(rows.iter().map(|counted| {
            let KindRows {
                table,
                kind,
                rows,
                hash,
            } = counted;
            let hash = hash.get(..16).unwrap_or_default();
            format!("  {rows:>9}  {hash}  {table} {kind}")
                .trim_end()
                .to_owned()
        }));
    }
    if !files.is_empty() {
        lines.push(format!("{data} holds {}", files.join(" and ")));
    }
    let database = match database {
        Some(_) => " --database URL",
        None => "",
    };
    lines.push(format!(
        "Put the master key there as `master-key` (or name its source as before), then: selfsame up --data {data}{database}"
    ));
    lines.push(
        "Credentials that were revoked after the copy was made are valid again: revoke them again."
            .to_owned(),
    );
    lines
}
