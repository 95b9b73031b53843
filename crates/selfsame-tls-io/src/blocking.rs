//! Blocking connections, for programs without a runtime: `std::io` streams over a socket or any reader and writer.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use selfsame_tls::evidence::NeedAnswer;
use selfsame_tls::identity::Peer;
use selfsame_tls::{ClientConfig, Connection, HandshakeNeed, ServerConfig};

use crate::error::{Error, to_io};
use crate::farewell::{FAREWELL, MOST_LATE};
use crate::gather::GatherBlocking;
use crate::session::Session;
use crate::settings::{HandshakeClock, HandshakeSettings};

const CHUNK: usize = 16 * 1024;
/// How often the handshake checks whether the evidence took too long.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What a connection runs over.
pub trait Transport: Read + Write {
    /// Sets the time-out of reads and writes; `None` for no time-out.
    ///
    /// # Errors
    /// Errors of the transport.
    fn wait_at_most(&mut self, time: Option<Duration>) -> io::Result<()>;

    /// Shuts the transport down for writing.
    ///
    /// # Errors
    /// Errors of the transport.
    fn end_writing(&mut self) -> io::Result<()>;
}

impl Transport for TcpStream {
    fn wait_at_most(&mut self, time: Option<Duration>) -> io::Result<()> {
        self.set_read_timeout(time)?;
        self.set_write_timeout(time)
    }

    fn end_writing(&mut self) -> io::Result<()> {
        self.shutdown(Shutdown::Write)
    }
}

/// Any reader and writer; time-outs, if any, are its own. A handshake over it can time out late, when a read returns.
#[derive(Debug)]
pub struct Plain<T>(pub T);

impl<T: Read> Read for Plain<T> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to)
    }
}

