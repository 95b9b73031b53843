//! Calls to nodes: exact origins whose connections are secured by a connector from outside, in place of HTTPS.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tower::Service;

use crate::dial::dial;

/// A secured connection.
pub trait SecuredStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> SecuredStream for T {}

/// A handshake in progress.
pub type Securing = Pin<Box<dyn Future<Output = io::Result<Box<dyn SecuredStream>>> + Send>>;

/// Secures the connections to a node. If an error of the handshake or of the stream wraps a [`crate::NetError`], that
/// is the error of the call.
pub trait SecureNode: Send + Sync {
    /// Makes the handshake over a connection that was just made to `host`.
    fn secure(&self, stream: TcpStream, host: &str) -> Securing;
}

/// Connects to the host of a URL, or to its configured address, and makes the handshake.
#[derive(Clone)]
pub(crate) struct NodeConnector {
    pub(crate) node: Arc<dyn SecureNode>,
    pub(crate) hosts: Arc<BTreeMap<String, Vec<IpAddr>>>,
    pub(crate) connect_timeout: Duration,
}

impl NodeConnector {
    async fn connect(self, uri: Uri) -> io::Result<NodeStream> {
        let host = uri.host().unwrap_or_default();
        let port = uri.port_u16().unwrap_or(443);
        let to = match self.hosts.get(host).and_then(|known| known.first()) {
            Some(address) => SocketAddr::new(*address, port).to_string(),
            None => format!("{host}:{port}"),
        };
        let stream = dial(&to, self.connect_timeout).await?;
        let secured = self.node.secure(stream, host).await?;
        Ok(NodeStream(TokioIo::new(secured)))
    }
}

impl Service<Uri> for NodeConnector {
    type Response = NodeStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<NodeStream>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}

/// A connection to an accepted node.
pub(crate) struct NodeStream(TokioIo<Box<dyn SecuredStream>>);

impl Connection for NodeStream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for NodeStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl Write for NodeStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
