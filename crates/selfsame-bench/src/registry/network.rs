//! Four validators on this machine. Each node is two processes, our half and the engine, as `selfsame registry node`
//! runs them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::Error;
use crate::client::BenchClient;
use crate::port::free_port;
use crate::process::{Program, family, usage};

/// The number of validators.
const VALIDATORS: u16 = 4;
/// The maximum time until the network has signed a checkpoint, and until a node has stopped.
const PATIENCE: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_millis(20);
/// The log file of our half, in the node's folder.
const LOG: &str = "node.log";
/// The ledger's files in a node's folder: the database and its write-ahead log.
const LEDGER: [&str; 2] = ["ledger.sqlite", "ledger.sqlite-wal"];
/// The folder of the engine's blocks and state.
const ENGINE: &str = "engine/data";

/// A running network.
pub struct BenchNetwork {
    /// Its nodes.
    pub nodes: Vec<BenchNode>,
}

/// A node, which can be stopped and started.
pub struct BenchNode {
    /// A client of the node.
    pub client: BenchClient,
    /// Its operator's token.
    pub token: String,
    home: PathBuf,
    executable: PathBuf,
    running: Option<RunningHalf>,
}

/// Our half's process.
struct RunningHalf {
    child: Child,
    /// The node runs while this is open.
    leash: Option<ChildStdin>,
}

#[derive(Deserialize)]
struct StartedNode {
    nodes: Vec<NodePlace>,
}

#[derive(Deserialize)]
struct NodePlace {
    home: PathBuf,
    listen: String,
}

impl BenchNetwork {
    /// Creates a network in a folder and starts its nodes.
    ///
    /// # Errors
    /// If the engine's program is missing, or the network has signed nothing after a minute.
    #[expect(clippy::disallowed_methods, reason = "a start has a deadline")]
    pub async fn start(program: &Program, folder: &Path) -> Result<Self, Error> {
        let port = free_port()?;
        let init = Command::new(&program.executable)
            .args(["registry", "init", "--json", "--name", "bench"])
            .args(["--validators", &VALIDATORS.to_string()])
            .args(["--port", &port.to_string()])
            .arg(folder)
            .stderr(Stdio::inherit())
            .output()?;
        let made: StartedNode = serde_json::from_slice(&init.stdout)
            .map_err(|_| Error::Server("no network could be made".to_owned()))?;
        let mut nodes: Vec<BenchNode> = made.nodes.into_iter().map(|at| at.node(program)).collect();
        for node in &mut nodes {
            node.start()?;
        }
        let began = Instant::now();
        for node in &mut nodes {
            while !node.client.is_ready().await || !node.has_signed().await {
                node.still_runs()?;
                if began.elapsed() > PATIENCE {
                    return Err(Error::Server("the network is not ready".to_owned()));
                }
                tokio::time::sleep(AGAIN).await;
            }
            let token = std::fs::read_to_string(node.home.join("operator-token"))?;
            token.trim().clone_into(&mut node.token);
        }
        Ok(Self { nodes })
    }
}

impl NodePlace {
    fn node(self, program: &Program) -> BenchNode {
        BenchNode {
            client: BenchClient::new(&format!("http://{}", self.listen)),
            token: String::new(),
            home: self.home,
            executable: program.executable.clone(),
            running: None,
        }
    }
}

impl BenchNode {
    /// Starts both halves of the node.
    ///
    /// # Errors
    /// If the program can't be run.
    pub fn start(&mut self) -> Result<(), Error> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(self.home.join(LOG))?;
        let mut child = Command::new(&self.executable)
            .args(["registry", "node", "--leashed"])
            .arg(&self.home)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        let leash = child.stdin.take();
        self.running = Some(RunningHalf { child, leash });
        Ok(())
    }

    /// Asks both halves to stop and waits until they have.
    ///
    /// # Errors
    /// If they have not stopped after a minute.
    #[expect(clippy::disallowed_methods, reason = "a stop has a deadline")]
    pub async fn stop(&mut self) -> Result<(), Error> {
        let Some(mut running) = self.running.take() else {
            return Ok(());
        };
        drop(running.leash.take());
        let began = Instant::now();
        while running.child.try_wait()?.is_none() {
            if began.elapsed() > PATIENCE {
                return Err(Error::Server("a node does not stop".to_owned()));
            }
            tokio::time::sleep(AGAIN).await;
        }
        Ok(())
    }

    /// Whether the node's ledger has the transaction with that number.
    pub async fn has(&self, number: u64) -> bool {
        let path = format!("/api/registry/entries?first={number}&count=1");
        let found = self.client.get(&path, &self.token).await;
        let items = found.ok().and_then(|found| {
            let items = found.get("items")?.as_array()?;
            Some(items.len())
        });
        items == Some(1)
    }

    /// The current memory of its two processes, in MB.
    #[must_use]
    pub fn memory(&self) -> f64 {
        let own = self.running.iter().map(|running| running.child.id());
        own.flat_map(family).map(|id| usage(id).rss_mb).sum()
    }

    /// The size of the ledger's files, in bytes.
    #[must_use]
    pub fn ledger_bytes(&self) -> u64 {
        let size = |name| std::fs::metadata(self.home.join(name)).map_or(0, |file| file.len());
        LEDGER.into_iter().map(size).sum()
    }

    /// The size of the engine's files, in bytes.
    #[must_use]
    pub fn engine_bytes(&self) -> u64 {
        bytes_below(&self.home.join(ENGINE))
    }

    async fn has_signed(&self) -> bool {
        self.client.get_bytes("/registry/checkpoint").await.is_ok()
    }

    fn still_runs(&mut self) -> Result<(), Error> {
        let ended = match &mut self.running {
            Some(running) => running.child.try_wait()?,
            None => None,
        };
        let Some(status) = ended else {
            return Ok(());
        };
        let said = std::fs::read_to_string(self.home.join(LOG)).unwrap_or_default();
        let last = said.lines().last().unwrap_or_default();
        Err(Error::Server(format!("a node ended with {status}: {last}")))
    }
}

impl Drop for RunningHalf {
    fn drop(&mut self) {
        // The engine ends with our half, which holds a pipe to it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(data) if data.is_dir() => bytes_below(&entry.path()),
            Ok(data) => data.len(),
            Err(_) => 0,
        })
        .sum()
}
