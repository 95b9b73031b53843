//! An index in PostgreSQL, which several processes share: full-text search by `tsvector`, typing errors by `pg_trgm`.
//!
//! Each book is a schema of its own, so that a common word leads to one organisation's topics alone, and a book is
//! removed at once.

mod apply;
mod read;
mod shown;
mod together;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use deadpool_postgres::{Client, Pool};
use selfsame_book::query::Ordering;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;
use selfsame_postgres::{Address, pool};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, Transaction};

use crate::backend::{
    AfterNumber, Beginning, BookIndex, BookName, FacetCount, IndexChange, IndexedCredential,
    IndexedSet, IndexedTopic, KnownWord, Neighbour, WantedTopics,
};
use crate::error::{IndexError, IndexResult};
use crate::numbers::{AskedNumbers, NumberHolders};
use apply::{WrittenChange, apply};
use together::{WaitingChanges, apply_together};

/// The tables and functions of a book.
const SCHEMA: &str = include_str!("postgres/schema.sql");
/// What the comment of a book's schema says. A book of another layout is built anew.
const LAYOUT: &str = "selfsame book, layout 4";
/// The number of topics of one common word that are looked at, about; beyond it, the index answers with some of them.
const COMMON_MAX: u32 = 20_000;

/// Books in a PostgreSQL database.
pub struct PostgresIndex {
    pool: Pool,
    /// What the names of the schemas begin with.
    prefix: String,
    books: Mutex<HashMap<BookName, Arc<str>>>,
    waiting: Mutex<HashMap<BookName, Arc<WaitingChanges>>>,
}

/// A parameter of a statement, with its type.
type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// A connection, and the schema of a book.
struct OpenedBook {
    client: Client,
    schema: Arc<str>,
}

impl PostgresIndex {
    /// Books in the database at this address, read by at most this many connections. Nothing is connected yet.
    ///
    /// # Errors
    /// If the certificates of the address can't be read.
    pub fn new(address: &Address, connections: usize) -> IndexResult<Self> {
        let pool = pool(address, connections);
        Ok(Self {
            pool: pool.map_err(|error| IndexError::Storage(error.to_string()))?,
            prefix: address.schema().to_owned(),
            books: Mutex::default(),
            waiting: Mutex::default(),
        })
    }

    /// The schema of a book, which is laid out if it is absent.
    async fn open(&self, book: &BookName) -> IndexResult<OpenedBook> {
        let client = self.client().await?;
        let known = self.known().get(book).cloned();
        let schema = match known {
            Some(schema) => schema,
            None => {
                let schema: Arc<str> = self.schema_of(book).into();
                lay_out(&client, &schema).await?;
                self.known().insert(book.clone(), schema.clone());
                schema
            }
        };
        Ok(OpenedBook { client, schema })
    }

    async fn client(&self) -> IndexResult<Client> {
        let client = self.pool.get().await;
        client.map_err(|error| IndexError::Storage(error.to_string()))
    }

    fn known(&self) -> MutexGuard<'_, HashMap<BookName, Arc<str>>> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The changes of a book that wait.
    fn waiting(&self, book: &BookName) -> Arc<WaitingChanges> {
        let waiting = self.waiting.lock();
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        waiting.entry(book.clone()).or_default().clone()
    }

    /// The name of the schema of a book: 63 bytes at most, of letters, digits and low lines.
    fn schema_of(&self, book: &BookName) -> String {
        let mut digest = hex_encode(&sha256(book.as_str().as_bytes()));
        digest.truncate(24);
        let prefix: String = self.prefix.chars().take(32).collect();
        format!("{prefix}_book_{digest}")
    }
}

