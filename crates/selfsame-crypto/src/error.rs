//! Why keys and signatures are refused.

/// Why a key cannot be used. Whoever sent the key must act; on `Backend`, the operator.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum KeyError {
    /// The bytes or members are not an encoding of a key.
    #[error("malformed {0}")]
    Malformed(&'static str),
    /// The key is of a kind or curve that is not supported here.
    #[error("unsupported kind of key")]
    Unsupported,
    /// The key is too weak to mean anything.
    #[error("weak {0}")]
    Weak(&'static str),
    /// A private or shared key stands where a public key belongs.
    #[error("private key material where a public key belongs")]
    Private,
    /// The cryptographic library failed.
    #[error("the cryptographic library failed")]
    Backend,
}

/// Why a signature was not accepted.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SignatureError {
    /// The algorithm does not belong to this kind of key.
    #[error("the signature algorithm does not fit the key")]
    WrongAlgorithm,
    /// The signature was not made by this key over this message.
    #[error("the signature is not valid")]
    Invalid,
}
