//! A PostgreSQL database that keeps the records of an instance, in place of a file in its data directory.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use selfsame_book_index::PostgresIndex;
use selfsame_ledger::check::StoreNotes;
use selfsame_network::checkup::Records;
use selfsame_postgres::{Address, ClosedDatabase, Company, Postgres, RestoreError, RowCount};
use selfsame_store::backend::STORE_FILE;
use selfsame_store::offline::{StoreFile, Tell};
use selfsame_store::rotation::KeyTrouble;
use selfsame_store::{Store, StoreError, TenantId};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::master_key::Custody;
use selfsame_terminal::next_key;
use serde::Deserialize;

/// The number of connections for reading, if no setting says otherwise.
const CONNECTIONS: usize = 8;
const MAX_CONNECTIONS: usize = 500;

const FORM: &str =
    "write it as postgres://USER@HOST:PORT/DATABASE, and the password in a file (docs/postgres.md)";
const REACH: &str = "check that the server runs and that its address, user, password and certificate are right (docs/postgres.md)";
const ITS_KEY: &str = "use the master key with which the records were written: copy the file to this machine, or name it (--master-key-file)";
const NOT_ENDED: &str = "put the former master key back into its place, and the new one beside it with `.next` behind its name; the rotation then goes on by itself (docs/keys.md)";
const START_ONCE: &str = "the records are as a former release left them: start an instance on them once with this release (selfsame up), which upgrades them";
const ONE_PROCESS: &str = "stop the other process; or give both a registry in a process of its own (--registry), so that they can share the records (docs/postgres.md)";
const SERVED: &str = "stop all processes that serve these records; one that crashed is known to be gone after ten seconds";
const NO_RECORDS: &str =
    "name the database of an instance, and its schema if it is not `selfsame` (…?schema=NAME)";
const OCCUPIED: &str = "name another database, or another schema in it (…?schema=NAME); it is made if it does not exist";
const FORMER: &str =
    "restore the copy into a directory, start it there once, and restore a copy of that";
const NOT_EMPTY: &str = "name another directory (--data), or leave out --database";

/// Options that name a database.
#[derive(Args, Default)]
pub struct DatabaseOptions {
    /// The PostgreSQL database that keeps the records, as postgres://USER@HOST/DATABASE; default: a file in the data
    /// directory.
    #[arg(
        long,
        value_name = "URL",
        env = "SELFSAME_DATABASE",
        hide_env_values = true
    )]
    database: Option<String>,
    /// The file with the password for the database.
    #[arg(long, value_name = "FILE", requires = "database")]
    database_password_file: Option<PathBuf>,
}

/// `[database]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatabaseSettings {
    /// The address, as `--database` takes it.
    pub url: String,
    /// The file with the password.
    pub password_file: Option<PathBuf>,
    /// The maximum number of connections for reading.
    pub connections: Option<usize>,
}

/// A database that keeps the records.
pub struct Database {
    address: Address,
    connections: usize,
}

impl DatabaseOptions {
    /// The database of the options, or of the settings file.
    ///
    /// # Errors
    /// If the address is malformed, or the password cannot be read.
    pub fn database(&self, file: Option<DatabaseSettings>) -> Result<Option<Database>, Failure> {
        let connections = file.as_ref().and_then(|file| file.connections);
        let settings = match &self.database {
            Some(url) => DatabaseSettings {
                url: url.clone(),
                password_file: self.database_password_file.clone(),
                connections,
            },
            None => match file {
                Some(file) => file,
                None => return Ok(None),
            },
        };
        settings.database().map(Some)
    }
}

