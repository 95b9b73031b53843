//! A network on this machine alone: each node is a separate process, so that the others continue if one is killed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use selfsame_abci::Engine;
use selfsame_ledger::config::{Pin, RegistryNode};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::files::{self, Serve, TRUST_ROOT};
use super::init::Plan;
use super::node_client::{Believed, Face};
use crate::exit::Failure;
use crate::output;
use crate::private_directory::NETWORK_FOLDER;
use crate::settings::trust_root;

/// The folder where a network is created, so that an incomplete one is never used.
const UNFINISHED: &str = "network.unfinished";
/// How long the nodes may take until the network has signed a checkpoint.
const READY: Duration = Duration::from_secs(90);
/// How much longer than the others a node may take to start.
const LATE: Duration = Duration::from_secs(10);
/// How long a node may take to stop.
const GRACE: Duration = Duration::from_secs(30);
/// The pause before a node that ended is started again.
const REST: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(50);

/// Running nodes.
pub struct Loopback {
    /// The nodes' addresses and tokens.
    pub nodes: Vec<RegistryNode>,
    /// Whether the network continues if any one of them is killed.
    pub spares_one: bool,
    /// The pin for readers.
    pub pin: Pin,
    stop: watch::Sender<bool>,
    kept: Vec<JoinHandle<()>>,
}

impl Loopback {
    /// Starts a network of this many validators in a data directory; creates it at the first start.
    ///
    /// # Errors
    /// If there is a network with another number of validators, or it does not start.
    pub async fn start(
        data: &Path,
        validators: u16,
        port: u16,
        engine: &Engine,
    ) -> Result<Self, Failure> {
        let network = data.join(NETWORK_FOLDER);
        if !network.exists() {
            make(data, &network, validators, port)?;
        }
        let homes = files::homes(&network)?;
        if homes.len() != usize::from(validators) {
            return Err(Failure::environment(format!(
                "{}: its network has {} nodes",
                data.display(),
                homes.len()
            ))
            .hint(format!("start it with --validators {}", homes.len())));
        }
        let pin = Pin::Trust(trust_root(&network.join(TRUST_ROOT))?);
        let stop = watch::Sender::new(false);
        let mut kept = Vec::with_capacity(homes.len());
        for home in &homes {
            let node = Process::new(home, engine)?;
            kept.push(tokio::spawn(node.keep(stop.subscribe())));
        }
        let mut started = Self {
            nodes: Vec::with_capacity(homes.len()),
            spares_one: false,
            pin,
            stop,
            kept,
        };
        match timeout(READY, ready(&homes)).await {
            Ok(serving) => started.take(&homes, serving),
            Err(_) => {
                started.stop().await;
                return Err(Failure::environment(format!(
                    "the network is not ready after {} s",
                    READY.as_secs()
                ))
                .hint(format!("{}/node-*/node.log says why", network.display())));
            }
        }
        Ok(started)
    }

    /// Lists the nodes that serve first and then the others, which may come back; reports which those are.
    fn take(&mut self, homes: &[PathBuf], serving: BTreeMap<usize, RegistryNode>) {
        let others = homes.iter().enumerate();
        let others: Vec<_> = others
            .filter_map(|(number, home)| (!serving.contains_key(&number)).then_some(home))
            .collect();
        if !others.is_empty() {
            let logs = others.iter().map(|home| home.join("node.log"));
            let logs: Vec<_> = logs.map(|log| log.display().to_string()).collect();
            output::complain(&format!(
                "selfsame: {} of {} nodes do not serve yet, the others continue; for the reason see {}",
                others.len(),
                homes.len(),
                logs.join(", ")
            ));
        }
        self.spares_one = is_enough(serving.len().saturating_sub(1), homes.len());
        self.nodes = serving.into_values().collect();
        self.nodes
            .extend(others.into_iter().filter_map(|home| reached(home).ok()));
    }

    /// Stops all nodes and waits until they have ended.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        for kept in self.kept {
            // The task ends by itself.
            let _ = kept.await;
        }
    }
}

fn make(data: &Path, network: &Path, validators: u16, port: u16) -> Result<(), Failure> {
    let unfinished = data.join(UNFINISHED);
    if unfinished.exists() {
        std::fs::remove_dir_all(&unfinished)?;
    }
    let plan = Plan {
        validators,
        name: "loopback".to_owned(),
        hosts: Vec::new(),
        port,
        directory: unfinished.clone(),
    };
    plan.create()?;
    Ok(std::fs::rename(unfinished, network)?)
}

