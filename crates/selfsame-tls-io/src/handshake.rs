//! Handshakes over tokio streams: carries bytes, gathers evidence, enforces time-outs, and sends the alert on refusal.

use std::collections::HashSet;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use selfsame_crypto::time::UnixTime;
use selfsame_tls::evidence::NeedAnswer;
use selfsame_tls::identity::Peer;
use selfsame_tls::{ClientConfig, Connection, HandshakeNeed, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::sync::{Semaphore, watch};

use crate::error::Error;
use crate::farewell::{FAREWELL, flush, leave};
use crate::gather::Gather;
use crate::room::{Bounds, HandshakeSeat, Handshakes};
use crate::session::Session;
use crate::settings::HandshakeSettings;
use crate::stream::Stream;
use crate::watch::{AT_ONCE, Lapse, Watch, Watched};

/// How often the handshake checks whether the evidence took too long.
const LOOK_EVERY: Duration = Duration::from_millis(500);
const CHUNK: usize = 16 * 1024;

/// A configuration shared by clones, which can be replaced for later handshakes.
struct ReplaceableConfig<T> {
    config: watch::Sender<Arc<T>>,
    /// Limits how many open connections are judged again at the same time.
    at_once: Arc<Semaphore>,
}

impl<T> ReplaceableConfig<T> {
    fn new(config: Arc<T>) -> Self {
        Self {
            config: watch::Sender::new(config),
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    fn get(&self) -> Arc<T> {
        Arc::clone(&self.config.borrow())
    }

    fn set(&self, config: Arc<T>) {
        self.config.send_replace(config);
    }

    /// Watches a peer, judging it by the configuration current at each check.
    fn watched<'a, G: ?Sized>(
        &'a self,
        peer: &'a Peer,
        settings: &'a HandshakeSettings<G>,
    ) -> Watched<'a, T, G> {
        Watched {
            peer,
            settings,
            at_once: &self.at_once,
            config: self.config.subscribe(),
        }
    }
}

impl<T> Clone for ReplaceableConfig<T> {
    fn clone(&self) -> Self {
        Self {
            config: self.config.clone(),
            at_once: Arc::clone(&self.at_once),
        }
    }
}

/// Accepts TLS connections from clients.
pub struct Acceptor<G: ?Sized = dyn Gather> {
    config: ReplaceableConfig<ServerConfig>,
    settings: HandshakeSettings<G>,
    handshakes: Handshakes,
}

/// Opens TLS connections to a server.
pub struct Connector<G: ?Sized = dyn Gather> {
    config: ReplaceableConfig<ClientConfig>,
    settings: HandshakeSettings<G>,
}

impl<G: Gather + ?Sized> Acceptor<G> {
    /// An acceptor. All its connections, and those of its clones, share the configuration's limits.
    pub fn new(config: Arc<ServerConfig>, settings: HandshakeSettings<G>) -> Self {
        Self {
            config: ReplaceableConfig::new(config),
            settings,
            handshakes: Handshakes::new(Bounds::default()),
        }
    }

    /// Sets the bounds on handshakes in progress, which clones share.
    #[must_use]
    pub fn with_bounds(self, bounds: Bounds) -> Self {
        let handshakes = Handshakes::new(bounds);
        Self { handshakes, ..self }
    }

    /// Uses this configuration for later handshakes of this acceptor and its clones. Open connections continue, unless
    /// they are watched and the new configuration refuses their peer.
    pub fn reconfigure(&self, config: Arc<ServerConfig>) {
        self.config.set(config);
    }

    /// Watches an open connection to this client and returns once it has to end; the caller ends it. Each check uses
    /// the current configuration, so [`Acceptor::reconfigure`] makes all watched connections be judged again.
    pub async fn lapse(&self, peer: &Peer, how: Watch) -> Lapse {
        let watched = self.config.watched(peer, &self.settings);
        watched.until_lapse(how).await
    }

    /// Makes the handshake with one client whose address is unknown.
    ///
    /// # Errors
    /// If either side refuses the other, if the transport fails, if it takes too long, or if no place is free.
    pub async fn accept<S>(&self, stream: S) -> Result<Stream<S>, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let seat = self.handshakes.enter(None)?;
        self.seated(seat, stream, &mut |_| Ok(())).await
    }

    /// Like [`Acceptor::accept`], for a client at address `from`, which gets at most the places of one address
    /// ([`Bounds::share`]).
    ///
    /// # Errors
    /// As [`Acceptor::accept`].
    pub async fn accept_from<S>(&self, stream: S, from: IpAddr) -> Result<Stream<S>, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let seat = self.handshakes.enter(Some(from))?;
        self.seated(seat, stream, &mut |_| Ok(())).await
    }

    /// Makes the handshake that holds this place. The place is freed when the handshake is done.
    async fn seated<S, E>(
        &self,
        seat: HandshakeSeat,
        stream: S,
        early: &mut E,
    ) -> Result<Stream<S>, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
        E: FnMut(&mut Session) -> Result<(), Error>,
    {
        let ctx = (self.settings.clock)();
        let session = Session::new(Connection::server(&self.config.get(), &ctx));
        let has_heard = AtomicBool::new(false);
        let mut told = false;
        let mut look = |session: &mut Session| {
            has_heard.fetch_or(session.has_heard(), Ordering::Relaxed);
            if session.has_spoken() && !std::mem::replace(&mut told, true) {
                seat.said_hello();
            }
            early(session)
        };
        tokio::select! {
            ended = handshake(session, stream, &self.settings, &mut look) => ended,
            error = seat.is_lost(&has_heard) => Err(error),
        }
    }

    /// Like [`Acceptor::accept`], and takes early data ([`ServerConfig::with_early_data`]). `answer` gets the early
    /// data in pieces before the handshake is done, and its replies are sent at once. A replayed request must do no
    /// harm. The stream does not contain the early data.
    ///
    /// # Errors
    /// As [`Acceptor::accept`]; early data may have been answered even so.
    pub async fn accept_early<S>(
        &self,
        stream: S,
        mut answer: impl FnMut(&Peer, &[u8]) -> Vec<u8>,
    ) -> Result<Stream<S>, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let seat = self.handshakes.enter(None)?;
        let mut early = |session: &mut Session| Ok(session.answer_early(&mut answer)?);
        self.seated(seat, stream, &mut early).await
    }
}