impl<T: Write> Write for Plain<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<T: Read + Write> Transport for Plain<T> {
    fn wait_at_most(&mut self, _time: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    fn end_writing(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes the handshake with one client.
///
/// # Errors
/// If either side refuses the other, if the transport fails, or if it takes too long.
pub fn accept<S: Transport, G: GatherBlocking + ?Sized>(
    stream: S,
    config: &Arc<ServerConfig>,
    settings: &HandshakeSettings<G>,
) -> Result<Stream<S>, Error> {
    let session = Session::new(Connection::server(config, &(settings.clock)()));
    handshake(session, stream, settings, &mut |_| Ok(()))
}

/// Like [`accept`], and takes early data ([`ServerConfig::with_early_data`]). `answer` gets the early data in pieces
/// before the handshake is done, and its replies are sent at once. A replayed request must do no harm. The stream does
/// not contain the early data.
///
/// # Errors
/// As [`accept`]; early data may have been answered even so.
pub fn accept_early<S: Transport, G: GatherBlocking + ?Sized>(
    stream: S,
    config: &Arc<ServerConfig>,
    settings: &HandshakeSettings<G>,
    mut answer: impl FnMut(&Peer, &[u8]) -> Vec<u8>,
) -> Result<Stream<S>, Error> {
    let session = Session::new(Connection::server(config, &(settings.clock)()));
    let mut early = |session: &mut Session| Ok(session.answer_early(&mut answer)?);
    handshake(session, stream, settings, &mut early)
}

/// Makes the handshake with the server that the configuration expects. The server may still refuse us afterwards; the
/// first read then fails with its alert.
///
/// # Errors
/// If either side refuses the other, if the transport fails, or if it takes too long.
pub fn connect<S: Transport, G: GatherBlocking + ?Sized>(
    stream: S,
    config: &Arc<ClientConfig>,
    settings: &HandshakeSettings<G>,
) -> Result<Stream<S>, Error> {
    let session = Session::new(Connection::client(config, &(settings.clock)())?);
    handshake(session, stream, settings, &mut |_| Ok(()))
}

/// Like [`connect`], and sends `data` early if a ticket allows all of it ([`ClientConfig::with_early_data`]). The
/// `bool` says whether the server took it; if not, write it again. The data must do no harm if it arrives twice.
///
/// # Errors
/// As [`connect`]; the server may have taken the data even so.
pub fn connect_early<S: Transport, G: GatherBlocking + ?Sized>(
    stream: S,
    config: &Arc<ClientConfig>,
    settings: &HandshakeSettings<G>,
    data: &[u8],
) -> Result<(Stream<S>, bool), Error> {
    let mut session = Session::new(Connection::client(config, &(settings.clock)())?);
    let is_sent = session.send_early(data)?;
    let stream = handshake(session, stream, settings, &mut |_| Ok(()))?;
    let is_taken = is_sent && stream.connection().is_early_data_taken();
    Ok((stream, is_taken))
}

/// A connection to an accepted peer.
///
/// Reads return 0 bytes once the peer has said that it sends no more; a transport that ends without that is an error,
/// [`io::ErrorKind::UnexpectedEof`]. If the stream is dropped without [`Stream::close`], the peer sees a cut.
pub struct Stream<S> {
    stream: S,
    session: Session,
    clock: HandshakeClock,
    peer: Arc<Peer>,
    /// Why accepted data could not be sent; the next call returns it.
    late: Option<io::Error>,
}

impl<S> Stream<S> {
    /// The peer, and each rule that was checked.
    pub fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// The connection, for its protocol, its parameters and exported key material.
    pub fn connection(&self) -> &Connection {
        self.session.connection()
    }

    /// The transport.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }

    /// Changes our sending key, and asks the peer to change its own; sent with the next write or flush.
    ///
    /// # Errors
    /// If we have said that we send no more.
    pub fn update_keys(&mut self) -> Result<(), Error> {
        Ok(self.session.update_keys()?)
    }
}

impl<S: Transport> Stream<S> {
    /// Says that we send no more, and leaves reading open.
    ///
    /// # Errors
    /// Errors of the transport.
    pub fn close(&mut self) -> io::Result<()> {
        self.session.close();
        self.send()?;
        self.stream.end_writing()
    }

    /// Writes all protected bytes to the transport, unless an earlier write failed.
    fn send(&mut self) -> io::Result<()> {
        match self.late.take() {
            Some(error) => Err(error),
            None => send(&mut self.session, &mut self.stream),
        }
    }
}

impl<S: std::fmt::Debug> std::fmt::Debug for Stream<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream")
            .field("stream", &self.stream)
            .field("peer", &self.peer.kind)
            .finish_non_exhaustive()
    }
}

impl<S: Transport> Read for Stream<S> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let mut chunk = [0; CHUNK];
        loop {
            if let Some(count) = self.session.read(to)? {
                return Ok(count);
            }
            self.late.take().map_or(Ok(()), Err)?;
            let count = self.stream.read(&mut chunk)?;
            let bytes = chunk.get(..count).unwrap_or_default();
            let received = self.session.receive(bytes, &(self.clock)());
            // An answer to a KeyUpdate, or an alert.
            let sent = send(&mut self.session, &mut self.stream);
            received.map_err(to_io)?;
            sent?;
        }
    }
}

impl<S: Transport> Write for Stream<S> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.send()?;
        let count = self.session.write(data)?;
        // The data is accepted and its records are queued; an error here would make the caller write it again.
        self.late = self.send().err().filter(|error| !is_not_yet(error));
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

