//! One end of `selfsame bench tls` with OpenSSL, a baseline for handshakes with certificates. It performs the
//! handshakes that each line on its standard input orders, and prints their times as the bench's own ends do.
#![allow(
    clippy::disallowed_methods,
    reason = "time is what is measured, and the other end is on loopback"
)]

mod context;
mod counted;

use std::error::Error;
use std::io::{BufRead, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use openssl::ssl::{Ssl, SslContext};
use serde::{Deserialize, Serialize};

use context::World;
use counted::Counted;

/// The maximum time that an end waits for the other.
const PATIENCE: Duration = Duration::from_secs(60);

/// An order for both ends; fields that do not concern certificates are not read.
#[derive(Deserialize)]
struct Order {
    cell: Cell,
    draws: Vec<Draw>,
}

#[derive(Deserialize)]
struct Cell {
    client: Option<String>,
}

#[derive(Deserialize)]
struct Draw {
    server: usize,
    client: usize,
}

/// This end's answer to an order.
#[derive(Default, Serialize)]
struct Outcome {
    /// The times from the accepted stream to the open connection; only the server has them.
    nanoseconds: Vec<u64>,
    /// The bytes sent in the last handshake.
    sent: usize,
}

#[derive(Serialize)]
struct Listening {
    port: u16,
}

enum Place {
    Server(TcpListener),
    Client(u16),
}

fn main() -> ExitCode {
    match play() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn play() -> Result<(), Box<dyn Error>> {
    let (file, port) = arguments()?;
    let world = World::read(&file)?;
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
        let order: Order = serde_json::from_str(&line?)?;
        tell(&follow(&world, &place, &order)?)?;
    }
    Ok(())
}

/// Parses `--world FILE` and, for a client, `--port PORT`.
fn arguments() -> Result<(PathBuf, Option<u16>), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut world, mut port) = (None, None);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or("an option has no value")?;
        match name.as_str() {
            "--world" => world = Some(PathBuf::from(value)),
            "--port" => port = Some(value.parse()?),
            _ => return Err(format!("unknown option {name}").into()),
        }
    }
    Ok((world.ok_or("--world is missing")?, port))
}

fn tell(what: &impl Serialize) -> Result<(), Box<dyn Error>> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    let mut output = std::io::stdout().lock();
    output.write_all(&line)?;
    Ok(output.flush()?)
}

/// Prepares everything before the stream exists, so that only the handshake is timed.
fn follow(world: &World, place: &Place, order: &Order) -> Result<Outcome, Box<dyn Error>> {
    let is_mutual = order.cell.client.is_some();
    let mut outcome = Outcome::default();
    for draw in &order.draws {
        let context = match place {
            Place::Server(_) => world.server(draw.server, is_mutual)?,
            Place::Client(_) => world.client(is_mutual.then_some(draw.client))?,
        };
        let (took, sent) = shake(place, &context)?;
        outcome.sent = sent;
        if let Place::Server(_) = place {
            let took = took.as_nanos().try_into().unwrap_or(u64::MAX);
            outcome.nanoseconds.push(took);
        }
    }
    Ok(outcome)
}

fn shake(place: &Place, context: &SslContext) -> Result<(Duration, usize), Box<dyn Error>> {
    let mut ssl = Ssl::new(context)?;
    if let Place::Client(_) = place {
        ssl.param_mut().set_host(context::NAME)?;
        ssl.set_hostname(context::NAME)?;
    }
    let stream = match place {
        Place::Server(listener) => listener.accept()?.0,
        Place::Client(port) => TcpStream::connect(("127.0.0.1", *port))?,
    };
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let began = Instant::now();
    let stream = Counted::new(stream);
    let connection = match place {
        Place::Server(_) => ssl.accept(stream),
        Place::Client(_) => ssl.connect(stream),
    };
    let took = began.elapsed();
    let connection = connection.map_err(|error| format!("a handshake failed: {error:?}"))?;
    Ok((took, connection.get_ref().sent()))
}