impl<G: Gather + ?Sized> Connector<G> {
    /// A connector to the server that the configuration expects.
    pub fn new(config: Arc<ClientConfig>, settings: HandshakeSettings<G>) -> Self {
        let config = ReplaceableConfig::new(config);
        Self { config, settings }
    }

    /// Uses this configuration for later handshakes of this connector and its clones. Open connections continue, unless
    /// they are watched and the new configuration refuses their peer.
    pub fn reconfigure(&self, config: Arc<ClientConfig>) {
        self.config.set(config);
    }

    /// Watches an open connection to this server and returns once it has to end; the caller ends it. Each check uses
    /// the current configuration, so [`Connector::reconfigure`] makes all watched connections be judged again.
    pub async fn lapse(&self, peer: &Peer, how: Watch) -> Lapse {
        let watched = self.config.watched(peer, &self.settings);
        watched.until_lapse(how).await
    }

    /// Makes the handshake. The server may still refuse us afterwards; the first read then fails with its alert.
    ///
    /// # Errors
    /// If either side refuses the other, if the transport fails, or if it takes too long.
    pub async fn connect<S>(&self, stream: S) -> Result<Stream<S>, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let ctx = (self.settings.clock)();
        let session = Session::new(Connection::client(&self.config.get(), &ctx)?);
        handshake(session, stream, &self.settings, &mut |_| Ok(())).await
    }

    /// Like [`Connector::connect`], and sends `data` early if a ticket allows all of it
    /// ([`ClientConfig::with_early_data`]). The `bool` says whether the server took it; if not, write it again. The
    /// data must do no harm if it arrives twice.
    ///
    /// # Errors
    /// As [`Connector::connect`]; the server may have taken the data even so.
    pub async fn connect_early<S>(&self, stream: S, data: &[u8]) -> Result<(Stream<S>, bool), Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let ctx = (self.settings.clock)();
        let mut session = Session::new(Connection::client(&self.config.get(), &ctx)?);
        let is_sent = session.send_early(data)?;
        let stream = handshake(session, stream, &self.settings, &mut |_| Ok(())).await?;
        let is_taken = is_sent && stream.connection().is_early_data_taken();
        Ok((stream, is_taken))
    }
}

