//! What prevents an index from answering.

use thiserror::Error;

/// Why an index did not answer.
#[derive(Clone, Debug, Error, Eq, PartialEq)]
pub enum IndexError {
    /// The database failed.
    #[error("the index can't be used: {0}")]
    Storage(String),
    /// The disk is full.
    #[error("the disk of the index is full")]
    Full,
    /// The question took too long.
    #[error("the search took too long")]
    TooSlow,
    /// Too many questions wait already.
    #[error("too many searches wait")]
    Busy,
}

/// The result of a question to an index.
pub type IndexResult<T> = Result<T, IndexError>;

impl From<rusqlite::Error> for IndexError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => Self::TooSlow,
            Some(rusqlite::ErrorCode::DiskFull) => Self::Full,
            _ => Self::Storage(error.to_string()),
        }
    }
}

impl From<std::io::Error> for IndexError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull => Self::Full,
            _ => Self::Storage(error.to_string()),
        }
    }
}

impl From<serde_json::Error> for IndexError {
    fn from(error: serde_json::Error) -> Self {
        Self::Storage(error.to_string())
    }
}
