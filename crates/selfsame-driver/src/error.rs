//! Errors of use cases: what went wrong, and who must act.

use std::fmt;

use selfsame_store::StoreError;

use crate::Reason;

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
    /// What is wrong, for those who must act; contains no secret and no claim.
    pub reason: Reason,
    /// The specification's error code, such as `invalid_grant`.
    pub code: Option<&'static str>,
}

/// The result of a use case.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of this kind. The id names its reason: a literal in kebab-case, which the catalogue has.
    #[must_use]
    pub const fn new(kind: ErrorKind, id: &'static str) -> Self {
        Self::of(kind, Reason::new(id))
    }

    /// An error of this kind with this reason.
    #[must_use]
    pub const fn of(kind: ErrorKind, reason: Reason) -> Self {
        Self {
            kind,
            reason,
            code: None,
        }
    }

    /// The caller's request cannot work.
    #[must_use]
    pub const fn bad_request(id: &'static str) -> Self {
        Self::new(ErrorKind::BadRequest, id)
    }

    /// The object does not exist for this caller.
    #[must_use]
    pub const fn not_found(id: &'static str) -> Self {
        Self::new(ErrorKind::NotFound, id)
    }

    /// Another party failed.
    #[must_use]
    pub const fn upstream(id: &'static str) -> Self {
        Self::new(ErrorKind::Upstream, id)
    }

    /// An error of this program: `detail` goes to the log only, not to the caller.
    pub fn internal(detail: impl fmt::Display) -> Self {
        tracing::error!(%detail, "internal error");
        Error::new(ErrorKind::Internal, "internal")
    }

    /// Stored data differ from what was written: `detail` goes to the log.
    pub fn damaged(detail: impl fmt::Display) -> Self {
        tracing::error!(%detail, "stored data are damaged");
        Error::new(ErrorKind::Damaged, "data-damaged")
    }

    /// This error with a parameter of its reason.
    #[must_use]
    pub fn with<T: fmt::Display + ?Sized>(mut self, name: &'static str, value: &T) -> Self {
        self.reason = self.reason.with(name, value);
        self
    }

    /// This error with the reason behind its reason.
    #[must_use]
    pub fn because(mut self, cause: Reason) -> Self {
        self.reason = self.reason.because(cause);
        self
    }

    /// This error with a parameter that is another reason.
    #[must_use]
    pub fn with_reason(mut self, name: &'static str, value: Reason) -> Self {
        self.reason = self.reason.with_reason(name, value);
        self
    }

    /// This error with the specification's code.
    #[must_use]
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
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
            StoreError::Conflict { .. } => Error::new(ErrorKind::Conflict, "changed-meanwhile"),
            StoreError::TooLarge { .. } => Error::bad_request("rule-broken").with("detail", &error),
            StoreError::Malformed("cursor") => Error::bad_request("cursor-invalid"),
            StoreError::Busy | StoreError::Deadline => {
                tracing::warn!(%error, "the store refused work because it is overloaded");
                Error::new(
                    ErrorKind::Unavailable { retry_after: 1 },
                    "overloaded-briefly",
                )
            }
            StoreError::Full(_) => {
                tracing::error!(%error, "the store has no room");
                Error::new(ErrorKind::Full, "storage-full")
            }
            StoreError::WrongKey(_) => {
                tracing::error!(%error, "this process does not have the present master key");
                Error::new(
                    ErrorKind::Unavailable { retry_after: 5 },
                    "master-key-behind",
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
        self.reason.fmt(f)
    }
}
