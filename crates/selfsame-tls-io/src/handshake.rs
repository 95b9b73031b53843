//! Handshakes over tokio's streams: bytes carried, needs gathered at once, time kept, a refusal told before the end.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use selfsame_crypto::time::UnixTime;
use selfsame_tls::evidence::Answer;
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

/// Takes the handshakes of clients.
#[derive(Clone, Debug)]
pub struct Acceptor<G: ?Sized = dyn Gather> {
    config: Arc<ServerConfig>,
    settings: Settings<G>,
}

/// Makes handshakes with a server.
#[derive(Clone, Debug)]
pub struct Connector<G: ?Sized = dyn Gather> {
    config: Arc<ClientConfig>,
    settings: Settings<G>,
}

impl<G: Gather + ?Sized> Acceptor<G> {
    /// An acceptor. The configuration's limits are shared by all its connections, clones of it included.
    pub fn new(config: Arc<ServerConfig>, settings: Settings<G>) -> Self {
        Self { config, settings }
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
        let connection = Connection::server(&self.config, &ctx);
        handshake(connection, stream, &self.settings).await
    }
}

impl<G: Gather + ?Sized> Connector<G> {
    /// A connector to the server that the configuration expects.
    pub fn new(config: Arc<ClientConfig>, settings: Settings<G>) -> Self {
        Self { config, settings }
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
        let connection = Connection::client(&self.config, &ctx)?;
        handshake(connection, stream, &self.settings).await
    }
}

async fn handshake<S, G>(
    connection: Connection,
    mut stream: S,
    settings: &Settings<G>,
) -> Result<Stream<S>, Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
    G: Gather + ?Sized,
{
    let mut session = Session::new(connection);
    let driven = drive(&mut session, &mut stream, settings);
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

async fn drive<S, G>(
    session: &mut Session,
    stream: &mut S,
    settings: &Settings<G>,
) -> Result<(), Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
    G: Gather + ?Sized,
{
    let mut asked: HashSet<Need> = HashSet::new();
    let mut gathering = FuturesUnordered::new();
    let mut chunk = vec![0; CHUNK];
    let mut look = tokio::time::interval(LOOK_EVERY);
    loop {
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
