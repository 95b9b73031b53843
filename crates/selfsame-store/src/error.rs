//! Errors of the store, by who must act.

use std::path::PathBuf;

use crate::rotation::KeyTrouble;

/// Why the store refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The data changed after the caller read them. Read again and decide anew. Nothing was written.
    #[error("{kind} has changed since it was read")]
    Conflict {
        /// The kind of the conflicting item: a record's kind, `outbox` or `route`.
        kind: String,
        /// The item's identifier (empty for a route, whose key is not shown).
        id: String,
    },
    /// The request exceeds a limit of the store.
    #[error("{what} exceeds the limit of {limit}")]
    TooLarge {
        /// The part that is too large.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The caller passed a malformed value.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// The store is overloaded; try again later. Nothing was written.
    #[error("the store is busy")]
    Busy,
    /// No answer in time. A commit may or may not have taken effect; read before trying again.
    #[error("the store did not answer in time")]
    Deadline,
    /// The master key is not the one the data are under; the operator must act.
    #[error("{0}")]
    WrongKey(KeyTrouble),
    /// A stored value was changed outside the store; the operator must restore from a backup.
    #[error("a stored {0} was altered or damaged")]
    Tampered(&'static str),
    /// Another release wrote the data; the operator must use that release.
    #[error("the data have layout {found}, and this release reads layout {known} only")]
    OtherLayout {
        /// The layout of the data.
        found: u32,
        /// The layout that this release reads.
        known: u32,
    },
    /// Another process has the data open.
    #[error("{0} is in use by another process")]
    InUse(PathBuf),
    /// The file is not a Selfsame data file.
    #[error("{0} is not a Selfsame data file")]
    Foreign(PathBuf),
    /// The disk is full, or this process may not use more of it. Nothing was written.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The disk or the database failed; the operator must find the cause.
    #[error("storage failed: {0}")]
    Storage(String),
}

/// A result of the store.
pub type Result<T> = std::result::Result<T, StoreError>;

impl StoreError {
    /// Whether the disk is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }

    /// A copy of the error, for another caller it concerns.
    #[must_use]
    pub fn again(&self) -> Self {
        match self {
            Self::Full(reason) => Self::Full(reason.clone()),
            Self::Busy => Self::Busy,
            Self::Deadline => Self::Deadline,
            other => Self::Storage(other.to_string()),
        }
    }

    /// A conflict at the thing of this kind with this identifier.
    #[must_use]
    pub fn conflict(kind: &str, id: &str) -> Self {
        Self::Conflict {
            kind: kind.to_owned(),
            id: id.to_owned(),
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        match error.sqlite_error_code() {
            Some(Code::DatabaseBusy | Code::DatabaseLocked) => Self::Busy,
            Some(Code::DatabaseCorrupt | Code::NotADatabase) => Self::Tampered("file"),
            Some(Code::DiskFull) => Self::Full(error.to_string()),
            _ => Self::Storage(error.to_string()),
        }
    }
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match error.kind() {
            StorageFull | QuotaExceeded | FileTooLarge => Self::Full(error.to_string()),
            _ => Self::Storage(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn want_of_room_is_told_from_other_failures() {
        let database = Connection::open_in_memory().unwrap();
        let table = "PRAGMA max_page_count = 4; CREATE TABLE t (value BLOB);";
        database.execute_batch(table).unwrap();
        let full = database.execute("INSERT INTO t VALUES (zeroblob(100000))", []);
        let full = StoreError::from(full.unwrap_err());
        assert!(full.is_full() && full.again().is_full(), "{full}");
        let wrong = database.execute("INSERT INTO nowhere VALUES (1)", []);
        let wrong = StoreError::from(wrong.unwrap_err());
        assert!(!wrong.is_full() && !wrong.again().is_full(), "{wrong}");
        assert!(matches!(StoreError::Busy.again(), StoreError::Busy));
        assert!(matches!(StoreError::Deadline.again(), StoreError::Deadline));
        let disk = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert!(StoreError::from(disk).is_full());
    }
}