impl OpenedBook {
    /// The rows of a statement, in which `$.` stands for the schema of the book.
    async fn rows(&self, statement: &str, parameters: &[Parameter<'_>]) -> IndexResult<Vec<Row>> {
        let statement = statement.replace("$.", &format!("{}.", self.schema));
        Ok(self.client.query_typed(&statement, parameters).await?)
    }

    /// The first row of a statement.
    async fn row(&self, statement: &str, parameters: &[Parameter<'_>]) -> IndexResult<Option<Row>> {
        Ok(self.rows(statement, parameters).await?.into_iter().next())
    }
}

/// Lays a book out, unless it is there in this layout. Of several processes one does.
async fn lay_out(client: &Client, schema: &str) -> IndexResult<()> {
    let layout = "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = $1";
    let layout = client.query_typed(layout, &[(&schema, Type::TEXT)]).await?;
    let former = match layout.first().map(|row| row.get::<_, Option<&str>>(0)) {
        Some(Some(LAYOUT)) => return Ok(()),
        Some(_) => {
            tracing::warn!(schema, "the index of a book is built anew");
            format!("DROP SCHEMA IF EXISTS {schema} CASCADE;")
        }
        None => String::new(),
    };
    let tables = tables(client, schema).await?;
    match client
        .batch_execute(&format!("BEGIN; {former} {tables} COMMIT;"))
        .await
    {
        Ok(()) => Ok(()),
        Err(error) => {
            client.batch_execute("ROLLBACK").await?;
            let taken = [SqlState::DUPLICATE_SCHEMA, SqlState::UNIQUE_VIOLATION];
            match error.code() {
                // Another process was faster.
                Some(code) if taken.contains(code) => Ok(()),
                _ => Err(error.into()),
            }
        }
    }
}

/// The statements that lay a book out.
async fn tables(client: &Client, schema: &str) -> IndexResult<String> {
    let trigrams = trigrams(client).await?;
    let tables = SCHEMA.replace("SCHEMA.", &format!("{schema}."));
    let tables = tables.replace("CREATE SCHEMA SCHEMA", &format!("CREATE SCHEMA {schema}"));
    let tables = tables.replace("TRIGRAMS.", &format!("{trigrams}."));
    Ok(format!(
        "{tables} COMMENT ON SCHEMA {schema} IS '{LAYOUT}';"
    ))
}

/// The schema of the extension `pg_trgm`, which is installed if that is allowed.
async fn trigrams(client: &Client) -> IndexResult<String> {
    let find = "SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
        WHERE e.extname = 'pg_trgm'";
    let find = async || client.query_typed(find, &[]).await;
    if let Some(row) = find().await?.first() {
        return Ok(row.get(0));
    }
    // Of several who make it at once one succeeds, and then it is there for all.
    let made = client.batch_execute("CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public");
    let made = made.await;
    if let Some(row) = find().await?.first() {
        return Ok(row.get(0));
    }
    let told = made.err().map(|error| error.to_string());
    let hint = "the extension pg_trgm is missing: let an administrator of the database run CREATE EXTENSION pg_trgm";
    tracing::error!(error = told.unwrap_or_default(), "{hint}");
    Err(IndexError::Storage(hint.to_owned()))
}

/// Sets what holds within a transaction that searches.
async fn begin_search(transaction: &Transaction<'_>) -> IndexResult<()> {
    let limits = format!(
        "SET LOCAL gin_fuzzy_search_limit = {COMMON_MAX}; SET LOCAL statement_timeout = '2s';
         SET LOCAL enable_seqscan = off"
    );
    Ok(transaction.batch_execute(&limits).await?)
}

impl From<tokio_postgres::Error> for IndexError {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.code() {
            Some(code) if *code == SqlState::QUERY_CANCELED => Self::TooSlow,
            Some(code) if *code == SqlState::DISK_FULL => Self::Full,
            _ => {
                let told = error.as_db_error().map(|told| told.message().to_owned());
                Self::Storage(told.unwrap_or_else(|| error.to_string()))
            }
        }
    }
}

#[async_trait]
impl BookIndex for PostgresIndex {
    fn is_shared(&self) -> bool {
        true
    }

    async fn cursor(&self, book: &BookName) -> IndexResult<Option<String>> {
        let opened = self.open(book).await?;
        let row = opened.row("SELECT cursor FROM $.state", &[]).await?;
        Ok(row.map(|row| row.get(0)))
    }

