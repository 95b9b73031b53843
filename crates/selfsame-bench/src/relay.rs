//! A relay on loopback that delays what passes, in each direction, as a network of that latency does.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant as Tick, sleep_until};

/// How much is read at once, and how many such pieces are on their way in one direction. More would be a window larger than
/// that of usual networks.
const PIECE: usize = 16 * 1024;
const UNDER_WAY: usize = 64;

/// A running relay; dropping it ends it. Connections that it carries end with their ends.
pub struct Relay {
    port: u16,
    running: AbortHandle,
}

/// What was read, and when it arrives.
struct Piece {
    arrives: Tick,
    bytes: Vec<u8>,
}

impl Relay {
    /// Relays connections from a free port to this port on loopback. Each byte arrives this much later.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start(to: u16, delay: Duration) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let to = SocketAddr::from((Ipv4Addr::LOCALHOST, to));
        let relaying = async move {
            while let Ok((inward, _)) = listener.accept().await {
                tokio::spawn(carry(inward, to, delay));
            }
        };
        let running = tokio::spawn(relaying).abort_handle();
        Ok(Self { port, running })
    }

    /// The port on loopback at which it listens.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// Carries one connection until both directions have ended.
#[expect(
    clippy::disallowed_methods,
    reason = "the relay stands for the network between two agents on loopback"
)]
async fn carry(inward: TcpStream, to: SocketAddr, delay: Duration) {
    let Ok(outward) = TcpStream::connect(to).await else {
        return;
    };
    let without_waiting = [&inward, &outward].map(|one| one.set_nodelay(true));
    if without_waiting.iter().any(Result::is_err) {
        return;
    }
    let (read_in, write_in) = inward.into_split();
    let (read_out, write_out) = outward.into_split();
    tokio::join!(
        pass(read_in, write_out, delay),
        pass(read_out, write_in, delay)
    );
}

/// Passes what comes in one direction, until its end.
async fn pass(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, delay: Duration) {
    let (sent, mut under_way) = mpsc::channel::<Piece>(UNDER_WAY);
    let reading = async move {
        let mut buffer = vec![0; PIECE];
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            let arrives = Tick::now() + delay;
            let bytes = buffer.get(..count).unwrap_or_default().to_vec();
            if sent.send(Piece { arrives, bytes }).await.is_err() {
                break;
            }
        }
    };
    let writing = async move {
        while let Some(piece) = under_way.recv().await {
            sleep_until(piece.arrives).await;
            if to.write_all(&piece.bytes).await.is_err() {
                return;
            }
        }
        let _ = to.shutdown().await;
    };
    tokio::join!(reading, writing);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::BenchClient;
    use crate::fake_server::{FakeServer, Reply};

    #[tokio::test]
    async fn an_answer_comes_later_by_the_delay_of_both_directions() {
        let server = FakeServer::start(|_| Reply {
            status: 200,
            content_type: "application/json",
            body: b"[1]".to_vec(),
            ..Reply::default()
        });
        let server = server.await.unwrap();
        let port = server.address().trim_end_matches('/').rsplit(':').next();
        let port = port.unwrap().parse().unwrap();
        let delay = Duration::from_millis(40);
        let relay = Relay::start(port, delay).await.unwrap();
        let client = BenchClient::new(&format!("http://127.0.0.1:{}", relay.port()));
        let began = Tick::now();
        let answer = client.get("/", "").await.unwrap();
        assert_eq!(answer, serde_json::json!([1]));
        assert!(began.elapsed() >= 2 * delay);
    }
}
