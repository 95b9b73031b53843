//! An index in a SQLite file for each book, searched with FTS5.

mod apply;
mod changed;
mod facts;
mod file;
mod read;
mod shown;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rusqlite::Connection;
use selfsame_book::query::Ordering;
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::hash::sha256;

use crate::backend::{
    AfterNumber, Beginning, BookIndex, BookName, FacetCount, IndexChange, IndexedCredential,
    IndexedSet, IndexedTopic, KnownWord, Neighbour, WantedTopics,
};
use crate::error::IndexResult;
use crate::numbers::{AskedNumbers, NumberHolders};
use file::BookFile;

/// Books in files of a directory. They can be removed while no process has them open; they are then built anew.
pub struct SqliteIndex {
    /// The directory; the books are in memory without one.
    directory: Option<PathBuf>,
    books: Mutex<HashMap<BookName, Arc<BookFile>>>,
}

impl SqliteIndex {
    /// Books in this directory, which is created with the first one.
    #[must_use]
    pub fn new(directory: impl AsRef<Path>) -> Self {
        Self {
            directory: Some(directory.as_ref().to_owned()),
            books: Mutex::default(),
        }
    }

    /// Books that end with the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self {
            directory: None,
            books: Mutex::default(),
        }
    }

    /// The file of a book. Its name says nothing of the organisation.
    fn path(&self, book: &BookName) -> Option<PathBuf> {
        let digest = sha256(book.as_str().as_bytes());
        let mut name = hex_encode(&digest);
        name.truncate(32);
        let directory = self.directory.as_ref()?;
        Some(directory.join(format!("{name}.sqlite")))
    }

    /// Whether there is no file of a book, so that nothing needs to be removed.
    fn is_absent(&self, book: &BookName) -> bool {
        let books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = books.contains_key(book);
        !is_open && self.path(book).is_none_or(|path| !path.exists())
    }

    fn open(&self, book: &BookName) -> IndexResult<Arc<BookFile>> {
        let mut books = self.books.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = books.get(book) {
            return Ok(open.clone());
        }
        let opened = Arc::new(BookFile::open(self.path(book))?);
        books.insert(book.clone(), opened.clone());
        Ok(opened)
    }

    async fn read<T: Send + 'static>(
        &self,
        book: &BookName,
        read: impl FnOnce(&Connection) -> IndexResult<T> + Send + 'static,
    ) -> IndexResult<T> {
        self.open(book)?.read(read).await
    }
}

#[async_trait]
impl BookIndex for SqliteIndex {
    async fn cursor(&self, book: &BookName) -> IndexResult<Option<String>> {
        self.read(book, read::cursor).await
    }

    async fn apply(
        &self,
        book: &BookName,
        changes: Vec<IndexChange>,
        cursor: Option<&str>,
    ) -> IndexResult<()> {
        let cursor = cursor.map(str::to_owned);
        let file = self.open(book)?;
        file.write(move |connection| apply::apply(connection, &changes, cursor.as_deref()))
            .await
    }

    async fn clear(&self, book: &BookName) -> IndexResult<()> {
        if self.is_absent(book) {
            return Ok(());
        }
        self.open(book)?.write(file::lay_out_again).await
    }

    async fn having(
        &self,
        book: &BookName,
        wanted: &WantedTopics,
        limit: usize,
    ) -> IndexResult<Vec<i64>> {
        let wanted = wanted.clone();
        let having = move |connection: &Connection| read::having(connection, &wanted, limit);
        self.read(book, having).await
    }

    async fn having_of(
        &self,
        book: &BookName,
        wanted: &WantedTopics,
        of: &[i64],
    ) -> IndexResult<Vec<i64>> {
        let (wanted, of) = (wanted.clone(), of.to_vec());
        let having = move |connection: &Connection| read::having_of(connection, &wanted, &of);
        self.read(book, having).await
    }

    async fn ordered(
        &self,
        book: &BookName,
        of: &[i64],
        ordering: Ordering,
    ) -> IndexResult<Vec<i64>> {
        let of = of.to_vec();
        let ordered = move |connection: &Connection| read::ordered(connection, &of, ordering);
        self.read(book, ordered).await
    }

    async fn beginning(
        &self,
        book: &BookName,
        normal: &str,
        limit: usize,
    ) -> IndexResult<Vec<Beginning>> {
        let normal = normal.to_owned();
        let beginning = move |connection: &Connection| read::beginning(connection, &normal, limit);
        self.read(book, beginning).await
    }

    async fn texts(&self, book: &BookName, of: &[i64]) -> IndexResult<Vec<Beginning>> {
        let of = of.to_vec();
        self.read(book, move |connection| read::texts(connection, &of))
            .await
    }

    async fn knows(&self, book: &BookName, word: &str, is_beginning: bool) -> IndexResult<bool> {
        let word = word.to_owned();
        let knows = move |connection: &Connection| read::knows(connection, &word, is_beginning);
        self.read(book, knows).await
    }

    async fn similar(
        &self,
        book: &BookName,
        word: &str,
        limit: usize,
    ) -> IndexResult<Vec<KnownWord>> {
        let word = word.to_owned();
        self.read(book, move |connection| {
            read::similar(connection, &word, limit)
        })
        .await
    }

    async fn facets(
        &self,
        book: &BookName,
        of: &[i64],
        limit: usize,
    ) -> IndexResult<Vec<FacetCount>> {
        let of = of.to_vec();
        self.read(book, move |connection| read::facets(connection, &of, limit))
            .await
    }

    async fn topics(&self, book: &BookName, of: &[i64]) -> IndexResult<Vec<IndexedTopic>> {
        let of = of.to_vec();
        self.read(book, move |connection| shown::topics(connection, &of))
            .await
    }

    async fn all_topics(&self, book: &BookName, page: AfterNumber) -> IndexResult<Vec<i64>> {
        self.read(book, move |connection| read::all_topics(connection, page))
            .await
    }

    async fn sets(
        &self,
        book: &BookName,
        topic: i64,
        page: AfterNumber,
    ) -> IndexResult<Vec<IndexedSet>> {
        self.read(book, move |connection| shown::sets(connection, topic, page))
            .await
    }

    async fn credentials(
        &self,
        book: &BookName,
        set: i64,
        limit: usize,
    ) -> IndexResult<Vec<IndexedCredential>> {
        let credentials = move |connection: &Connection| shown::credentials(connection, set, limit);
        self.read(book, credentials).await
    }

    async fn credential(
        &self,
        book: &BookName,
        credential_id: &str,
    ) -> IndexResult<Option<IndexedCredential>> {
        let id = credential_id.to_owned();
        self.read(book, move |connection| shown::credential(connection, &id))
            .await
    }

    async fn holders(&self, book: &BookName, asked: &AskedNumbers) -> IndexResult<NumberHolders> {
        let asked = asked.clone();
        self.read(book, move |connection| shown::holders(connection, &asked))
            .await
    }

    async fn neighbours(
        &self,
        book: &BookName,
        topic: i64,
        limit: usize,
    ) -> IndexResult<Vec<Neighbour>> {
        let neighbours = move |connection: &Connection| shown::neighbours(connection, topic, limit);
        self.read(book, neighbours).await
    }
}
