//! Connections between the engines that can be cut without closing them, as in a broken network.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Wires between nodes.
pub struct Wires {
    ends: Vec<SocketAddr>,
    sides: Arc<watch::Sender<Vec<usize>>>,
}

/// One direction of one connection.
struct Way {
    from: usize,
    to: usize,
    sides: watch::Receiver<Vec<usize>>,
}

impl Wires {
    /// Creates wires that are all connected.
    pub fn new(ends: impl Iterator<Item = SocketAddr>) -> Self {
        let ends: Vec<SocketAddr> = ends.collect();
        let sides = Arc::new(watch::Sender::new(vec![0; ends.len()]));
        Self { ends, sides }
    }

    /// The address at which node `from` reaches node `to`.
    pub async fn between(&self, from: usize, to: usize) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (end, sides) = (self.ends[to], self.sides.clone());
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let way = |from, to| Way {
                    from,
                    to,
                    sides: sides.subscribe(),
                };
                tokio::spawn(join(near, end, (way(from, to), way(to, from))));
            }
        });
        address
    }

    /// Divides the nodes: only nodes of one side reach each other.
    pub fn divide(&self, sides: &[usize]) {
        self.sides.send_replace(sides.to_vec());
    }
}

impl Way {
    /// Waits until data can pass.
    async fn open(&mut self) {
        let (from, to) = (self.from, self.to);
        let whole = self.sides.wait_for(|sides| sides[from] == sides[to]).await;
        // The network's sender is gone when its test is over.
        let _ = whole;
    }

    async fn carry(mut self, mut source: OwnedReadHalf, mut target: OwnedWriteHalf) {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = source.read(&mut buffer).await {
            self.open().await;
            if target.write_all(&buffer[..length]).await.is_err() {
                return;
            }
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "a wire of the test, not a call of a use case"
)]
async fn join(near: TcpStream, end: SocketAddr, (mut there, back): (Way, Way)) {
    there.open().await;
    let Ok(far) = TcpStream::connect(end).await else {
        return;
    };
    // Small messages are sent at once.
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
    tokio::select! {
        () = there.carry(near_in, far_out) => {}
        () = back.carry(far_in, near_out) => {}
    }
}
