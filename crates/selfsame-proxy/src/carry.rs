//! The connections of a proxy: the handshake, the other end, the bytes, and how it went.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use selfsame_crypto::time::UnixTime;
use selfsame_tls::identity::Peer;
use selfsame_tls::{ClientConfig, ServerConfig};
use selfsame_tls_io::{
    Acceptor, Carried, Connector, Error, Gather, HandshakeClock, Lapse, Watch, name_of, relay_until,
};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::header::header;
use crate::{Figures, ProxyBounds};

/// The pause after a failed accept, so that a lack of resources does not cause a busy loop.
const BREATH: Duration = Duration::from_millis(50);

/// The direction of a proxy.
pub enum Direction {
    /// TLS in, plain out to the service.
    Inward {
        /// Makes the handshakes.
        acceptor: Acceptor<dyn Gather>,
        /// The service: HOST:PORT.
        to: String,
        /// Whether the service gets a header about the client.
        tells: bool,
    },
    /// Plain in, TLS out.
    Outward {
        /// Makes the handshakes.
        connector: Connector<dyn Gather>,
        /// The server: HOST:PORT.
        to: String,
    },
}

/// The TLS configuration: what is presented, and which peers are admitted.
pub enum Terms {
    /// For TLS in.
    Server(Arc<ServerConfig>),
    /// For TLS out.
    Client(Arc<ClientConfig>),
}

/// A proxy: what all its connections share.
pub struct Relay {
    /// Its direction.
    pub direction: Direction,
    /// How often peers are verified again, and how long a connection lasts.
    pub watch: Watch,
    /// Its limits.
    pub bounds: ProxyBounds,
    /// Its counters.
    pub figures: Arc<Figures>,
    /// The time.
    pub clock: HandshakeClock,
}

/// How a connection went.
pub struct Carriage {
    /// The client's address.
    pub from: SocketAddr,
    /// The peer, or why there was no connection.
    pub admitted: Result<Admitted, Error>,
    /// Bytes to the service.
    pub up: u64,
    /// Bytes from the service.
    pub down: u64,
    /// Why the connection was cut off, if it was.
    pub cut: Option<io::Error>,
}

/// A peer, and when it was admitted.
pub struct Admitted {
    /// The peer.
    pub peer: Arc<Peer>,
    /// The time.
    pub at: UnixTime,
}

/// Connects to the other end; an error names it.
async fn reach(to: &str, within: Duration) -> io::Result<TcpStream> {
    let dialled = selfsame_net::dial(to, within).await;
    dialled.map_err(|error| io::Error::new(error.kind(), format!("{to}: {error}")))
}

impl Relay {
    /// Sets the configuration for new connections, and to verify the open ones again.
    pub fn reconfigure(&self, terms: Terms) {
        match (&self.direction, terms) {
            (Direction::Inward { acceptor, .. }, Terms::Server(config)) => {
                acceptor.reconfigure(config)
            }
            (Direction::Outward { connector, .. }, Terms::Client(config)) => {
                connector.reconfigure(config)
            }
            // A proxy never changes its direction.
            (Direction::Inward { .. }, Terms::Client(_))
            | (Direction::Outward { .. }, Terms::Server(_)) => {}
        }
    }