impl DatabaseSettings {
    fn database(self) -> Result<Database, Failure> {
        let address = Address::parse(&self.url);
        let address =
            address.map_err(|error| Failure::environment(error.to_string()).hint(FORM))?;
        let connections = self.connections.unwrap_or(CONNECTIONS);
        if !(1..=MAX_CONNECTIONS).contains(&connections) {
            return Err(Failure::environment(format!(
                "[database] connections: {connections} is not between 1 and {MAX_CONNECTIONS}"
            )));
        }
        let address = match &self.password_file {
            Some(file) => address.with_password(password(file)?.trim_ascii_end()),
            None => address,
        };
        Ok(Database {
            address,
            connections,
        })
    }
}

fn password(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        Failure::environment(format!("{}: {error}", file.display()))
            .hint("give the file with the password for the database (--database-password-file)")
    })
}

impl fmt::Display for Database {
    /// Where it is, without the user and the password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.address.fmt(formatter)
    }
}

impl Database {
    /// Where it is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Opens the records with the master key of this data directory.
    ///
    /// # Errors
    /// If the database cannot be reached, another process uses it, or the records cannot be read with this key.
    pub async fn open(
        &self,
        data: &Path,
        custody: &Custody,
        company: Company,
    ) -> Result<Store, Failure> {
        has_no_records(data)?;
        let opened = async {
            let backend = Postgres::open(&self.address, self.connections, company).await?;
            let vault = next_key::vault(custody, data).map_err(Opening::Key)?;
            Ok(Store::open(Arc::new(backend), vault).await?)
        };
        opened.await.map_err(|failed| self.unusable(failed))
    }

    /// The search index of credential books in this database. Nothing is connected yet.
    ///
    /// # Errors
    /// If the certificates that the address names can't be read.
    pub fn book_index(&self) -> Result<PostgresIndex, Failure> {
        let index = PostgresIndex::new(&self.address, self.connections);
        index.map_err(|error| Failure::environment(error.to_string()).hint(REACH))
    }

    /// Writes the rows of a copy to the database, all or none, and counts them.
    ///
    /// # Errors
    /// If the database has records already, or cannot be reached.
    pub async fn restore(&self, file: StoreFile, tell: Tell<'_>) -> Result<Vec<RowCount>, Failure> {
        let restored = selfsame_postgres::restore(&self.address, file, tell).await;
        restored.map_err(|error| {
            let said = format!("{}: {error}; nothing was written", self.address);
            let hint = match error {
                RestoreError::Occupied | RestoreError::Store(StoreError::Foreign(_)) => OCCUPIED,
                RestoreError::Different(_) => return Failure::ours(said),
                RestoreError::Store(StoreError::OtherLayout { found, known }) if found < known => {
                    FORMER
                }
                RestoreError::Store(_) => REACH,
            };
            Failure::environment(said).hint(hint)
        })
    }

    /// Checks the records for damage, and reads what they note about the registry's ledger.
    ///
    /// # Errors
    /// If a process serves them, or the database cannot be reached.
    pub async fn looked_through<V>(
        &self,
        data: &Path,
        custody: &Custody,
        tell: Tell<'_>,
    ) -> Result<Records<V>, Failure> {
        has_no_records(data)?;
        let vault = next_key::kept_vault(custody, data)?;
        let opened = ClosedDatabase::open(&self.address, vault).await;
        let records = opened.map_err(|error| match error {
            StoreError::InUse(_) => self.failure(&error).hint(SERVED),
            StoreError::Foreign(_) => self.failure(&error).hint(NO_RECORDS),
            error => self.unusable(error.into()),
        })?;
        let looked = records.look(tell).await;
        let notes = async {
            let read = async |tenant: &TenantId, kind: &str, id: &str| {
                records.read(tenant, kind, id).await
            };
            StoreNotes::read(records.generation().await?, read).await
        };
        Ok(Records::Database(looked, Box::new(notes.await)))
    }

    /// The values of all records of a kind, which no process may serve.
    ///
    /// # Errors
    /// As those of [`Self::looked_through`].
    pub async fn values(
        &self,
        data: &Path,
        custody: &Custody,
        kind: &str,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let vault = next_key::kept_vault(custody, data)?;
        let values = async {
            let records = ClosedDatabase::open(&self.address, vault).await?;
            records.values(&TenantId::instance(), kind).await
        };
        values.await.map_err(|error| self.unusable(error.into()))
    }

