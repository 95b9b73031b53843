//! Plain TCP connections to addresses set by the operator, for proxies that make no calls of their own.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;

/// Connects to `host:port`. Tries each of its addresses until one answers. The address guard does not apply: the
/// operator configured the address, and private addresses are intended.
///
/// # Errors
/// If the host is unknown, if nothing listens there, or if connecting takes longer than `within`.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the crate that dials out"
)]
pub async fn dial(to: &str, within: Duration) -> io::Result<TcpStream> {
    let connected = tokio::time::timeout(within, TcpStream::connect(to)).await;
    let stream = connected.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
    stream.set_nodelay(true)?;
    Ok(stream)
}
