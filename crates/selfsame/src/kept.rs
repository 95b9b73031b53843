//! The records of an instance, for commands that read or write them by themselves.

use std::path::PathBuf;

use clap::Args;
use selfsame_moving::{KeptIn, RowSource};
use selfsame_postgres::Company;
use selfsame_store::Store;
use selfsame_store::backend::STORE_FILE;
use selfsame_terminal::exit::Failure;
use selfsame_terminal::master_key::{self, Custody, MasterKey};
use selfsame_terminal::records;

use crate::database::{Database, DatabaseOptions};

/// Options that name the records of an instance.
#[derive(Args)]
pub struct KeptOptions {
    /// The data directory of the instance, which must not run, unless its records are in PostgreSQL.
    #[arg(long, default_value = "data")]
    data: PathBuf,
    #[command(flatten)]
    database: DatabaseOptions,
    #[command(flatten)]
    master_key: MasterKey,
}

/// The records of an instance, and how they are opened.
pub struct KeptRecords {
    data: PathBuf,
    database: Option<Database>,
    custody: Custody,
    /// Where their rows are read.
    pub source: RowSource,
}

impl KeptOptions {
    /// The records that the options name.
    ///
    /// # Errors
    /// If the records or their master key are missing.
    pub fn kept(&self) -> Result<KeptRecords, Failure> {
        let database = self.database.database(None)?;
        let file = self.data.join(STORE_FILE);
        if database.is_none() && !file.exists() {
            let nothing = format!("{}: there are no records of an instance", file.display());
            return Err(Failure::environment(nothing)
                .hint("name the data directory of an instance that was started once (--data)"));
        }
        let custody = self.master_key.custody(&self.data)?;
        let master = master_key::load_kept(&custody, &self.data)?;
        let kept_in = match &database {
            Some(database) => KeptIn::Database(Box::new(database.address().clone())),
            None => KeptIn::File(file),
        };
        Ok(KeptRecords {
            data: self.data.clone(),
            database,
            custody,
            source: RowSource { kept_in, master },
        })
    }
}

impl KeptRecords {
    /// Opens the records. Those in PostgreSQL may be served by processes that share them.
    ///
    /// # Errors
    /// If another process has them for itself, or they can't be read with this key.
    pub async fn open(&self) -> Result<Store, Failure> {
        match &self.database {
            Some(database) => {
                let company = Company::Shared;
                database.open(&self.data, &self.custody, company).await
            }
            None => records::open(&self.data, &self.custody).await,
        }
    }
}
