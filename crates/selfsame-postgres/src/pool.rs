//! Connections: a bounded pool, each connection prepared in the same way.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{
    Client, ConfigConnectImpl, Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod,
    Runtime, Timeouts,
};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use selfsame_store::{Result, StoreError};
use tokio::time::timeout;
use tokio_postgres::types::ToSql;
use tokio_postgres::{NoTls, Row, RowStream};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::address::{Address, Encryption};
use crate::failure::{DatabaseFailure, DatabaseResult};
use crate::hosts::EachHost;

/// How long a request waits for a connection, or for a new one to be made.
const WAIT: Duration = Duration::from_secs(5);

/// How long the answer to one exchange is waited for. Then the connection is given up: the database's limits are shorter.
/// After a fault that leaves connections open and silent, this is how long it lasts until full rate.
pub(crate) const SILENCE: Duration = Duration::from_secs(4);

/// What a connection is told first. The database gives up a statement, the wait for a lock, and a transaction whose
/// process is gone.
const LIMITS: &str = "SET statement_timeout = '3s'; SET lock_timeout = '2s';
    SET idle_in_transaction_session_timeout = '4s';";

/// Helps PostgreSQL's planner, which knows nothing about new tables. Other databases need not know these settings.
const PLANS: &str = "SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;";

/// Begins a transaction whose statements all see the same moment.
pub(crate) const SNAPSHOT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// Lets a transaction and its statements take long.
pub(crate) const LONG: &str =
    "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

/// Makes a pool of at most this many connections. Nothing is connected yet.
///
/// # Errors
/// If the certificates that the address names can't be read.
pub fn pool(address: &Address, size: usize) -> Result<Pool> {
    let manage = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    let config = address.config.clone();
    let manager = match &address.encryption {
        Encryption::Plain => {
            Manager::from_connect(config, EachHost(ConfigConnectImpl { tls: NoTls }), manage)
        }
        Encryption::Verified(authorities) => {
            let tls = MakeRustlsConnect::new(tls(authorities.as_deref())?);
            Manager::from_connect(config, EachHost(ConfigConnectImpl { tls }), manage)
        }
    };
    let begin = format!("SET search_path TO {}; {LIMITS}", address.schema);
    let begin = Arc::new(begin);
    let timeouts = Timeouts {
        wait: Some(WAIT),
        create: Some(WAIT),
        recycle: Some(WAIT),
    };
    Pool::builder(manager)
        .max_size(size)
        .runtime(Runtime::Tokio1)
        .timeouts(timeouts)
        .post_create(Hook::async_fn(move |client, _| {
            let begin = begin.clone();
            Box::pin(async move {
                client
                    .batch_execute(&begin)
                    .await
                    .map_err(HookError::Backend)?;
                if client.batch_execute(PLANS).await.is_err() {
                    tracing::debug!("the database has no settings for PostgreSQL's planner");
                }
                Ok(())
            })
        }))
        .build()
        .map_err(|error| StoreError::Storage(error.to_string()))
}

/// A connection of the pool.
pub(crate) async fn connection(pool: &Pool) -> DatabaseResult<Client> {
    Ok(pool.get().await?)
}

/// Closes a connection that must not go back to the pool: it may be open and silent.
pub(crate) fn discard(client: Client) {
    drop(Client::take(client));
}

/// Work on a connection that is given up if it takes longer than the database would.
pub(crate) async fn in_time<T>(work: impl Future<Output = DatabaseResult<T>>) -> DatabaseResult<T> {
    let done = timeout(SILENCE, work).await;
    done.unwrap_or_else(|_| Err(DatabaseFailure::Lost("no answer in time".to_owned())))
}

/// Executes a statement, which is prepared once for each connection.
pub(crate) async fn query(
    client: &Client,
    statement: &str,
    parameters: &[&(dyn ToSql + Sync)],
) -> DatabaseResult<Vec<Row>> {
    let prepared = client.prepare_cached(statement).await?;
    Ok(client.query(&prepared, parameters).await?)
}

/// The rows of a statement, one after the other.
pub(crate) async fn stream(client: &Client, statement: &str) -> DatabaseResult<RowStream> {
    let none: [&(dyn ToSql + Sync); 0] = [];
    Ok(client.query_raw(statement, none).await?)
}

/// Does work in a transaction, and commits it if it succeeds.
pub(crate) async fn transaction<T, E: From<DatabaseFailure>>(
    client: &Client,
    work: impl Future<Output = std::result::Result<T, E>>,
) -> std::result::Result<T, E> {
    let plain = async |statement| client.batch_execute(statement).await;
    plain("BEGIN").await.map_err(DatabaseFailure::from)?;
    let done = work.await;
    let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
    plain(end).await.map_err(DatabaseFailure::from)?;
    done
}

/// Reads in a transaction whose statements all see the same moment, while other processes go on. It may take long.
pub(crate) async fn snapshot<T>(
    client: &Client,
    read: impl Future<Output = DatabaseResult<T>>,
) -> DatabaseResult<T> {
    client.batch_execute(SNAPSHOT).await?;
    client.batch_execute(LONG).await?;
    let read = read.await;
    client.batch_execute("ROLLBACK").await?;
    read
}

fn tls(authorities: Option<&std::path::Path>) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    match authorities {
        Some(path) => {
            let unreadable =
                |error| StoreError::Storage(format!("sslrootcert, {}: {error}", path.display()));
            let found = CertificateDer::pem_file_iter(path).map_err(unreadable)?;
            for certificate in found {
                let certificate = certificate.map_err(unreadable)?;
                let added = roots.add(certificate);
                added.map_err(|error| StoreError::Storage(format!("sslrootcert: {error}")))?;
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            roots.add_parsable_certificates(found.certs);
        }
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Storage(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
