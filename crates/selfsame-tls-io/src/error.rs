//! Why there is no connection, and what an error of a stream says.

use std::io;

/// Why a handshake did not end in a connection.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The transport failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// One side refused the other, or the transport ended in the middle.
    #[error(transparent)]
    Tls(#[from] selfsame_tls::Error),
    /// It took longer than [`crate::Settings::handshake`].
    #[error("the handshake took too long")]
    TimedOut,
    /// The first byte did not come within [`crate::Bounds::first_byte`].
    #[error("the other side said nothing")]
    Silent,
    /// Too many handshakes are under way, and this one gave way or found no place ([`crate::Bounds`]).
    #[error("too many handshakes are under way")]
    Crowded,
}

/// What TLS says, where that is why a stream's operation failed.
pub fn tls_error(error: &io::Error) -> Option<&selfsame_tls::Error> {
    error.get_ref()?.downcast_ref()
}

/// As an error of a stream.
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