    async fn apply(
        &self,
        book: &BookName,
        changes: Vec<IndexChange>,
        cursor: Option<&str>,
    ) -> IndexResult<()> {
        if cursor.is_none() {
            return apply_together(self, book, &changes).await;
        }
        let written: Vec<WrittenChange> = changes.iter().map(WrittenChange::of).collect();
        let written: Vec<&WrittenChange> = written.iter().collect();
        apply(self.open(book).await?, &written, cursor).await
    }

    async fn clear(&self, book: &BookName) -> IndexResult<()> {
        let client = self.client().await?;
        let schema = self.schema_of(book);
        let tables = tables(&client, &schema).await?;
        // It is there again at once, since other processes know that it is there.
        let again = format!("BEGIN; DROP SCHEMA IF EXISTS {schema} CASCADE; {tables} COMMIT;");
        if let Err(error) = client.batch_execute(&again).await {
            client.batch_execute("ROLLBACK").await?;
            return Err(error.into());
        }
        Ok(())
    }

    async fn having(
        &self,
        book: &BookName,
        wanted: &WantedTopics,
        limit: usize,
    ) -> IndexResult<Vec<i64>> {
        read::having(self.open(book).await?, wanted, limit).await
    }

    async fn having_of(
        &self,
        book: &BookName,
        wanted: &WantedTopics,
        of: &[i64],
    ) -> IndexResult<Vec<i64>> {
        read::having_of(&self.open(book).await?, wanted, of).await
    }

    async fn ordered(
        &self,
        book: &BookName,
        of: &[i64],
        ordering: Ordering,
    ) -> IndexResult<Vec<i64>> {
        read::ordered(&self.open(book).await?, of, ordering).await
    }

    async fn beginning(
        &self,
        book: &BookName,
        normal: &str,
        limit: usize,
    ) -> IndexResult<Vec<Beginning>> {
        read::beginning(&self.open(book).await?, normal, limit).await
    }

    async fn texts(&self, book: &BookName, of: &[i64]) -> IndexResult<Vec<Beginning>> {
        read::texts(&self.open(book).await?, of).await
    }

    async fn knows(&self, book: &BookName, word: &str, is_beginning: bool) -> IndexResult<bool> {
        read::knows(&self.open(book).await?, word, is_beginning).await
    }

    async fn similar(
        &self,
        book: &BookName,
        word: &str,
        limit: usize,
    ) -> IndexResult<Vec<KnownWord>> {
        read::similar(self.open(book).await?, word, limit).await
    }

    async fn facets(
        &self,
        book: &BookName,
        of: &[i64],
        limit: usize,
    ) -> IndexResult<Vec<FacetCount>> {
        read::facets(&self.open(book).await?, of, limit).await
    }

    async fn topics(&self, book: &BookName, of: &[i64]) -> IndexResult<Vec<IndexedTopic>> {
        shown::topics(&self.open(book).await?, of).await
    }

    async fn all_topics(&self, book: &BookName, page: AfterNumber) -> IndexResult<Vec<i64>> {
        read::all_topics(&self.open(book).await?, page).await
    }

    async fn sets(
        &self,
        book: &BookName,
        topic: i64,
        page: AfterNumber,
    ) -> IndexResult<Vec<IndexedSet>> {
        shown::sets(&self.open(book).await?, topic, page).await
    }

    async fn credentials(
        &self,
        book: &BookName,
        set: i64,
        limit: usize,
    ) -> IndexResult<Vec<IndexedCredential>> {
        shown::credentials(&self.open(book).await?, set, limit).await
    }

    async fn credential(
        &self,
        book: &BookName,
        credential_id: &str,
    ) -> IndexResult<Option<IndexedCredential>> {
        shown::credential(&self.open(book).await?, credential_id).await
    }

    async fn holders(&self, book: &BookName, asked: &AskedNumbers) -> IndexResult<NumberHolders> {
        shown::holders(&self.open(book).await?, asked).await
    }

    async fn neighbours(
        &self,
        book: &BookName,
        topic: i64,
        limit: usize,
    ) -> IndexResult<Vec<Neighbour>> {
        shown::neighbours(&self.open(book).await?, topic, limit).await
    }
}
