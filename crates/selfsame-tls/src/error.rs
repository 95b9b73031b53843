//! Errors, by who must act.

use crate::alert::{Alert, Refusal};

/// Why a connection ended, or why a call failed. Contains nothing that the peer sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Error {
    /// We refused the peer and sent it this alert.
    #[error("the peer was refused: {0}")]
    Refused(Refusal),
    /// The peer sent this alert.
    #[error("the peer ended the connection: {0}")]
    Alerted(Alert),
    /// The stream ended without close_notify: data may be missing.
    #[error("the connection was cut off")]
    Truncated,
    /// The call is not possible in this state.
    #[error("{0}")]
    Misused(&'static str),
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// Why a configuration is invalid; the operator must act.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A private key is malformed or of a type that cannot sign handshakes.
    #[error("the private key can't be used for TLS")]
    Key,
    /// A certificate or trust anchor is malformed.
    #[error("a certificate is malformed")]
    Certificate,
    /// The certificate or credential does not belong to this key.
    #[error("the private key does not belong to the certificate")]
    KeyMismatch,
    /// A cipher suite or group is not supported, or none is listed.
    #[error("no usable cipher suite or group is listed")]
    Nothing,
    /// A server name is not a host name.
    #[error("the server's name is not a DNS name or an IP address")]
    Name,
    /// The policy would accept no peer, or every peer.
    #[error("the identity policy names no trusted issuer or no expected peer")]
    Policy,
    /// The profile has no code for a DID method.
    #[error("the profile has no code for the DID method")]
    Method,
    /// The profile does not carry credentials of a format, or of any accepted format.
    #[error("the profile does not support credentials of this format")]
    Format,
}
