//! One end in a process of its own: does what it is told, line by line, and says what it took.

use std::io::{BufRead, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use selfsame_crypto::time::UnixTime;
use selfsame_tls::Connection;
use serde::{Deserialize, Serialize};

use super::ours::{Ours, failed};
use super::theirs::{self, Theirs};
use super::world::World;
use super::{Cell, Draw};
use crate::Error;
use crate::process::usage_of_this;

/// How long an end waits for the other.
const PATIENCE: Duration = Duration::from_secs(60);

/// Which end it is.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It listens, and is where time is taken.
    Server,
    /// It connects.
    Client,
}

/// Whose TLS is spoken.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stack {
    /// Ours.
    Ours,
    /// rustls.
    Rustls,
}

/// What both ends are told.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Order {
    /// Whose TLS.
    pub stack: Stack,
    /// How both prove who they are.
    pub cell: Cell,
    /// How many handshakes, one after the other.
    pub count: u64,
    /// Where the draws begin.
    pub seed: u64,
    /// Whether the connections stay open until the next order.
    pub hold: bool,
}

/// What an end says of an order.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Outcome {
    /// From the accepted stream to the open connection, in nanoseconds; the server's alone.
    pub nanoseconds: Vec<u64>,
    /// The bytes the end sent until the last connection was open.
    pub sent: usize,
    /// How much memory the end took more afterwards, in MB.
    pub grown_mb: f64,
}

/// What a server says first.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub struct Listening {
    /// Its port.
    pub port: u16,
}

/// Plays one end until its standard input ends. A client is told the server's port.
///
/// # Errors
/// If a handshake fails.
pub fn play(world: &Path, port: Option<u16>) -> Result<(), Error> {
    let world = World::read(world)?;
    let size = world.servers.members.len().min(world.clients.members.len());
    let mut end = End {
        ours: Ours::new(&world)?,
        theirs: Theirs::new(&world)?,
        size,
        held: Vec::new(),
    };
    let place = match port {
        Some(port) => Place::Client(port),
        None => Place::Server(TcpListener::bind("127.0.0.1:0")?),
    };
    let port = match &place {
        Place::Client(port) => *port,
        Place::Server(listener) => listener.local_addr()?.port(),
    };
    tell(&Listening { port })?;
    for line in std::io::stdin().lock().lines() {
        let order = serde_json::from_str(&line?).map_err(std::io::Error::other)?;
        tell(&end.follow(&place, order)?)?;
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

enum Place {
    Server(TcpListener),
    Client(u16),
}

struct End {
    ours: Ours,
    theirs: Theirs,
    size: usize,
    held: Vec<(TcpStream, Connection)>,
}

impl End {
    fn follow(&mut self, place: &Place, order: Order) -> Result<Outcome, Error> {
        self.held.clear();
        let mut outcome = Outcome::default();
        let before = usage_of_this().rss_mb;
        for number in 0..order.count {
            let draw = Draw::nth(order.seed, number, self.size);
            let (took, sent) = match order.stack {
                Stack::Ours => self.one_of_ours(place, order, draw)?,
                Stack::Rustls => self.one_of_theirs(place, order, draw)?,
            };
            outcome.sent = sent;
            if let Place::Server(_) = place {
                let took = took.as_nanos().try_into().unwrap_or(u64::MAX);
                outcome.nanoseconds.push(took);
            }
        }
        outcome.grown_mb = usage_of_this().rss_mb - before;
        Ok(outcome)
    }

    /// Everything is prepared before the stream is there, so that only the handshake is timed.
    fn one_of_ours(
        &mut self,
        place: &Place,
        order: Order,
        draw: Draw,
    ) -> Result<(Duration, usize), Error> {
        let now = now();
        let mut connection = match place {
            Place::Server(_) => self.ours.server(order.cell, draw, now)?,
            Place::Client(_) => self.ours.client(order.cell, draw, now)?,
        };
        let mut stream = place.stream()?;
        let began = clock();
        let sent = self.ours.shake(&mut connection, &mut stream, now)?;
        let took = began.elapsed();
        if order.hold {
            self.held.push((stream, connection));
        }
        Ok((took, sent))
    }

    fn one_of_theirs(
        &self,
        place: &Place,
        order: Order,
        draw: Draw,
    ) -> Result<(Duration, usize), Error> {
        let mut connection = match place {
            Place::Server(_) => self.theirs.server(order.cell, draw)?,
            Place::Client(_) => self.theirs.client(order.cell, draw)?,
        };
        let mut stream = place.stream()?;
        let began = clock();
        let sent = theirs::shake(&mut connection, &mut stream)?;
        Ok((began.elapsed(), sent))
    }
}

impl Place {
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

#[expect(clippy::disallowed_methods, reason = "time is what is measured")]
pub(super) fn clock() -> Instant {
    Instant::now()
}

/// The time by the machine's clock, for what certificates and credentials are judged by.
#[expect(clippy::disallowed_methods, reason = "this process has no other clock")]
pub(super) fn now() -> UnixTime {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    UnixTime(since.map_or(0, |since| since.as_secs()))
}
