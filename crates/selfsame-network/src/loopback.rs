//! A network on this machine alone: each node is a separate process, so that the others continue if one is killed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use selfsame_ledger::config::{Pin, RegistryNode};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use crate::directory::{NETWORK_FOLDER, UNFINISHED_NETWORK};
use crate::files::{self, Serve, TRUST_ROOT, trust_root};
use crate::founding::FoundingPlan;
use crate::{Believed, NetworkError, NodeClient};

/// How long the nodes may take until the network has signed a checkpoint.
const READY: Duration = Duration::from_secs(90);
/// How much longer than the others a node may take to start.
const LATE: Duration = Duration::from_secs(10);
/// How long a node may take to stop.
const GRACE: Duration = Duration::from_secs(30);
/// The pause before a node that ended is started again.
const REST: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(50);

/// How the nodes are run, and who hears of them.
#[derive(Clone)]
pub struct NodeKeeping {
    /// The program that runs one node until its standard input ends.
    pub program: PathBuf,
    /// Its arguments; the node's folder follows them.
    pub arguments: Vec<OsString>,
    /// Hears what happens to the nodes.
    pub tell: fn(&NodeNews),
}

/// What happens to the nodes.
pub enum NodeNews {
    /// Some nodes do not serve yet, and the others continue.
    Late {
        /// The logs of those nodes.
        logs: Vec<PathBuf>,
        /// The number of all nodes.
        all: usize,
    },
    /// A node's process could not be started; it is tried again.
    NotStarted {
        /// The node.
        name: String,
        /// The system's reason.
        reason: String,
    },
    /// A node's process ended by itself; it is started again.
    Ended {
        /// The node.
        name: String,
        /// How it ended.
        how: String,
    },
    /// A node did not stop in time, and is killed.
    Killed {
        /// The node.
        name: String,
    },
}

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
        keeping: &NodeKeeping,
    ) -> Result<Self, NetworkError> {
        let network = data.join(NETWORK_FOLDER);
        if !network.exists() {
            make(data, &network, validators, port)?;
        }
        let homes = files::homes(&network)?;
        if homes.len() != usize::from(validators) {
            return Err(NetworkError::environment(format!(
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
            let node = Process::new(home, keeping);
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
            Ok(serving) => {
                let late = started.take(&homes, serving);
                if !late.is_empty() {
                    let logs = late.iter().map(|home| home.join("node.log")).collect();
                    let all = homes.len();
                    (keeping.tell)(&NodeNews::Late { logs, all });
                }
            }
            Err(_) => {
                started.stop().await;
                return Err(NetworkError::environment(format!(
                    "the network is not ready after {} s",
                    READY.as_secs()
                ))
                .hint(format!("{}/node-*/node.log says why", network.display())));
            }
        }
        Ok(started)
    }

    /// Lists the nodes that serve first and then the others, which may come back; returns the folders of those.
    fn take<'h>(
        &mut self,
        homes: &'h [PathBuf],
        serving: BTreeMap<usize, RegistryNode>,
    ) -> Vec<&'h PathBuf> {
        let others = homes.iter().enumerate();
        let others: Vec<_> = others
            .filter_map(|(number, home)| (!serving.contains_key(&number)).then_some(home))
            .collect();
        self.spares_one = is_enough(serving.len().saturating_sub(1), homes.len());
        self.nodes = serving.into_values().collect();
        self.nodes
            .extend(others.iter().filter_map(|home| reached(home).ok()));
        others
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

fn make(data: &Path, network: &Path, validators: u16, port: u16) -> Result<(), NetworkError> {
    let unfinished = data.join(UNFINISHED_NETWORK);
    if unfinished.exists() {
        std::fs::remove_dir_all(&unfinished)?;
    }
    let plan = FoundingPlan {
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
async fn serving(home: &Path) -> Result<RegistryNode, NetworkError> {
    let client = NodeClient::new(&Serve::read(home)?.url()?, &Believed::default())?;
    while client.get("readyz").await.is_err() || client.get("registry/checkpoint").await.is_err() {
        sleep(AGAIN).await;
    }
    reached(home)
}

fn reached(home: &Path) -> Result<RegistryNode, NetworkError> {
    Ok(RegistryNode {
        origin: Serve::read(home)?.url()?,
        token: files::token(home)?,
    })
}

/// A node's process, which is started again whenever it ends.
struct Process {
    name: String,
    home: PathBuf,
    keeping: NodeKeeping,
}

impl Process {
    fn new(home: &Path, keeping: &NodeKeeping) -> Self {
        let name = home.file_name().map(|name| name.to_string_lossy().into());
        Self {
            name: name.unwrap_or_default(),
            home: home.to_owned(),
            keeping: keeping.clone(),
        }
    }

    fn tell(&self, news: impl FnOnce(String) -> NodeNews) {
        (self.keeping.tell)(&news(self.name.clone()));
    }

    async fn keep(self, mut stop: watch::Receiver<bool>) {
        loop {
            match self.start() {
                Ok(child) => self.until_it_ends(child, &mut stop).await,
                Err(error) => self.tell(|name| NodeNews::NotStarted {
                    name,
                    reason: error.to_string(),
                }),
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
        Command::new(&self.keeping.program)
            .args(&self.keeping.arguments)
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
                self.tell(|name| NodeNews::Ended { name, how });
                return;
            }
            () = asked_to(stop) => {}
        }
        drop(leash);
        if timeout(GRACE, child.wait()).await.is_err() {
            self.tell(|name| NodeNews::Killed { name });
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
