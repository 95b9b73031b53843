//! The search index of a credential book.
//!
//! Owns: how entries are indexed and searched, and the files of an index. Does not own: the records that an index is
//! rebuilt from, the mapping of credential types, who may search.

pub mod backend;
mod error;
pub mod numbers;
mod postgres;
pub mod search;
mod sqlite;

pub use backend::{
    BookIndex, BookName, FoundTopics, IndexChange, IndexedCredential, IndexedEntry, IndexedFact,
    IndexedSet, IndexedTopic,
};
pub use error::{IndexError, IndexResult};
pub use postgres::PostgresIndex;
pub use sqlite::SqliteIndex;
