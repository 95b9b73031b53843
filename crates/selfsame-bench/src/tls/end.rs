//! One end of the handshakes, in a process of its own: it follows orders, one a line, and reports the times.

use std::io::{BufRead, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use selfsame_tls::Connection;
use serde::{Deserialize, Serialize};

use super::cell::{Cell, Draw, Lookup};
use super::clock::{clock, now};
use super::ours::{Course, Ours, Resolve, failed};
use super::theirs::{self, Theirs};
use super::world::World;
use crate::Error;
use crate::process::usage_of_this;

/// The maximum time that an end waits for the other.
const PATIENCE: Duration = Duration::from_secs(60);

/// The role of an end.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndRole {
    /// It listens and measures the time.
    Server,
    /// It connects.
    Client,
}

/// The TLS implementation.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stack {
    /// Ours.
    Ours,
    /// rustls.
    Rustls,
    /// OpenSSL, in a program of its own.
    Openssl,
}

/// An order for both ends.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct EndOrder {
    /// The TLS implementation.
    pub stack: Stack,
    /// How both sides authenticate.
    pub cell: Cell,
    /// The source of DID documents.
    pub lookup: Lookup,
    /// The identities of each handshake, in order.
    pub draws: Vec<Draw>,
    /// Whether the connections stay open until the next order.
    pub hold: bool,
}

/// An end's answer to an order.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct EndOutcome {
    /// The times from the accepted stream to the open connection, in nanoseconds; only the server has them.
    pub nanoseconds: Vec<u64>,
    /// The times of requests to the registry for a DID, in nanoseconds.
    #[serde(default)]
    pub resolving: Vec<u64>,
    /// The bytes that the end sent until the last connection was open.
    pub sent: usize,
    /// The growth of the end's memory, in MB.
    #[serde(default)]
    pub grown_mb: f64,
}

/// A server's first output.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Listening {
    /// The server's port.
    pub port: u16,
}

/// Plays one end until its standard input ends. `port` is the server's port if the end is a client. The caller provides
/// `resolve`, which asks the registry.
///
/// # Errors
/// If a handshake fails.
pub fn play(world: &Path, port: Option<u16>, resolve: &Resolve<'_>) -> Result<(), Error> {
    let world = World::read(world)?;
    let mut end = BenchEnd {
        ours: Ours::new(&world, resolve)?,
        theirs: Theirs::new(&world)?,
        held: Vec::new(),
    };
    let place = match port {
        Some(port) => EndPlace::Client(port),
        None => EndPlace::Server(TcpListener::bind("127.0.0.1:0")?),
    };
    let port = match &place {
        EndPlace::Client(port) => *port,
        EndPlace::Server(listener) => listener.local_addr()?.port(),
    };
    tell(&Listening { port })?;
    for line in std::io::stdin().lock().lines() {
        let order = serde_json::from_str(&line?).map_err(std::io::Error::other)?;
        tell(&end.follow(&place, &order)?)?;
    }
    Ok(())
}

fn tell(what: &impl Serialize) -> Result<(), Error> {
    let mut line = serde_json::to_vec(what).map_err(std::io::Error::other)?;
    line.push(b'\n');
    let mut output = std::io::stdout().lock();
    output.write_all(&line)?;
    Ok(output.flush()?)
}

enum EndPlace {
    Server(TcpListener),
    Client(u16),
}

struct BenchEnd<'r> {
    ours: Ours<'r>,
    theirs: Theirs,
    held: Vec<(TcpStream, Connection)>,
}

impl BenchEnd<'_> {
    fn follow(&mut self, place: &EndPlace, order: &EndOrder) -> Result<EndOutcome, Error> {
        self.held.clear();
        let mut outcome = EndOutcome::default();
        let before = usage_of_this().rss_mb;
        for draw in &order.draws {
            let took = match order.stack {
                Stack::Ours => self.one_of_ours(place, order, *draw, &mut outcome)?,
                Stack::Rustls => self.one_of_theirs(place, order, *draw, &mut outcome)?,
                Stack::Openssl => return Err(failed("this program has no OpenSSL")),
            };
            if let EndPlace::Server(_) = place {
                outcome.nanoseconds.push(nanoseconds(took));
            }
        }
        outcome.grown_mb = usage_of_this().rss_mb - before;
        Ok(outcome)
    }

    /// Prepares everything before the stream exists, so that only the handshake is timed.
    fn one_of_ours(
        &mut self,
        place: &EndPlace,
        order: &EndOrder,
        draw: Draw,
        outcome: &mut EndOutcome,
    ) -> Result<Duration, Error> {
        let course = Course {
            cell: order.cell,
            lookup: order.lookup,
            now: now(),
        };
        let mut connection = match place {
            EndPlace::Server(_) => self.ours.server(course, draw)?,
            EndPlace::Client(_) => self.ours.client(course, draw)?,
        };
        let mut stream = place.stream()?;
        let began = clock();
        let shaken = self.ours.shake(&mut connection, &mut stream, course)?;
        let took = began.elapsed();
        outcome.sent = shaken.sent;
        let resolving = shaken.resolving.into_iter();
        outcome.resolving.extend(resolving.map(nanoseconds));
        if order.hold {
            self.held.push((stream, connection));
        }
        Ok(took)
    }

    fn one_of_theirs(
        &self,
        place: &EndPlace,
        order: &EndOrder,
        draw: Draw,
        outcome: &mut EndOutcome,
    ) -> Result<Duration, Error> {
        let mut connection = match place {
            EndPlace::Server(_) => self.theirs.server(order.cell, draw)?,
            EndPlace::Client(_) => self.theirs.client(order.cell, draw)?,
        };
        let mut stream = place.stream()?;
        let began = clock();
        outcome.sent = theirs::shake(&mut connection, &mut stream)?;
        Ok(began.elapsed())
    }
}

fn nanoseconds(took: Duration) -> u64 {
    took.as_nanos().try_into().unwrap_or(u64::MAX)
}

impl EndPlace {
    #[expect(
        clippy::disallowed_methods,
        reason = "the other end is a process of this bench, over loopback"
    )]
    fn stream(&self) -> Result<TcpStream, Error> {
        let stream = match self {
            Self::Server(listener) => listener.accept()?.0,
            Self::Client(port) => TcpStream::connect(("127.0.0.1", *port)).map_err(failed)?,
        };
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(stream)
    }
}
