//! A server and a client, each in a process of its own, that perform the ordered handshakes.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::de::DeserializeOwned;

use super::end::{EndOrder, EndOutcome, Listening};
use super::ours::failed;
use crate::Error;

/// The program that plays an end, with its arguments and environment.
#[derive(Clone, Debug)]
pub struct Player {
    /// The program.
    pub executable: PathBuf,
    /// Its arguments; a client also gets the server's port.
    pub arguments: Vec<OsString>,
    /// Its environment variables.
    pub environment: Vec<(&'static str, OsString)>,
}

/// The processes of server and client.
pub struct Pair {
    server: PairProcess,
    client: PairProcess,
}

struct PairProcess {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Pair {
    /// Starts both processes.
    ///
    /// # Errors
    /// If one of them does not start.
    pub fn start(player: &Player) -> Result<Self, Error> {
        let (server, listening) = PairProcess::start(player, None)?;
        let (client, _) = PairProcess::start(player, Some(listening.port))?;
        Ok(Self { server, client })
    }

    /// Sends an order to both and returns the results of server and client.
    ///
    /// # Errors
    /// If a handshake fails.
    pub fn follow(&mut self, order: &EndOrder) -> Result<(EndOutcome, EndOutcome), Error> {
        self.server.tell(order)?;
        self.client.tell(order)?;
        // The client ends if the server does, but not the other way round.
        let client = self.client.hear()?;
        Ok((self.server.hear()?, client))
    }
}

impl PairProcess {
    fn start(player: &Player, port: Option<u16>) -> Result<(Self, Listening), Error> {
        let mut command = Command::new(&player.executable);
        command.args(&player.arguments);
        command.envs(player.environment.iter().map(|(name, value)| (name, value)));
        if let Some(port) = port {
            command.args(["--port", &port.to_string()]);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let streams = child.stdin.take().zip(child.stdout.take());
        let (input, output) = streams.ok_or_else(|| failed("no streams to the process"))?;
        let mut process = Self {
            child,
            input,
            output: BufReader::new(output).lines(),
        };
        let listening = process.hear()?;
        Ok((process, listening))
    }

    fn tell(&mut self, order: &EndOrder) -> Result<(), Error> {
        let line = serde_json::to_string(order).map_err(std::io::Error::other)?;
        Ok(writeln!(self.input, "{line}")?)
    }

    fn hear<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        let line = self.output.next();
        let line = line.ok_or_else(|| Error::Server("an end of the bench ended".to_owned()))??;
        Ok(serde_json::from_str(&line).map_err(std::io::Error::other)?)
    }
}

impl Drop for PairProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
