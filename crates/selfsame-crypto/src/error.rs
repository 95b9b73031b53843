//! Why keys and signatures are refused.

/// Why a key cannot be used. The sender of the key must act; on `Backend`, the operator.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum KeyError {
    /// The bytes or members do not encode a key.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// The key's type or curve is not supported.
    #[error("unsupported kind of key")]
    Unsupported,
    /// The key is too weak to be secure.
    #[error("weak {0}")]
    Weak(&'static str),
    /// A private or shared key was given where a public key is expected.
    #[error("private key material where a public key belongs")]
    Private,
    /// The cryptographic library failed.
    #[error("the cryptographic library failed")]
    Backend,
}

/// Why a signature was not accepted.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SignatureError {
    /// The algorithm does not fit this key type.
    #[error("the signature algorithm does not fit the key")]
    WrongAlgorithm,
    /// The signature was not made by this key over this message.
    #[error("the signature is not valid")]
    Invalid,
}
