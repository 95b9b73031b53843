//! Failures of the database, by what to do about them.

use std::error::Error;

use selfsame_store::StoreError;
use tokio_postgres::error::SqlState;

/// Why a statement or transaction did not succeed.
#[derive(Debug)]
pub(crate) enum DatabaseFailure {
    /// It lost against another transaction, which may be one of another process. Nothing was written: do it again.
    Raced,
    /// The connection is gone, or the server is about to stop: connect again.
    Lost(String),
    /// This process was silent for so long that another one took it for dead: take a seat again, and do it again.
    Unseated,
    /// The row of this process counts only this many commits: the database lost those that followed.
    SetBack(i64),
    /// Doing it again would fail again.
    Final(StoreError),
}

pub(crate) type DatabaseResult<T> = Result<T, DatabaseFailure>;

impl DatabaseFailure {
    /// What a caller is told who cannot try again.
    pub(crate) fn into_error(self) -> StoreError {
        match self {
            Self::Raced | Self::Unseated => StoreError::Busy,
            Self::Lost(reason) => StoreError::Storage(format!("the database: {reason}")),
            Self::SetBack(_) => StoreError::Tampered("row of this process"),
            Self::Final(error) => error,
        }
    }

    /// What a caller is told while this process serves: a database that cannot be reached may be back soon.
    pub(crate) fn into_answer(self) -> StoreError {
        match self {
            Self::Lost(reason) => {
                tracing::warn!(reason, "the database cannot be reached");
                StoreError::Busy
            }
            other => other.into_error(),
        }
    }
}

impl From<StoreError> for DatabaseFailure {
    fn from(error: StoreError) -> Self {
        Self::Final(error)
    }
}

impl From<tokio_postgres::Error> for DatabaseFailure {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(code) = error.code() else {
            return Self::Lost(reason(&error));
        };
        match code.code() {
            // Serialization, deadlock, a lock not had in time, a row of the same key, a table made by another starter.
            "40001" | "40P01" | "55P03" | "23505" | "42P06" | "42P07" | "42710" => Self::Raced,
            // A server that starts or stops, or a connection ended by an administrator; a standby, after a fail-over;
            // too many connections.
            "57P01" | "57P02" | "57P03" | "57P05" | "25006" | "53300" => Self::Lost(reason(&error)),
            class if class.starts_with("08") => Self::Lost(reason(&error)),
            "53100" => Self::Final(StoreError::Full(reason(&error))),
            // A statement that took too long.
            "57014" => Self::Final(StoreError::Deadline),
            _ => Self::Final(StoreError::Storage(reason(&error))),
        }
    }
}

impl From<deadpool_postgres::PoolError> for DatabaseFailure {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        use deadpool_postgres::PoolError;
        match error {
            PoolError::Backend(error) => match error.code() {
                // Who signs in, and where, does not get right by waiting.
                Some(code) if refuses(code) => Self::Final(StoreError::Storage(format!(
                    "the database: {}",
                    reason(&error)
                ))),
                _ => Self::Lost(reason(&error)),
            },
            PoolError::Timeout(_) => Self::Final(StoreError::Busy),
            other => Self::Lost(other.to_string()),
        }
    }
}

fn refuses(code: &SqlState) -> bool {
    [
        SqlState::INVALID_PASSWORD,
        SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
        SqlState::INVALID_CATALOG_NAME,
        SqlState::INSUFFICIENT_PRIVILEGE,
    ]
    .contains(code)
}

/// The message of the server or of the system, with the code but without details, which may quote values.
fn reason(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{} ({})", said.message(), said.code().code()),
        None => match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}