impl<G: ?Sized> fmt::Debug for Acceptor<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acceptor")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl<G: ?Sized> Clone for Acceptor<G> {
    fn clone(&self) -> Self {
        Self {
            config: self.config.clone(),
            settings: self.settings.clone(),
            handshakes: self.handshakes.clone(),
        }
    }
}

impl<G: ?Sized> fmt::Debug for Connector<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connector")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl<G: ?Sized> Clone for Connector<G> {
    fn clone(&self) -> Self {
        Self {
            config: self.config.clone(),
            settings: self.settings.clone(),
        }
    }
}

/// Makes the handshake. Calls `early` after each event.
async fn handshake<S, G, E>(
    mut session: Session,
    mut stream: S,
    settings: &HandshakeSettings<G>,
    early: &mut E,
) -> Result<Stream<S>, Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
    G: Gather + ?Sized,
    E: FnMut(&mut Session) -> Result<(), Error>,
{
    let driven = drive(&mut session, &mut stream, settings, early);
    let driven = tokio::time::timeout(settings.handshake, driven).await;
    match driven.unwrap_or(Err(Error::TimedOut)) {
        Ok(()) => Ok(Stream::new(session, stream, Arc::clone(&settings.clock))?),
        Err(error) => {
            let _best_effort =
                tokio::time::timeout(FAREWELL, leave(&mut session, &mut stream)).await;
            Err(error)
        }
    }
}

async fn drive<S, G, E>(
    session: &mut Session,
    stream: &mut S,
    settings: &HandshakeSettings<G>,
    early: &mut E,
) -> Result<(), Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
    G: Gather + ?Sized,
    E: FnMut(&mut Session) -> Result<(), Error>,
{
    let mut asked: HashSet<HandshakeNeed> = HashSet::new();
    let mut gathering = FuturesUnordered::new();
    let mut chunk = vec![0; CHUNK];
    let mut look = tokio::time::interval(LOOK_EVERY);
    loop {
        early(session)?;
        flush(session, stream).await?;
        if session.connection().is_open() {
            return Ok(());
        }
        for need in session.needs() {
            if asked.insert(need.clone()) {
                let now = (settings.clock)().now();
                gathering.push(ask(&*settings.gather, need.clone(), now));
            }
        }
        // While the handshake is suspended, bytes wait in the socket's buffer, which takes none of our memory.
        let may_read = !session.connection().is_suspended();
        let waits = !session.needs().is_empty();
        tokio::select! {
            read = stream.read(&mut chunk), if may_read => {
                let bytes = chunk.get(..read?).unwrap_or_default();
                session.receive(bytes, &(settings.clock)())?;
            }
            Some(answer) = gathering.next(), if !gathering.is_empty() => {
                session.provide(answer, &(settings.clock)())?;
            }
            _ = look.tick(), if waits => session.check_patience(&(settings.clock)())?,
        }
    }
}

async fn ask<G: Gather + ?Sized>(gather: &G, need: HandshakeNeed, now: UnixTime) -> NeedAnswer {
    gather.gather(&need, now).await
}
