//! A bare TCP connection to where the operator said: for what carries connections and makes no calls of its own.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;

/// Connects to `host:port`, trying each of its addresses until one answers. No guard stands here: the address is the
/// operator's own word, and private ones are what is meant.
///
/// # Errors
/// If there is no such host, if nobody listens there, or if it takes longer than `within`.
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
