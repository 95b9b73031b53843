//! The second listener, for nodes that authenticate with DIDs and credentials.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use selfsame_http::serve::nodes::{AdmittedNode, Admitting, NodeGate, NodePeer};
use selfsame_tls_io::{Acceptor, Watch, name_of};
use tokio::net::{TcpListener, TcpStream};

/// A second listener, for nodes with DIDs and credentials (`docs/tls.md`). It serves the same addresses as the first.
#[derive(Debug)]
pub struct Nodes {
    /// The socket.
    pub listener: TcpListener,
    /// Decides which nodes are admitted.
    pub acceptor: Acceptor,
}

/// Admits nodes by the handshake of `selfsame-tls`.
#[derive(Debug)]
pub struct TlsGate(pub Acceptor);

impl NodeGate for TlsGate {
    fn admit(&self, stream: TcpStream, from: IpAddr) -> Admitting {
        let acceptor = self.0.clone();
        Box::pin(async move {
            let secured = acceptor.accept_from(stream, from).await;
            let secured = secured.map_err(io::Error::other)?;
            let peer = Arc::clone(secured.peer());
            let name = name_of(&peer.kind);
            tracing::info!(node = name, "a node was admitted");
            let node = NodePeer(Arc::clone(&peer));
            // As long as the connection is open, the node's evidence is checked again.
            let secured = secured.watched(async move {
                let lapse = acceptor.lapse(&peer, Watch::default()).await;
                tracing::info!(node = name, %lapse, "a node's connection was ended");
                lapse
            });
            let stream = Box::new(secured);
            Ok(AdmittedNode { node, stream })
        })
    }
}
