//! The listener for nodes: who is admitted, and how, is decided by the gate that it is given.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// Makes the handshake in which both sides prove who they are by DIDs and credentials.
pub trait NodeGate: fmt::Debug + Send + Sync {
    /// Makes it over a connection that was just accepted from this address. It ends by itself, in time.
    fn admit(&self, stream: TcpStream, from: IpAddr) -> Admitting;
}

/// A handshake in progress.
pub type Admitting = Pin<Box<dyn Future<Output = io::Result<AdmittedNode>> + Send>>;

/// A node that was admitted, and its connection.
pub struct AdmittedNode {
    /// The node.
    pub node: NodePeer,
    /// The connection. It ends once the node would not be admitted any more.
    pub stream: Box<dyn NodeStream>,
}

/// A connection of a node.
pub trait NodeStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> NodeStream for S {}

/// The node that sent a request, as an extension of the request: it was admitted and has proved its identity.
#[derive(Clone, Debug)]
pub struct NodePeer(pub Arc<selfsame_tls::identity::Peer>);
