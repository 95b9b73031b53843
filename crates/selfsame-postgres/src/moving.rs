//! The rows of one tenant, as of one moment, for another instance. Processes may serve the records meanwhile.

use futures_util::TryStreamExt;
use selfsame_crypto::time::UnixTime;
use selfsame_store::backend::{SealedLetter, SealedRecord};
use selfsame_store::offline::FileRow;
use selfsame_store::{Result, TenantId};
use tokio_postgres::{Row, RowStream};

use deadpool_postgres::Client;

use crate::address::Address;
use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::layout;
use crate::pool::{connection, pool, snapshot};
use crate::rows::{self, record_row};
use crate::schema;

/// Hands over the rows of a tenant: its records by kind in order of insertion, its counters, its entries of the outbox.
/// Events are left out.
///
/// # Errors
/// `Foreign` and `OtherLayout` for other tables; those of `take`; if the database fails.
pub async fn tenant_rows(
    address: &Address,
    tenant: &TenantId,
    mut take: impl FnMut(FileRow) -> Result<()>,
) -> Result<()> {
    let reading = async {
        let client = connection(&pool(address, 1)?).await?;
        layout::is_this_release(&client).await?;
        let read = async {
            for (statement, map) in STATEMENTS {
                let found = rows_of(&client, statement, tenant).await?;
                let mut found = std::pin::pin!(found);
                while let Some(row) = found.try_next().await? {
                    take(map(&row)?)?;
                }
            }
            DatabaseResult::Ok(())
        };
        snapshot(&client, read).await
    };
    reading.await.map_err(DatabaseFailure::into_error)
}

type ToFileRow = fn(&Row) -> DatabaseResult<FileRow>;

const STATEMENTS: [(&str, ToFileRow); 3] = [
    (schema::RECORDS_OF, record),
    (schema::COUNTER_ROWS_OF, counter),
    (schema::ENTRY_ROWS_OF, entry),
];

async fn rows_of(client: &Client, statement: &str, tenant: &TenantId) -> DatabaseResult<RowStream> {
    Ok(client.query_raw(statement, [tenant.as_str()]).await?)
}

fn record(row: &Row) -> DatabaseResult<FileRow> {
    let (place, kept) = (rows::place(row, 0)?, record_row(row, 3)?);
    let sealed = SealedRecord {
        id: place.id.clone(),
        seq: kept.seq.cast_unsigned(),
        version: kept.version.cast_unsigned(),
        expires: kept.expires.map(|at| UnixTime(at.cast_unsigned())),
        value: row.try_get(7)?,
    };
    Ok(FileRow::Record(place, sealed, kept.tags))
}

fn counter(row: &Row) -> DatabaseResult<FileRow> {
    let next: i64 = row.try_get(2)?;
    let tenant = rows::tenant(row.try_get(0)?)?;
    Ok(FileRow::Counter(
        tenant,
        row.try_get(1)?,
        next.cast_unsigned(),
    ))
}

fn entry(row: &Row) -> DatabaseResult<FileRow> {
    let (entry, seq): (_, i64) = (rows::entry(row)?, row.try_get(7)?);
    let buried: Option<i64> = row.try_get(9)?;
    let seq = seq.cast_unsigned();
    Ok(match buried {
        None => FileRow::Entry(entry, seq, row.try_get(10)?),
        Some(at) => FileRow::Letter(SealedLetter {
            entry,
            seq,
            reason: row.try_get(8)?,
            buried: UnixTime(at.cast_unsigned()),
        }),
    })
}
