//! What can go wrong, by who must act.

use crate::alert::{Alert, Refusal};

/// Why a connection ended, or did not do what it was asked. Holds nothing a peer sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Error {
    /// We refused the peer; it was sent this alert.
    #[error("the peer was refused: {0}")]
    Refused(Refusal),
    /// The peer refused us, or failed.
    #[error("the peer ended the connection: {0}")]
    Alerted(Alert),
    /// The stream ended without the peer having said so: something may be missing.
    #[error("the connection was cut off")]
    Truncated,
    /// The caller asked for what cannot be done now.
    #[error("{0}")]
    Misused(&'static str),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Why a configuration cannot be used; the operator must act.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A private key is malformed or of a kind that does not sign handshakes.
    #[error("the private key cannot be used for TLS")]
    Key,
    /// A certificate or trust anchor is malformed.
    #[error("a certificate is malformed")]
    Certificate,
    /// The certificate or credential is not for this key.
    #[error("the private key does not belong to the certificate")]
    KeyMismatch,
    /// A cipher suite or group is not supported, or none is listed.
    #[error("no cipher suite or group that can be used is listed")]
    Nothing,
    /// A server name that is no host name.
    #[error("the server's name is not a DNS name or an IP address")]
    Name,
    /// Nobody could be let in, or anybody could.
    #[error("the identity policy names nobody, or does not say who is expected")]
    Policy,
    /// The profile has no code for a DID method.
    #[error("the profile has no code for the DID method")]
    Method,
    /// The profile does not carry credentials of a format, or none of those that are accepted.
    #[error("the profile does not carry credentials of this format")]
    Format,
}
