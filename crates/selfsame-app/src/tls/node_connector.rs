//! Connections of outbound calls to nodes, secured by DIDs and credentials.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use selfsame_net::{NetError, SecureNode, SecuredStream, Securing};
use selfsame_tls_io::{Connector, Error, Stream, Watch, tls_error};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Secures calls to a node by the handshake of `selfsame-tls`.
pub struct NodeConnector(pub Connector);

impl SecureNode for NodeConnector {
    fn secure(&self, stream: TcpStream, host: &str) -> Securing {
        let (connector, host) = (self.0.clone(), host.to_owned());
        Box::pin(async move {
            let secured = connector.connect(stream).await.map_err(refused)?;
            // As long as the pool keeps the connection, the peer's evidence is checked again.
            let peer = Arc::clone(secured.peer());
            let secured = secured.watched(async move {
                let lapse = connector.lapse(&peer, Watch::default()).await;
                tracing::info!(host, %lapse, "a connection to a node was ended");
                lapse
            });
            Ok(Box::new(Secured(secured)) as Box<dyn SecuredStream>)
        })
    }
}

fn refused(error: Error) -> io::Error {
    match error {
        Error::Tls(error) => io::Error::other(NetError::Tls(error.to_string())),
        Error::TimedOut | Error::Silent => io::Error::other(NetError::TimedOut),
        Error::Crowded => io::Error::other(error),
        Error::Io(error) => error,
    }
}

/// A connection whose TLS errors are those of calls.
struct Secured(Stream<TcpStream>);

fn told<T>(done: io::Result<T>) -> io::Result<T> {
    done.map_err(|error| match tls_error(&error) {
        Some(tls) => io::Error::new(error.kind(), NetError::Tls(tls.to_string())),
        None => error,
    })
}

impl AsyncRead for Secured {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Ready(told(ready!(Pin::new(&mut self.0).poll_read(cx, buffer))))
    }
}

impl AsyncWrite for Secured {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(told(ready!(Pin::new(&mut self.0).poll_write(cx, bytes))))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(told(ready!(Pin::new(&mut self.0).poll_flush(cx))))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(told(ready!(Pin::new(&mut self.0).poll_shutdown(cx))))
    }
}
