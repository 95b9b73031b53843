//! Why a handshake failed, and TLS errors as stream errors.

use std::io;

/// Why a handshake failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The transport failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// One side refused the other, or the transport ended during the handshake.
    #[error(transparent)]
    Tls(#[from] selfsame_tls::Error),
    /// The handshake took longer than [`crate::HandshakeSettings::handshake`].
    #[error("the handshake took too long")]
    TimedOut,
    /// The first byte did not come within [`crate::Bounds::first_byte`].
    #[error("the other side sent nothing")]
    Silent,
    /// Too many handshakes are in progress; this one lost its place or found none free ([`crate::Bounds`]).
    #[error("too many handshakes are in progress")]
    Crowded,
}

/// The TLS error behind a stream's error, if there is one.
pub fn tls_error(error: &io::Error) -> Option<&selfsame_tls::Error> {
    error.get_ref()?.downcast_ref()
}

/// A TLS error as a stream's error.
pub(crate) fn to_io(error: selfsame_tls::Error) -> io::Error {
    use selfsame_tls::Error as Tls;
    let kind = match error {
        Tls::Refused(_) => io::ErrorKind::InvalidData,
        Tls::Alerted(_) => io::ErrorKind::ConnectionAborted,
        Tls::Truncated => io::ErrorKind::UnexpectedEof,
        Tls::Misused(_) => io::ErrorKind::BrokenPipe,
    };
    io::Error::new(kind, error)
}
