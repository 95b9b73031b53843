//! Errors of calls, and which of them may pass by themselves.

use crate::guard::GuardRefusal;

/// Why a call failed. Contains no body, header or query of the call.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NetError {
    /// The URL points to an address that this instance does not call.
    #[error("address refused: {0}")]
    Refused(GuardRefusal),
    /// Too many calls to this origin are in progress.
    #[error("too many calls to this origin are under way")]
    Busy {
        /// Seconds to wait before trying again.
        retry_after: u64,
    },
    /// The host name has no address.
    #[error("the host's name could not be resolved")]
    UnknownHost,
    /// No connection could be made; no part of the call was sent.
    #[error("the host could not be reached")]
    Unconnected,
    /// The connection broke before the answer was complete.
    #[error("the connection broke before the answer was here")]
    Unreachable,
    /// The host's certificate or TLS parameters were refused.
    #[error("the TLS connection was refused: {0}")]
    Tls(String),
    /// No complete answer in time.
    #[error("no complete answer in time")]
    TimedOut,
    /// The answer is larger than the limit.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The host redirects too often, or the call follows no redirects.
    #[error("the host redirects where no redirect is followed")]
    Redirected {
        /// HTTP status of the redirect.
        status: u16,
    },
    /// The answer is not valid HTTP, or not in a requested form.
    #[error("the answer is malformed: {0}")]
    Malformed(&'static str),
    /// The call cannot be expressed in HTTP.
    #[error("the call is malformed: {0}")]
    BadCall(&'static str),
    /// The client cannot be created.
    #[error("the outbound client cannot be set up: {0}")]
    Setup(String),
}

impl NetError {
    /// Whether this call may succeed later without any change.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. }
                | Self::Unconnected
                | Self::Unreachable
                | Self::TimedOut
                | Self::UnknownHost
        )
    }

    /// Whether no part of the call can have reached its host, so that repeating the call is safe.
    pub fn is_unsent(&self) -> bool {
        matches!(
            self,
            Self::Refused(_)
                | Self::Busy { .. }
                | Self::UnknownHost
                | Self::Unconnected
                | Self::BadCall(_)
                | Self::Setup(_)
        )
    }

    /// The reason that may be shown to anyone. All causes in the host's name, address or network share one reason;
    /// otherwise anyone could use this instance to explore its operator's network.
    pub fn public_reason(&self) -> String {
        match self {
            Self::Busy { .. }
            | Self::TooLarge { .. }
            | Self::Redirected { .. }
            | Self::Malformed(_) => self.to_string(),
            Self::Refused(_)
            | Self::UnknownHost
            | Self::Unconnected
            | Self::Unreachable
            | Self::Tls(_)
            | Self::TimedOut
            | Self::BadCall(_)
            | Self::Setup(_) => "its host did not respond".to_owned(),
        }
    }

    /// Whether a failed call is repeated. Causes that share one public reason must also behave as one: a call to a
    /// refused address in the operator's network is repeated like one to an unknown name.
    pub fn is_retried(&self) -> bool {
        self.is_transient() || matches!(self, Self::Refused(_))
    }
}