/// Waits until enough nodes serve for a quorum, and a little longer for the others; returns those that serve, by index.
async fn ready(homes: &[PathBuf]) -> BTreeMap<usize, RegistryNode> {
    let mut asked = JoinSet::new();
    for (place, home) in homes.iter().cloned().enumerate() {
        asked.spawn(async move { (place, serving(&home).await) });
    }
    let mut found = BTreeMap::new();
    while !is_enough(found.len(), homes.len()) {
        match asked.join_next().await {
            Some(Ok((place, Ok(node)))) => drop(found.insert(place, node)),
            Some(_) => {}
            // Too few folders can be read; the caller's time-out reports it.
            None => std::future::pending().await,
        }
    }
    let others = async {
        while let Some(ended) = asked.join_next().await {
            if let Ok((place, Ok(node))) = ended {
                found.insert(place, node);
            }
        }
    };
    // Nodes that are later than that are reported.
    let _ = timeout(LATE, others).await;
    found
}

/// Whether this many of all validators are a quorum: more than two thirds.
fn is_enough(serving: usize, all: usize) -> bool {
    serving.saturating_mul(3) > all.saturating_mul(2)
}

/// Waits until a node serves and has its first signed checkpoint.
async fn serving(home: &Path) -> Result<RegistryNode, Failure> {
    let face = Face::new(&Serve::read(home)?.url()?, &Believed::default())?;
    while face.get("readyz").await.is_err() || face.get("registry/checkpoint").await.is_err() {
        sleep(AGAIN).await;
    }
    reached(home)
}

fn reached(home: &Path) -> Result<RegistryNode, Failure> {
    Ok(RegistryNode {
        origin: Serve::read(home)?.url()?,
        token: files::token(home)?,
    })
}

/// A node's process, which is started again whenever it ends.
struct Process {
    name: String,
    home: PathBuf,
    program: PathBuf,
    engine: PathBuf,
}

impl Process {
    fn new(home: &Path, engine: &Engine) -> Result<Self, Failure> {
        let name = home.file_name().map(|name| name.to_string_lossy().into());
        Ok(Self {
            name: name.unwrap_or_default(),
            home: home.to_owned(),
            program: std::env::current_exe()?,
            engine: engine.program().to_owned(),
        })
    }

    async fn keep(self, mut stop: watch::Receiver<bool>) {
        loop {
            match self.start() {
                Ok(child) => self.until_it_ends(child, &mut stop).await,
                Err(error) => output::complain(&format!("selfsame: {}: {error}", self.name)),
            }
            tokio::select! {
                () = sleep(REST) => {}
                () = asked_to(&mut stop) => return,
            }
        }
    }

    /// The child has its own process group, so that Ctrl-C reaches only this process; its standard input is a pipe, so
    /// that it ends with this process however that ends.
    fn start(&self) -> std::io::Result<Child> {
        let mut log = std::fs::OpenOptions::new();
        let log = log
            .create(true)
            .append(true)
            .open(self.home.join("node.log"))?;
        Command::new(&self.program)
            .args(["registry", "node", "--leashed", "--engine"])
            .arg(&self.engine)
            .arg(&self.home)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(log)
            .process_group(0)
            .spawn()
    }

    async fn until_it_ends(&self, mut child: Child, stop: &mut watch::Receiver<bool>) {
        let leash = child.stdin.take();
        tokio::select! {
            ended = child.wait() => {
                let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
                output::complain(&format!(
                    "selfsame: {} ended ({how}); the others continue, and it is started again",
                    self.name
                ));
                return;
            }
            () = asked_to(stop) => {}
        }
        drop(leash);
        if timeout(GRACE, child.wait()).await.is_err() {
            output::complain(&format!(
                "selfsame: {} did not stop and is killed",
                self.name
            ));
            let _ = child.kill().await;
        }
    }
}

async fn asked_to(stop: &mut watch::Receiver<bool>) {
    // A closed channel counts as a request to stop.
    drop(stop.wait_for(|stop| *stop).await);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_two_thirds_of_the_validators_are_enough() {
        let needed = |all| (0..=all).find(|serving| is_enough(*serving, all));
        let found = [1, 2, 3, 4, 6, 7].map(needed);
        assert_eq!(found, [1, 2, 3, 3, 5, 5].map(Some));
    }
}
