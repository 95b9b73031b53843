//! Handshakes over tokio's streams: bytes carried, needs gathered at once, time kept, a refusal told before the end.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use selfsame_crypto::time::UnixTime;
use selfsame_tls::evidence::Answer;
use selfsame_tls::identity::Peer;
use selfsame_tls::{ClientConfig, Connection, Need, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::error::Error;
use crate::gather::Gather;
use crate::session::Session;
use crate::settings::Settings;
use crate::stream::Stream;

/// How often it is looked at whether the evidence took too long.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long a peer that was refused may go on, so that it reads the alert and not a reset.
const FAREWELL: Duration = Duration::from_secs(1);
/// Bytes of such a peer that are thrown away.
const MOST_LATE: usize = 64 * 1024;
const CHUNK: usize = 16 * 1024;

/// A configuration that clones share, and that can be another one for further handshakes.
struct Shared<T>(Arc<RwLock<Arc<T>>>);

impl<T> Shared<T> {
    fn new(config: Arc<T>) -> Self {
        Self(Arc::new(RwLock::new(config)))
    }

    fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn set(&self, config: Arc<T>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = config;
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Takes the handshakes of clients.
pub struct Acceptor<G: ?Sized = dyn Gather> {
    config: Shared<ServerConfig>,
    settings: Settings<G>,
}

/// Makes handshakes with a server.
pub struct Connector<G: ?Sized = dyn Gather> {
    config: Shared<ClientConfig>,
    settings: Settings<G>,
}

impl<G: Gather + ?Sized> Acceptor<G> {
    /// An acceptor. The configuration's limits are shared by all its connections, clones of it included.
    pub fn new(config: Arc<ServerConfig>, settings: Settings<G>) -> Self {
        let config = Shared::new(config);
        Self { config, settings }
    }

    /// Makes further handshakes by this configuration, and so do all clones. Connections that are open go on.
    pub fn reconfigure(&self, config: Arc<ServerConfig>) {
        self.config.set(config);
    }

    /// Makes the handshake with one client.
    ///
    /// # Errors
    /// If the client is refused or refuses, if the transport fails, or if it takes too long.
    pub async fn accept<S>(&self, stream: S) -> Result<Stream<S>, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let ctx = (self.settings.clock)();
        let connection = Connection::server(&self.config.get(), &ctx);
        let session = Session::new(connection);
        handshake(session, stream, &self.settings, &mut |_| Ok(())).await
    }

    /// The same, where early data is taken ([`ServerConfig::with_early_data`]): `answer` is given what comes before the
    /// handshake is done, in pieces, and its answers are sent at once. It must do no harm if it is given the same twice.
    /// The stream has none of it.
    ///
    /// # Errors
    /// As [`Acceptor::accept`]; early data may have been answered all the same.
    pub async fn accept_early<S>(
        &self,
        stream: S,
        mut answer: impl FnMut(&Peer, &[u8]) -> Vec<u8>,
    ) -> Result<Stream<S>, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let ctx = (self.settings.clock)();
        let session = Session::new(Connection::server(&self.config.get(), &ctx));
        let mut early = |session: &mut Session| Ok(session.answer_early(&mut answer)?);
        handshake(session, stream, &self.settings, &mut early).await
    }
}

impl<G: Gather + ?Sized> Connector<G> {
    /// A connector to the server that the configuration expects.
    pub fn new(config: Arc<ClientConfig>, settings: Settings<G>) -> Self {
        let config = Shared::new(config);
        Self { config, settings }
    }

    /// Makes further handshakes by this configuration, and so do all clones. Connections that are open go on.
    pub fn reconfigure(&self, config: Arc<ClientConfig>) {
        self.config.set(config);
    }

    /// Makes the handshake. The server may still refuse us afterwards: its alert is then the first read's error.
    ///
    /// # Errors
    /// If the server is refused or refuses, if the transport fails, or if it takes too long.
    pub async fn connect<S>(&self, stream: S) -> Result<Stream<S>, Error>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let ctx = (self.settings.clock)();
        let session = Session::new(Connection::client(&self.config.get(), &ctx)?);
        handshake(session, stream, &self.settings, &mut |_| Ok(())).await
    }

    /// The same with data that goes along early, if there is a ticket that allows all of it
    /// ([`ClientConfig::with_early_data`]); whether the server took it. If not, it has to be written anew. It must do no
    /// harm if it comes twice.
    ///
    /// # Errors
    /// As [`Connector::connect`]; the server may have taken the data all the same.
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

/// Makes the handshake; `early` is asked whenever something has come.
async fn handshake<S, G, E>(
    mut session: Session,
    mut stream: S,
    settings: &Settings<G>,
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
    settings: &Settings<G>,
    early: &mut E,
) -> Result<(), Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
    G: Gather + ?Sized,
    E: FnMut(&mut Session) -> Result<(), Error>,
{
    let mut asked: HashSet<Need> = HashSet::new();
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
        // What comes while nothing can be done with it waits in the socket, where it costs us nothing.
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

async fn ask<G: Gather + ?Sized>(gather: &G, need: Need, now: UnixTime) -> Answer {
    gather.gather(&need, now).await
}

async fn flush<S: AsyncWrite + Unpin>(session: &mut Session, stream: &mut S) -> io::Result<()> {
    while !session.to_send().is_empty() {
        match stream.write(session.to_send()).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => session.sent(count),
        }
    }
    stream.flush().await
}

/// Tells the peer why, and lets it read that: a socket that is closed with bytes unread resets the connection.
async fn leave<S>(session: &mut Session, stream: &mut S) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    flush(session, stream).await?;
    stream.shutdown().await?;
    let mut chunk = vec![0; CHUNK];
    let mut late = 0_usize;
    while late < MOST_LATE {
        match stream.read(&mut chunk).await? {
            0 => break,
            count => late = late.saturating_add(count),
        }
    }
    Ok(())
}
