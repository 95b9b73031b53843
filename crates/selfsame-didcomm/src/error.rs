//! Why a message or an envelope is refused.

use selfsame_crypto::json::JsonError;
use selfsame_crypto::jws::JwsError;
use selfsame_crypto::{KeyError, SignatureError};

/// Why a message or an envelope was not read, or not made. The sender must act, unless a variant says otherwise.
/// Messages never repeat the content.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Error {
    /// The text is longer than the limit, or has more parts than the limit.
    #[error("the {0} is too large")]
    TooLarge(&'static str),
    /// The text is not JSON within the limits.
    #[error("the message cannot be read: {0}")]
    Json(#[from] JsonError),
    /// A required member is missing.
    #[error("the member `{0}` is missing")]
    Missing(&'static str),
    /// A member has the wrong form.
    #[error("the {0} is malformed")]
    Malformed(&'static str),
    /// The content of an attachment is somewhere else, and must be fetched first. The recipient must act.
    #[error("the content of the attachment is at a link")]
    Linked,
    /// A JWS was not read.
    #[error("{0}")]
    Jws(#[from] JwsError),
    /// A signature is not valid.
    #[error("{0}")]
    Signature(#[from] SignatureError),
    /// A key cannot be used.
    #[error("the key cannot be used: {0}")]
    Key(#[from] KeyError),
}
