//! Why a message or an envelope is refused.

use selfsame_crypto::json::JsonError;
use selfsame_crypto::jwe::JweError;
use selfsame_crypto::jws::JwsError;
use selfsame_crypto::{KeyError, SignatureError};
use selfsame_did::{Did, DocumentError};

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
    /// An envelope was not opened or not made.
    #[error("{0}")]
    Jwe(#[from] JweError),
    /// A JWS was not read.
    #[error("{0}")]
    Jws(#[from] JwsError),
    /// A signature is not valid.
    #[error("{0}")]
    Signature(#[from] SignatureError),
    /// The document of this DID is needed. The recipient must resolve it and try again.
    #[error("the document of {0} is needed")]
    Unresolved(Box<Did>),
    /// The document of a DID does not give the key.
    #[error("{0}")]
    Document(#[from] DocumentError),
    /// The layers of an envelope do not agree.
    #[error("{0}")]
    Inconsistent(#[from] Inconsistency),
    /// A key cannot be used.
    #[error("the key cannot be used: {0}")]
    Key(#[from] KeyError),
}

/// On what the layers of an envelope do not agree (DIDComm v2.1, "Message Layer Addressing Consistency").
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Inconsistency {
    /// The sender's key is not one of the DID in `from`.
    #[error("the sender's key is not one of the DID in `from`")]
    Sender,
    /// The signing key is not one of the DID in `from`.
    #[error("the signing key is not one of the DID in `from`")]
    Signer,
    /// The recipient's DID is not in `to`, or a signed and encrypted message has no `to`.
    #[error("the recipient's DID is not in `to`")]
    Recipient,
    /// `apu` is not the sender's key.
    #[error("`apu` and `skid` name different keys of the sender")]
    Apu,
    /// `apv` is not the hash of the recipients' keys.
    #[error("`apv` is not the hash of the recipients' keys")]
    Apv,
    /// The layers stand in an order that is not allowed, or one stands twice.
    #[error("the envelopes are nested in an order that is not allowed")]
    Layers,
    /// `from_prior` is about another DID, or signed by a key of another.
    #[error("`from_prior` is not from the prior DID to the DID in `from`")]
    Rotation,
}
