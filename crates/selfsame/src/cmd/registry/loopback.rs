//! A network on this machine alone: its nodes are processes of their own, so that one can be killed while the others go on.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use selfsame_abci::Engine;
use selfsame_app::config::{Pin, RegistryNode};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::face::Face;
use super::files::{self, Serve, TRUST_ROOT};
use super::init::Plan;
use crate::exit::Failure;
use crate::output;
use crate::settings::trust_root;

/// The network's folder in the directory of data.
const FOLDER: &str = "network";
/// Where it is made, so that half of one is never taken for a whole.
const UNFINISHED: &str = "network.unfinished";
/// How long the nodes may take until the network has signed something.
const READY: Duration = Duration::from_secs(90);
/// How long a node may take to stop.
const GRACE: Duration = Duration::from_secs(30);
/// How long a node that ended rests before it is started again.
const REST: Duration = Duration::from_secs(2);
const AGAIN: Duration = Duration::from_millis(50);

/// Running nodes.
pub struct Loopback {
    /// How to reach them.
    pub nodes: Vec<RegistryNode>,
    /// What a reader holds on to.
    pub pin: Pin,
    stop: watch::Sender<bool>,
    kept: Vec<JoinHandle<()>>,
}

impl Loopback {
    /// Starts a network of so many validators in a directory of data; made there at the first start.
    ///
    /// # Errors
    /// If there is one of another number, or it does not come up.
    pub async fn start(
        data: &Path,
        (validators, port): (u16, u16),
        engine: &Engine,
    ) -> Result<Self, Failure> {
        let network = data.join(FOLDER);
        if !network.exists() {
            make(data, &network, (validators, port))?;
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
            pin,
            stop,
            kept,
        };
        match timeout(READY, ready(&homes)).await {
            Ok(nodes) => started.nodes = nodes?,
            Err(_) => {
                started.stop().await;
                return Err(Failure::environment(format!(
                    "the network is not ready after {} s",
                    READY.as_secs()
                ))
                .hint(format!("{}/node-*/node.log tells why", network.display())));
            }
        }
        Ok(started)
    }

    /// Stops all nodes and waits for their end.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        for kept in self.kept {
            // It ends by itself.
            let _ = kept.await;
        }
    }
}

fn make(data: &Path, network: &Path, (validators, port): (u16, u16)) -> Result<(), Failure> {
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

/// Until every node serves and the first checkpoint is signed.
async fn ready(homes: &[PathBuf]) -> Result<Vec<RegistryNode>, Failure> {
    let mut nodes = Vec::with_capacity(homes.len());
    for home in homes {
        let origin = Serve::read(home)?.url()?;
        let face = Face::new(&origin)?;
        while face.get("readyz").await.is_err() || face.get("registry/checkpoint").await.is_err() {
            sleep(AGAIN).await;
        }
        let token = files::token(home)?;
        nodes.push(RegistryNode { origin, token });
    }
    Ok(nodes)
}

/// A node's process, started again whenever it ends.
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

    /// In a group of its own, so that Ctrl-C reaches us alone; on a leash, so that it ends with us however we end.
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
                    "selfsame: {} ended ({how}); the others go on, and it is started again",
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
    // Nobody left who could ask counts as asked.
    drop(stop.wait_for(|stop| *stop).await);
}
