//! Why a document cannot be read or made.

use selfsame_cbor::CborError;
use selfsame_cbor::cose::CoseError;
use selfsame_crypto::KeyError;

/// Why a document cannot be read or made.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum MdocError {
    /// The bytes are not CBOR that can be read; their author must act.
    #[error(transparent)]
    Cbor(#[from] CborError),
    /// A message or a key of COSE is malformed; its author must act.
    #[error(transparent)]
    Cose(#[from] CoseError),
    /// A key cannot be used.
    #[error("a key of the document: {0}")]
    Key(#[from] KeyError),
    /// This member is missing or malformed; the author of the document must act.
    #[error("`{0}` is missing or malformed")]
    Malformed(&'static str),
    /// This version, algorithm or number of documents is not supported.
    #[error("{0} is not supported")]
    Unsupported(&'static str),
    /// A namespace has no such element, or a document no such namespace; who asks must act.
    #[error("the document has no element {0}")]
    NoElement(String),
    /// A value does not fit its element; who issues must act.
    #[error("the value of {element} is not {wanted}")]
    Value {
        /// The element.
        element: String,
        /// What its values are.
        wanted: &'static str,
    },
    /// There are more namespaces or elements than the limit.
    #[error("the document has too many elements")]
    TooMany,
}
