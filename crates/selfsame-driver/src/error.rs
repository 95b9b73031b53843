//! Errors of use cases: what went wrong, and who must act.

use std::fmt;

use selfsame_store::StoreError;

/// Who must act. The edges map this to status codes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ErrorKind {
    /// The caller sent a request that can never work; the caller must change it.
    BadRequest,
    /// The caller must sign in.
    Unauthenticated,
    /// The caller is known but not allowed to do this.
    Forbidden,
    /// The object does not exist for this caller.
    NotFound,
    /// The object changed meanwhile, or exists already.
    Conflict,
    /// The object existed and is over: spent, expired or withdrawn.
    Gone,
    /// Too many requests; try again after this number of seconds.
    TooMany {
        /// Seconds to wait.
        retry_after: u64,
    },
    /// This instance is unavailable now; try again after this number of seconds.
    Unavailable {
        /// Seconds to wait.
        retry_after: u64,
    },
    /// There is no room to store more: on the disk, or within one person's limits.
    Full,
    /// Another party did not answer, or answered against its specification.
    Upstream,
    /// Data stored by this instance are damaged; its operator must restore a backup.
    Damaged,
    /// An error of this program; the log says more.
    Internal,
}

/// An error of a use case: its kind, a reason that is safe to show, and the error code that the specification defines.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Error {
    /// Who must act.
    pub kind: ErrorKind,
    /// A sentence for those who must act; contains no secret and no claim.
    pub reason: String,
    /// What they can do about it.
    pub hint: Option<String>,
    /// The specification's error code, such as `invalid_grant`.
    pub code: Option<&'static str>,
}

/// The result of a use case.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of this kind with this reason.
    pub fn new(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            hint: None,
            code: None,
        }
    }

    /// The caller's request cannot work.
    pub fn bad_request(reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadRequest, reason)
    }

    /// The object does not exist for this caller.
    pub fn not_found(reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, reason)
    }

    /// Another party failed.
    pub fn upstream(reason: impl Into<String>) -> Self {
        Self::new(ErrorKind::Upstream, reason)
    }

    /// An error of this program: `detail` goes to the log only, not to the caller.
    pub fn internal(detail: impl fmt::Display) -> Self {
        tracing::error!(%detail, "internal error");
        Self::new(
            ErrorKind::Internal,
            "something went wrong on this server; see its log",
        )
    }

    /// Stored data differ from what was written: `detail` goes to the log.
    pub fn damaged(detail: impl fmt::Display) -> Self {
        tracing::error!(%detail, "stored data are damaged");
        Self::new(
            ErrorKind::Damaged,
            "data stored on this server are damaged; see its log",
        )
        .with_hint("operator: restore a backup with `selfsame restore`")
    }

    /// This error with the specification's code.
    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// This error with a hint on what to do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Whether the error is final: a retry can't succeed until someone changes the request.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self.kind {
            ErrorKind::BadRequest
            | ErrorKind::Forbidden
            | ErrorKind::NotFound
            | ErrorKind::Conflict
            | ErrorKind::Gone => true,
            // A token can be corrected without changing the transaction.
            ErrorKind::Unauthenticated
            | ErrorKind::TooMany { .. }
            | ErrorKind::Unavailable { .. }
            | ErrorKind::Full
            | ErrorKind::Upstream
            | ErrorKind::Damaged
            | ErrorKind::Internal => false,
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict { .. } => {
                Self::new(ErrorKind::Conflict, "this was changed in the meantime")
                    .with_hint("reload it, then try again")
            }
            StoreError::TooLarge { .. } => Self::bad_request(error.to_string()),
            StoreError::Malformed("cursor") => Self::bad_request("invalid pagination cursor"),
            StoreError::Busy | StoreError::Deadline => {
                tracing::warn!(%error, "the store refused work because it is overloaded");
                Self::new(
                    ErrorKind::Unavailable { retry_after: 1 },
                    "the server is overloaded; try again in 1 second",
                )
            }
            StoreError::Full(_) => {
                tracing::error!(%error, "the store has no room");
                Self::new(ErrorKind::Full, "this server has no storage space left").with_hint(
                    "operator: free space on the disk; the server then continues by itself",
                )
            }
            StoreError::Tampered(_) => Self::damaged(error),
            other => Self::internal(other),
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}
