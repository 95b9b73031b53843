//! The end of a connection whose peer gets an alert.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use crate::session::Session;

/// How long we read from a refused peer, so that it reads the alert and not a reset.
pub(crate) const FAREWELL: Duration = Duration::from_secs(1);
/// Bytes from a refused peer that we read and discard.
pub(crate) const MOST_LATE: usize = 64 * 1024;
const CHUNK: usize = 16 * 1024;

/// Sends all unsent bytes.
pub(crate) async fn flush<S: AsyncWrite + Unpin>(
    session: &mut Session,
    stream: &mut S,
) -> io::Result<()> {
    while !session.to_send().is_empty() {
        match stream.write(session.to_send()).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => session.sent(count),
        }
    }
    stream.flush().await
}

/// Sends the alert, and lets the peer read it: closing a socket with unread bytes resets the connection.
pub(crate) async fn leave<S>(session: &mut Session, stream: &mut S) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    flush(session, stream).await?;
    stream.shutdown().await?;
    let mut chunk = vec![0; CHUNK];
    let mut late = 0_usize;
    while late < MOST_LATE {
        match stream.read(&mut chunk).await? {
            0 => break,
            count => late = late.saturating_add(count),
        }
    }
    Ok(())
}
