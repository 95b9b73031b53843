//! What can go wrong with a call, and who must act on it.

use crate::guard::Refusal;

/// Why a call gave no answer. Holds no body, no header and no query of the call.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum NetError {
    /// The URL points where this instance does not call.
    #[error("address refused: {0}")]
    Refused(Refusal),
    /// Too many calls to this origin are under way.
    #[error("too many calls to this origin are under way")]
    Busy {
        /// Seconds to wait before trying again.
        retry_after: u64,
    },
    /// The host's name has no address.
    #[error("the host's name could not be resolved")]
    UnknownHost,
    /// No connection could be made; nothing of the call was sent.
    #[error("the host could not be reached")]
    Unconnected,
    /// The connection broke before the answer was here.
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
    /// The host redirects where redirects are not followed, or too often.
    #[error("the host redirects where no redirect is followed")]
    Redirected {
        /// HTTP status of the redirect.
        status: u16,
    },
    /// The answer is not proper HTTP, or not in a form that was asked for.
    #[error("the answer is malformed: {0}")]
    Malformed(&'static str),
    /// The call itself cannot be put into HTTP.
    #[error("the call is malformed: {0}")]
    BadCall(&'static str),
    /// The client cannot be set up.
    #[error("the outbound client cannot be set up: {0}")]
    Setup(String),
}

/// Who can do something about a [`NetError`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum WhoMustAct {
    /// Whoever supplied the URL.
    Caller,
    /// The host that was called, or the way to it; trying later may help.
    Peer,
    /// Nobody: come back later.
    Later,
    /// The operator of this instance.
    Operator,
}

impl NetError {
    /// Who can do something about it.
    pub fn who_must_act(&self) -> WhoMustAct {
        match self {
            Self::Refused(_) | Self::BadCall(_) => WhoMustAct::Caller,
            Self::Busy { .. } => WhoMustAct::Later,
            Self::Setup(_) => WhoMustAct::Operator,
            Self::UnknownHost
            | Self::Unconnected
            | Self::Unreachable
            | Self::Tls(_)
            | Self::TimedOut
            | Self::TooLarge { .. }
            | Self::Redirected { .. }
            | Self::Malformed(_) => WhoMustAct::Peer,
        }
    }

    /// Seconds after which the same call may succeed, where that is known.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Busy { retry_after } => Some(*retry_after),
            _ => None,
        }
    }

    /// Whether the same call may succeed later with nobody changing anything.
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

    /// Whether nothing of the call can have reached its host, so that making it again is making it once.
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
}