    fn failure(&self, error: &StoreError) -> Failure {
        Failure::environment(format!("{}: {error}", self.address))
    }

    fn unusable(&self, failed: Opening) -> Failure {
        let error = match failed {
            Opening::Key(failure) => return failure,
            Opening::Store(error) => error,
        };
        let hint = match error {
            StoreError::WrongKey(KeyTrouble::Early) => NOT_ENDED,
            StoreError::WrongKey(_) => ITS_KEY,
            StoreError::InUse(_) => ONE_PROCESS,
            StoreError::OtherLayout { found, known } if found < known => START_ONCE,
            StoreError::OtherLayout { .. } => "use the release that wrote the records",
            StoreError::Tampered(_) => "restore the database from a backup",
            _ => REACH,
        };
        self.failure(&error).hint(hint)
    }
}

/// Whether a directory has no records that would be taken for those of the database.
fn has_no_records(data: &Path) -> Result<(), Failure> {
    let file = data.join(STORE_FILE);
    match file.exists() {
        false => Ok(()),
        true => Err(Failure::environment(format!(
            "{}: this directory has records of its own, which would not be used",
            file.display()
        ))
        .hint(NOT_EMPTY)),
    }
}

/// What prevents records from being opened.
enum Opening {
    Key(Failure),
    Store(StoreError),
}

impl From<StoreError> for Opening {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(url: &str) -> DatabaseSettings {
        DatabaseSettings {
            url: url.to_owned(),
            password_file: None,
            connections: None,
        }
    }

    #[test]
    fn a_wrong_address_is_told_without_its_password() {
        let failure = settings("postgres://me:s3cret@db.example:port/x").database();
        let failure = failure.err().unwrap();
        assert!(!failure.message().contains("s3cret"), "{failure:?}");
        assert_eq!(failure.what_to_do(), Some(FORM));
    }

    #[test]
    fn the_option_wins_over_the_file_and_takes_its_number_of_connections() {
        let options = DatabaseOptions {
            database: Some("postgres://me@localhost/one".to_owned()),
            database_password_file: None,
        };
        let file = DatabaseSettings {
            connections: Some(3),
            ..settings("postgres://me@localhost/two")
        };
        let database = options.database(Some(file)).unwrap().unwrap();
        assert_eq!(database.address.to_string(), "postgres://localhost/one");
        assert_eq!(database.connections, 3);
        let none = DatabaseOptions::default().database(None).unwrap();
        assert!(none.is_none());
    }

    #[test]
    fn tables_of_a_former_release_and_other_keys_are_told_with_what_to_do() {
        let database = settings("postgres://me@localhost/x").database().unwrap();
        let hint = |error: StoreError| {
            let failure = database.unusable(error.into());
            failure.what_to_do().unwrap().to_owned()
        };
        let former = StoreError::OtherLayout { found: 2, known: 3 };
        assert!(hint(former).contains("start an instance on them once"));
        let later = StoreError::OtherLayout { found: 4, known: 3 };
        assert!(hint(later).contains("use the release"));
        assert_eq!(hint(StoreError::WrongKey(KeyTrouble::Former)), ITS_KEY);
        assert_eq!(hint(StoreError::WrongKey(KeyTrouble::Early)), NOT_ENDED);
    }

    #[tokio::test]
    async fn records_in_the_directory_are_not_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(STORE_FILE), "").unwrap();
        let database = settings("postgres://me@localhost/x").database().unwrap();
        let opened = database
            .open(folder.path(), &Custody::BesideTheData, Company::Alone)
            .await;
        assert_eq!(opened.err().unwrap().what_to_do(), Some(NOT_EMPTY));
    }
}
