//! What PostgreSQL's own `COPY` reaches with the same bytes, into the same tables with the same indexes.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Instant;

use bytes::Bytes;
use futures_util::{SinkExt as _, TryStreamExt as _};
use selfsame_bench::{Error, Progress};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_postgres::Client;

use crate::database::{BenchDatabase, failed};

/// The tables that a record is written to.
const TABLES: [&str; 2] = ["records", "tags"];
const CHUNK: usize = 256 * 1024;

/// Copies the records of a schema into a new one by files in `scratch`. Returns records per second of the way in.
#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub async fn measure(
    database: &BenchDatabase,
    schema: &str,
    scratch: &Path,
    progress: &dyn Progress,
) -> Result<f64, Error> {
    progress.begin("copying the same rows", 2 * TABLES.len() as u64);
    let client = database.connect().await?;
    let into = database.schema("copy");
    let files = TABLES.map(|table| scratch.join(format!("{table}.rows")));
    for (table, file) in TABLES.iter().zip(&files) {
        copy_out(&client, &format!("{schema}.{table}"), file).await?;
        progress.advance(1);
    }
    let mut tables = format!("CREATE SCHEMA {into};");
    for table in TABLES {
        tables += &format!("CREATE TABLE {into}.{table} (LIKE {schema}.{table} INCLUDING ALL);");
    }
    client.batch_execute(&tables).await.map_err(failed)?;
    let count = format!("SELECT count(*) FROM {schema}.records");
    let count: i64 = client.query_one(&count, &[]).await.map_err(failed)?.get(0);
    let began = Instant::now();
    client.batch_execute("BEGIN").await.map_err(failed)?;
    for (table, file) in TABLES.iter().zip(files) {
        copy_in(&client, &format!("{into}.{table}"), file).await?;
        progress.advance(1);
    }
    client.batch_execute("COMMIT").await.map_err(failed)?;
    Ok(count as f64 / began.elapsed().as_secs_f64())
}

async fn copy_out(client: &Client, table: &str, file: &Path) -> Result<(), Error> {
    let copy = format!("COPY {table} TO STDOUT (FORMAT binary)");
    let mut rows = pin!(client.copy_out(&copy).await.map_err(failed)?);
    let mut file = File::create(file).await?;
    while let Some(some) = rows.try_next().await.map_err(failed)? {
        file.write_all(&some).await?;
    }
    Ok(file.flush().await?)
}

/// Copies a file into a table, and deletes the file.
async fn copy_in(client: &Client, table: &str, path: PathBuf) -> Result<(), Error> {
    let copy = format!("COPY {table} FROM STDIN (FORMAT binary)");
    let mut rows = pin!(client.copy_in(&copy).await.map_err(failed)?);
    let mut file = File::open(&path).await?;
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = file.read(&mut chunk).await?;
        let Some(some) = chunk.get(..read).filter(|some| !some.is_empty()) else {
            break;
        };
        let some = Bytes::copy_from_slice(some);
        rows.feed(some).await.map_err(failed)?;
    }
    rows.finish().await.map_err(failed)?;
    Ok(tokio::fs::remove_file(path).await?)
}