    /// Carries connections from this listener until `stop` completes, and tells how each one went. Returns the number of
    /// those that were cut because they did not end in time.
    pub async fn serve(
        self: Arc<Self>,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
        tell: impl Fn(&Carriage) + Clone + Send + 'static,
    ) -> usize {
        let is_inward = matches!(self.direction, Direction::Inward { .. });
        let room = self.bounds.room(is_inward);
        let mut open = JoinSet::new();
        tokio::pin!(stop);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut stop => break,
                Some(_) = open.join_next() => continue,
                accepted = listener.accept() => accepted,
            };
            let Ok((stream, from)) = accepted else {
                tokio::time::sleep(BREATH).await;
                continue;
            };
            let place = match room.take(from.ip()) {
                Ok(place) => place,
                Err(full) => {
                    tracing::warn!(%from, "{full}");
                    self.figures.turned_away();
                    continue;
                }
            };
            let (relay, tell) = (Arc::clone(&self), tell.clone());
            let counted = self.figures.open();
            open.spawn(async move {
                let carriage = relay.carry(stream, from).await;
                drop(counted);
                tell(&carriage);
                drop(place);
            });
        }
        drop(listener);
        let ended = async { while open.join_next().await.is_some() {} };
        match tokio::time::timeout(self.bounds.grace, ended).await {
            Ok(()) => 0,
            Err(_) => open.len(),
        }
    }

    /// Relays a connection to its end.
    async fn carry(&self, stream: TcpStream, from: SocketAddr) -> Carriage {
        let _best_effort = stream.set_nodelay(true);
        match self.connected(stream, from).await {
            Ok((admitted, carried, ended)) => {
                if let Err(error) = &ended {
                    tracing::debug!(%from, %error, "a connection was cut off");
                }
                Carriage {
                    from,
                    admitted: Ok(admitted),
                    up: carried.up,
                    down: carried.down,
                    cut: ended.err(),
                }
            }
            Err(error) => {
                tracing::info!(%from, %error, "a connection was refused");
                self.figures.refused(&error);
                Carriage {
                    from,
                    admitted: Err(error),
                    up: 0,
                    down: 0,
                    cut: None,
                }
            }
        }
    }

    async fn connected(
        &self,
        stream: TcpStream,
        from: SocketAddr,
    ) -> Result<(Admitted, Carried, io::Result<()>), Error> {
        let dial = self.bounds.dial;
        let (mut secure, mut plain, is_inward) = match &self.direction {
            // The service is called only for an admitted client.
            Direction::Inward {
                acceptor,
                to,
                tells,
            } => {
                let secure = acceptor.accept_from(stream, from.ip()).await?;
                let mut plain = reach(to, dial).await?;
                if *tells {
                    let here = secure.get_ref().local_addr()?;
                    let protocol = secure.connection().protocol();
                    plain
                        .write_all(&header(&secure.peer().kind, from, here, protocol)?)
                        .await?;
                }
                (secure, plain, true)
            }
            Direction::Outward { connector, to } => {
                let far = reach(to, dial).await?;
                (connector.connect(far).await?, stream, false)
            }
        };
        let peer = Arc::clone(secure.peer());
        let at = (self.clock)().now();
        self.figures.accepted(&peer.kind, peer.resumed.is_some());
        let idle = self.bounds.idle;
        let end = self.lapse(&peer, from);
        let (carried, ended) = match is_inward {
            true => relay_until(&mut secure, &mut plain, idle, end).await,
            false => relay_until(&mut plain, &mut secure, idle, end).await,
        };
        self.figures.ended(carried, &ended);
        if let Err(error) = &ended {
            if let Some(lapse) = error.get_ref().and_then(|why| why.downcast_ref::<Lapse>()) {
                secure.end(*lapse).await;
            }
            // A regular close would look like a complete transfer.
            let _best_effort = plain.set_zero_linger();
        }
        Ok((Admitted { peer, at }, carried, ended))
    }

    /// Completes when the connection must end, whatever its two ends want.
    async fn lapse(&self, peer: &Peer, from: SocketAddr) -> io::Error {
        let lapse = match &self.direction {
            Direction::Inward { acceptor, .. } => acceptor.lapse(peer, self.watch).await,
            Direction::Outward { connector, .. } => connector.lapse(peer, self.watch).await,
        };
        let peer = name_of(&peer.kind);
        tracing::info!(%from, peer, %lapse, "an open connection was ended");
        self.figures.lapsed(&lapse);
        io::Error::new(io::ErrorKind::ConnectionAborted, lapse)
    }
}
