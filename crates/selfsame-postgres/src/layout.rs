//! The layout of the tables: they are made, and brought to this release's layout without the loss of a row.

use deadpool_postgres::Client;
use selfsame_store::StoreError;

use crate::census::{Census, census};
use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::pool::{LONG, transaction};
use crate::schema;

const APPLICATION: &str = "selfsame store";

/// Makes the tables if they do not exist. Of several starters one makes them, and the others wait for it.
///
/// # Errors
/// `Foreign` or `OtherLayout` for tables that are not of this release.
pub(crate) async fn tables(client: &Client, schema_name: &str) -> DatabaseResult<()> {
    make(client, schema_name).await?;
    transaction(client, locked(client)).await
}

async fn make(client: &Client, schema_name: &str) -> DatabaseResult<()> {
    let create = format!("CREATE SCHEMA IF NOT EXISTS {schema_name}");
    client.batch_execute(&create).await?;
    Ok(client.batch_execute(schema::LAYOUTS).await?)
}

async fn locked(client: &Client) -> DatabaseResult<()> {
    let row = client.query_one(schema::LOCK_LAYOUT, &[]).await?;
    let (application, found): (String, i32) = (row.try_get(0)?, row.try_get(1)?);
    if application != APPLICATION {
        return Err(foreign());
    }
    match found {
        schema::LAYOUT => Ok(()),
        0 => {
            client.batch_execute(schema::TABLES).await?;
            migrated(client, &schema::MIGRATIONS).await
        }
        found @ 1..schema::LAYOUT => upgraded(client, &schema::MIGRATIONS, found).await,
        found => Err(other(found)),
    }
}

/// Makes this release's layout of tables with rows. The commits of other processes wait, and every row is counted and
/// hashed before and after.
///
/// # Errors
/// If a row is missing or is not what it was: then everything stays as it is, for the release before.
async fn upgraded(client: &Client, migrations: &[&str], from: i32) -> DatabaseResult<()> {
    client.batch_execute(LONG).await?;
    client.query(schema::LOCK_PROCESSES, &[]).await?;
    let before = whole_census(client).await?;
    let done = usize::try_from(from).unwrap_or_default().saturating_sub(1);
    migrated(client, migrations.get(done..).unwrap_or_default()).await?;
    let after = whole_census(client).await?;
    if let Some(difference) = before.difference(&after) {
        return Err(DatabaseFailure::Final(StoreError::Storage(format!(
            "the tables are still those of the release before, which can go on with them: their upgrade would have \
             changed rows ({difference})"
        ))));
    }
    tracing::info!(
        rows = after.rows(),
        from,
        to = schema::LAYOUT,
        "the tables have a new layout, with the same rows"
    );
    Ok(())
}

async fn whole_census(client: &Client) -> DatabaseResult<Census> {
    let tables = [&schema::KEPT_ROWS[..], &schema::OWN_ROWS].concat();
    census(client, &tables).await
}

/// Makes the layouts of these migrations.
async fn migrated(client: &Client, migrations: &[&str]) -> DatabaseResult<()> {
    for migration in migrations {
        client.batch_execute(migration).await?;
    }
    let set = client.execute(schema::SET_LAYOUT, &[&schema::LAYOUT]);
    set.await?;
    Ok(())
}

/// Makes the tables in this transaction if the schema does not exist or is empty. Returns whether the tables are empty.
///
/// # Errors
/// `Foreign` if there are tables of something else.
pub(crate) async fn empty_tables(client: &Client, schema_name: &str) -> DatabaseResult<bool> {
    let found = client.query_one(schema::FOUND_TABLES, &[]).await?;
    let (has_layout, tables): (bool, i64) = (found.try_get(0)?, found.try_get(1)?);
    if !has_layout && tables > 0 {
        return Err(foreign());
    }
    make(client, schema_name).await?;
    locked(client).await?;
    let has_rows: bool = client.query_one(schema::HAS_ROWS, &[]).await?.try_get(0)?;
    Ok(!has_rows)
}

/// Whether the tables are those of this release. Makes and locks nothing.
///
/// # Errors
/// `Foreign` if the schema has no tables of a store; `OtherLayout` if they are of another release.
pub(crate) async fn is_this_release(client: &Client) -> DatabaseResult<()> {
    let found = client.query_one(schema::FOUND_TABLES, &[]).await?;
    if !found.try_get::<_, bool>(0)? {
        return Err(foreign());
    }
    let row = client.query_one(schema::FOUND_LAYOUT, &[]).await?;
    let (application, found): (String, i32) = (row.try_get(0)?, row.try_get(1)?);
    match found {
        _ if application != APPLICATION => Err(foreign()),
        schema::LAYOUT => Ok(()),
        0 => Err(foreign()),
        found => Err(other(found)),
    }
}

fn other(found: i32) -> DatabaseFailure {
    DatabaseFailure::Final(StoreError::OtherLayout {
        found: found.cast_unsigned(),
        known: schema::LAYOUT.cast_unsigned(),
    })
}

fn foreign() -> DatabaseFailure {
    DatabaseFailure::Final(StoreError::Foreign("the schema of the database".into()))
}

#[cfg(test)]
mod tests;
