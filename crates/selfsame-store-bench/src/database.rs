//! The PostgreSQL database of a run: schemas of its own, which are dropped at the end.

use selfsame_bench::Error;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::generate::random_seed;
use tokio_postgres::{Client, NoTls};

/// The parameter that names the schema of the records.
const SCHEMA: &str = "schema=";

/// The schemas whose names begin with this prefix.
const OF_THIS_RUN: &str = "SELECT nspname::text FROM pg_namespace WHERE starts_with(nspname, $1)";

/// A database in which this run makes schemas.
pub struct BenchDatabase {
    address: String,
    /// What the names of this run's schemas begin with.
    prefix: String,
}

impl BenchDatabase {
    /// Tries the address.
    ///
    /// # Errors
    /// If it names no database that can be used.
    pub async fn open(address: &str) -> Result<Self, Error> {
        let (base, query) = address.split_once('?').unwrap_or((address, ""));
        let others = query.split('&').filter(|pair| !pair.starts_with(SCHEMA));
        let others: Vec<&str> = others.filter(|pair| !pair.is_empty()).collect();
        let database = Self {
            address: match others.is_empty() {
                true => base.to_owned(),
                false => format!("{base}?{}", others.join("&")),
            },
            prefix: format!("bench_{}", hex_encode(&random_seed()[..4])),
        };
        database.connect().await?;
        Ok(database)
    }

    /// The name of a new schema, which does not exist yet.
    #[must_use]
    pub fn schema(&self, name: &str) -> String {
        format!("{}_{name}", self.prefix)
    }

    /// The address of the records in a schema.
    #[must_use]
    pub fn address(&self, schema: &str) -> String {
        let sign = if self.address.contains('?') { '&' } else { '?' };
        format!("{}{sign}{SCHEMA}{schema}", self.address)
    }

    /// A connection beside the store's own.
    pub(crate) async fn connect(&self) -> Result<Client, Error> {
        let (client, connection) = tokio_postgres::connect(&self.address, NoTls)
            .await
            .map_err(failed)?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// Measures on a database, and drops the schemas of the run, also if the measurement failed: its error is the one that
    /// tells what happened.
    ///
    /// # Errors
    /// Those of the measurement; if the database can't be used or refuses.
    pub async fn during<T>(
        url: &str,
        measured: impl AsyncFnOnce(&Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let database = Self::open(url).await?;
        let measured = measured(&database).await;
        let dropped = database.drop_schemas().await;
        let measured = measured?;
        dropped.map(|()| measured)
    }

    /// Drops the schemas of this run.
    ///
    /// # Errors
    /// If the database refuses.
    async fn drop_schemas(&self) -> Result<(), Error> {
        let client = self.connect().await?;
        let schemas = client.query(OF_THIS_RUN, &[&self.prefix]).await;
        for row in schemas.map_err(failed)? {
            let schema: String = row.get(0);
            let drop = format!("DROP SCHEMA IF EXISTS {schema} CASCADE");
            client.batch_execute(&drop).await.map_err(failed)?;
        }
        Ok(())
    }
}

/// A failure of the database as one of a measurement.
pub(crate) fn failed(error: tokio_postgres::Error) -> Error {
    let why = match error.as_db_error() {
        Some(said) => said.message().to_owned(),
        None => error.to_string(),
    };
    Error::Call {
        what: "the PostgreSQL database".to_owned(),
        why,
    }
}