/// Whether the transport may accept more later, so that the next call tries again.
fn is_not_yet(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

fn send<S: Transport>(session: &mut Session, stream: &mut S) -> io::Result<()> {
    while !session.to_send().is_empty() {
        match stream.write(session.to_send()) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => session.sent(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    stream.flush()
}

/// Makes the handshake. Calls `early` after each event.
fn handshake<S, G, E>(
    mut session: Session,
    mut stream: S,
    settings: &HandshakeSettings<G>,
    early: &mut E,
) -> Result<Stream<S>, Error>
where
    S: Transport,
    G: GatherBlocking + ?Sized,
    E: FnMut(&mut Session) -> Result<(), Error>,
{
    match drive(&mut session, &mut stream, settings, early) {
        Ok(peer) => {
            stream.wait_at_most(None)?;
            Ok(Stream {
                stream,
                session,
                clock: Arc::clone(&settings.clock),
                peer,
                late: None,
            })
        }
        Err(error) => {
            let _best_effort = leave(&mut session, &mut stream);
            Err(error)
        }
    }
}

fn drive<S, G, E>(
    session: &mut Session,
    stream: &mut S,
    settings: &HandshakeSettings<G>,
    early: &mut E,
) -> Result<Arc<Peer>, Error>
where
    S: Transport,
    G: GatherBlocking + ?Sized,
    E: FnMut(&mut Session) -> Result<(), Error>,
{
    let deadline = Deadline::after(settings.handshake);
    let mut gathering = Gathering::new(settings);
    let mut chunk = [0; CHUNK];
    loop {
        early(session)?;
        stream.wait_at_most(Some(deadline.left()?))?;
        send(session, stream).map_err(late)?;
        if let Some(peer) = session.peer() {
            return Ok(Arc::new(peer.clone()));
        }
        gathering.ask(session.needs());
        if session.connection().is_suspended() {
            if let Some(answer) = gathering.wait(deadline.left()?.min(LOOK_EVERY)) {
                session.provide(answer, &(settings.clock)())?;
            }
            session.check_patience(&(settings.clock)())?;
        } else {
            let count = stream.read(&mut chunk).map_err(late)?;
            let bytes = chunk.get(..count).unwrap_or_default();
            session.receive(bytes, &(settings.clock)())?;
        }
    }
}

/// Reports a time-out of the transport as a time-out of the handshake.
fn late(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Error::TimedOut,
        _ => Error::Io(error),
    }
}

/// Sends the alert, and lets the peer read it: closing a socket with unread bytes resets the connection.
fn leave<S: Transport>(session: &mut Session, stream: &mut S) -> Result<(), Error> {
    let deadline = Deadline::after(FAREWELL);
    stream.wait_at_most(Some(FAREWELL))?;
    send(session, stream)?;
    stream.end_writing()?;
    let mut chunk = [0; CHUNK];
    let mut read = 0_usize;
    while read < MOST_LATE {
        stream.wait_at_most(Some(deadline.left()?))?;
        match stream.read(&mut chunk)? {
            0 => break,
            count => read = read.saturating_add(count),
        }
    }
    Ok(())
}

struct Deadline {
    since: Instant,
    time: Duration,
}

impl Deadline {
    #[expect(
        clippy::disallowed_methods,
        reason = "a time-out, not a time of the protocol"
    )]
    fn after(time: Duration) -> Self {
        Self {
            since: Instant::now(),
            time,
        }
    }

    /// The time left, never zero.
    fn left(&self) -> Result<Duration, Error> {
        let left = self.time.saturating_sub(self.since.elapsed());
        match left.is_zero() {
            true => Err(Error::TimedOut),
            false => Ok(left),
        }
    }
}

/// Needs being gathered, each on its own thread.
struct Gathering<'a, G: ?Sized> {
    settings: &'a HandshakeSettings<G>,
    asked: HashSet<HandshakeNeed>,
    sender: Sender<NeedAnswer>,
    answers: Receiver<NeedAnswer>,
}

impl<'a, G: GatherBlocking + ?Sized> Gathering<'a, G> {
    fn new(settings: &'a HandshakeSettings<G>) -> Self {
        let (sender, answers) = mpsc::channel();
        Self {
            settings,
            asked: HashSet::new(),
            sender,
            answers,
        }
    }

    fn ask(&mut self, needs: &[HandshakeNeed]) {
        for need in needs {
            if !self.asked.insert(need.clone()) {
                continue;
            }
            let gather = Arc::clone(&self.settings.gather);
            let (need, sender) = (need.clone(), self.sender.clone());
            let now = (self.settings.clock)().now();
            std::thread::spawn(move || {
                // The receiver is gone if the handshake has ended: then the answer is late.
                let _late = sender.send(gather.gather(&need, now));
            });
        }
    }

    /// The next answer, if it arrives in time.
    fn wait(&self, time: Duration) -> Option<NeedAnswer> {
        self.answers.recv_timeout(time).ok()
    }
}
