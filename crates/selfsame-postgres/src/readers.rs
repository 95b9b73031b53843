//! Reads: each on a connection of a bounded pool.

use deadpool_postgres::Pool;
use selfsame_store::Result;
use tokio::time::Instant;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use crate::address::Address;
use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::figures;
use crate::pool::{connection, discard, in_time, pool, query};
use crate::reach::Reach;
use crate::schema;

/// The connections for reading. All clones share them.
#[derive(Clone)]
pub(crate) struct Readers {
    pub(crate) pool: Pool,
    reach: Reach,
}

impl Readers {
    /// At most this many connections; nothing is connected yet.
    pub(crate) fn new(address: &Address, connections: usize, reach: Reach) -> Result<Self> {
        let pool = pool(address, connections)?;
        Ok(Self { pool, reach })
    }

    /// Reads. If the connection is found to be lost, once more with another one.
    pub(crate) async fn rows(
        &self,
        statement: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>> {
        let mut again = true;
        loop {
            match self.attempt(statement, parameters).await {
                Ok(rows) => return Ok(rows),
                Err(DatabaseFailure::Lost(reason)) if again => {
                    tracing::debug!(
                        reason,
                        "a connection to the database was lost; reading again"
                    );
                    again = false;
                }
                Err(failure) => return Err(failure.into_answer()),
            }
        }
    }

    async fn attempt(
        &self,
        statement: &str,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> DatabaseResult<Vec<Row>> {
        let begun = Instant::now();
        let client = connection(&self.pool).await;
        figures::waited(&self.pool, begun.elapsed());
        let client = client?;
        let read = in_time(query(&client, statement, parameters)).await;
        match &read {
            Ok(_) => self.reach.read(),
            Err(DatabaseFailure::Lost(_)) => discard(client),
            Err(_) => {}
        }
        read
    }

    /// Whether the database answers now.
    pub(crate) async fn answers(&self) -> bool {
        let readers = self.clone();
        let question = || async move { readers.rows(schema::CLOCK, &[]).await.is_ok() };
        self.reach.answers(question).await
    }
}
