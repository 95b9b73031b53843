//! A network whose nodes can be started, killed, disconnected from each other and compared.

#[path = "../../../selfsame-testkit/shared/port.rs"]
mod port;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use selfsame_abci::{Addresses, Beginning, Member, Network};
use selfsame_crypto::encoding::hex_decode;
use selfsame_crypto::{KeyType, PrivateKey};
use selfsame_driver::clock::Clock;
use selfsame_registry::{Genesis, Rules, Transaction, network};
use tempfile::TempDir;
use tokio::time::Instant;

pub use crate::actor::Actor;
use crate::namespaces::Namespaces;
pub use crate::process::{GONE, NodeProcess, PATIENCE};
use crate::wires::Wires;

/// The running nodes, by number. Clones share one state.
#[derive(Clone, Default)]
pub struct Nodes(Arc<Mutex<Vec<Option<Arc<NodeProcess>>>>>);

impl Nodes {
    pub fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    pub fn get(&self, n: usize) -> Option<Arc<NodeProcess>> {
        self.0.lock().unwrap()[n].clone()
    }

    fn take(&self, n: usize) -> Option<Arc<NodeProcess>> {
        self.0.lock().unwrap()[n].take()
    }

    fn put(&self, n: usize, node: NodeProcess) {
        let before = self.0.lock().unwrap()[n].replace(Arc::new(node));
        assert!(before.is_none(), "it runs");
    }
}

/// A network and its nodes.
pub struct Cluster {
    folder: TempDir,
    members: Vec<Member>,
    limits: Vec<String>,
    /// For each node, the newest machine version of its program, if it is not this program's.
    machines: Vec<Option<u64>>,
    pub genesis: Genesis,
    /// The trustee, which may change the validators.
    pub trustee: Actor,
    pub nodes: Nodes,
    between: Between,
}

/// The connections between the nodes.
enum Between {
    /// Loopback, which cannot be cut.
    Loopback,
    /// Connections that this process forwards and can cut.
    Wires(Wires),
    /// Network namespaces and a switch.
    Namespaces(Namespaces),
}

impl Cluster {
    /// Creates a network and starts its nodes.
    pub async fn start(count: usize) -> Self {
        Self::limited(count, &[]).await
    }

    /// Creates and starts a network with limits for its nodes, as the example `node` takes them.
    pub async fn limited(count: usize, limits: &[&str]) -> Self {
        let cluster = Self::create(count, limits);
        cluster.all_up().await;
        cluster
    }

    /// Creates and starts a network with a namespace for each node if this machine allows that, otherwise with wires.
    pub async fn apart(count: usize, limits: &[&str]) -> Self {
        let Some(namespaces) = Namespaces::create(count) else {
            return Self::wired(count, limits).await;
        };
        let addresses = (0..count).map(|n| Addresses {
            p2p: SocketAddr::new(Namespaces::address(n), 26_656),
            rpc: free_address(),
        });
        let mut cluster = Self::create_at(addresses.collect(), limits);
        cluster.between = Between::Namespaces(namespaces);
        cluster.all_up().await;
        cluster
    }

    /// Creates and starts a network with wires between the engines that can be cut.
    pub async fn wired(count: usize, limits: &[&str]) -> Self {
        let mut cluster = Self::create(count, limits);
        let wires = Wires::new(cluster.members.iter().map(|member| member.addresses.p2p));
        for n in 0..count {
            let file = cluster.home(n).join("engine/config/config.toml");
            let mut config = std::fs::read_to_string(&file).unwrap();
            for (other, member) in cluster.members.iter().enumerate() {
                let wire = wires.between(n, other).await;
                let direct = format!("@{}", member.addresses.p2p);
                config = config.replace(&direct, &format!("@{wire}"));
            }
            std::fs::write(file, config).unwrap();
        }
        cluster.between = Between::Wires(wires);
        cluster.all_up().await;
        cluster
    }

    /// Creates a network without starting its nodes.
    pub fn create(count: usize, limits: &[&str]) -> Self {
        Self::create_at(free_addresses(count), limits)
    }

    fn create_at(addresses: Vec<Addresses>, limits: &[&str]) -> Self {
        let (folder, count) = (tempfile::tempdir().unwrap(), addresses.len());
        let members: Vec<Member> = addresses
            .into_iter()
            .zip(1..)
            .map(|(addresses, n)| Member {
                name: format!("node-{n}"),
                addresses,
            })
            .collect();
        let trustee = PrivateKey::generate(KeyType::Ed25519).unwrap();
        let beginning = Beginning {
            name: "test".to_owned(),
            time: Clock::default().now(),
            rules: Rules::default(),
            authorities: vec![network::Member {
                key: trustee.public().clone(),
                role: network::Role::Trustee,
            }],
        };
        let network = Network::create(folder.path(), beginning, &members).unwrap();
        let nodes = Nodes::default();
        nodes.0.lock().unwrap().resize(count, None);
        Self {
            folder,
            members,
            limits: limits.iter().map(|limit| (*limit).to_owned()).collect(),
            trustee: Actor::of(network.genesis(), trustee),
            machines: vec![None; count],
            genesis: network.genesis().clone(),
            nodes,
            between: Between::Loopback,
        }
    }

    /// Sets the newest machine version for the program of a node that is started later.
    pub fn has_machine(&mut self, n: usize, version: u64) {
        self.machines[n] = Some(version);
    }

    pub async fn all_up(&self) {
        for n in 0..self.nodes.count() {
            self.restart(n).await;
        }
    }

    pub async fn restart(&self, n: usize) {
        self.try_start(n).await.unwrap();
    }

    /// Starts a node; returns the reason if it gives up.
    pub async fn try_start(&self, n: usize) -> Result<(), String> {
        let on = match &self.between {
            Between::Namespaces(namespaces) => namespaces.on(n),
            Between::Loopback | Between::Wires(_) => Vec::new(),
        };
        let mut limits = self.limits.clone();
        limits.extend(self.machines[n].map(|version| format!("machine={version}")));
        let node = NodeProcess::start(&on, &self.home(n), &limits).await?;
        self.nodes.put(n, node);
        Ok(())
    }

    /// Starts a node whose folder is a small file system of its own, visible to others below `/proc/PID/root`.
    pub async fn start_on_small_disk(&self, n: usize) {
        let small = r#"home=$1; shift
            cp -a "$home" "$home.new" && mount -t tmpfs -o size=48m,mode=700 none "$home" &&
            cp -a "$home.new/." "$home" && exec "$@""#;
        let home = self.home(n);
        let on = ["unshare", "-rm", "sh", "-c", small, "sh"].map(str::to_owned);
        let on: Vec<_> = on.into_iter().chain([home.display().to_string()]).collect();
        let node = NodeProcess::start(&on, &home, &self.limits).await;
        self.nodes.put(n, node.unwrap());
    }

    /// Sends SIGKILL to our half of a node.
    pub async fn kill(&self, n: usize) {
        self.nodes.take(n).unwrap().kill().await;
    }

    /// Asks a node to stop.
    pub async fn shut_down(&self, n: usize) {
        self.nodes.take(n).unwrap().stop().await;
    }

    /// Stops all running nodes, one after the other.
    pub async fn stop(self) {
        for n in 0..self.nodes.count() {
            if let Some(node) = self.nodes.take(n) {
                node.stop().await;
            }
        }
    }

    pub fn node(&self, n: usize) -> Arc<NodeProcess> {
        self.nodes.get(n).unwrap()
    }

    pub fn alive(&self) -> Vec<Arc<NodeProcess>> {
        let nodes = self.nodes.0.lock().unwrap();
        nodes.iter().flatten().cloned().collect()
    }

    pub fn home(&self, n: usize) -> PathBuf {
        self.folder.path().join(&self.members[n].name)
    }

    pub fn rpc(&self, n: usize) -> SocketAddr {
        self.members[n].addresses.rpc
    }

    /// Passes on traffic only between nodes of one side.
    pub fn divide(&self, sides: &[usize]) {
        match &self.between {
            Between::Loopback => panic!("nothing parts loopback"),
            Between::Wires(wires) => wires.divide(sides),
            Between::Namespaces(namespaces) => namespaces.divide(sides),
        }
    }

    /// Sends SIGKILL to a node's engine alone.
    pub fn kill_engine(&self, n: usize) {
        let engines = engines(&self.home(n));
        assert_eq!(engines.len(), 1);
        let status = std::process::Command::new("kill")
            .args(["-KILL", &engines[0]])
            .status();
        assert!(status.unwrap().success());
    }

    /// Waits until all running nodes have one head, and returns it.
    pub async fn agree(&self) -> String {
        let begun = Instant::now();
        loop {
            let mut heads = Vec::new();
            for node in self.alive() {
                heads.push(node.ask("head").await.unwrap());
            }
            if heads.windows(2).all(|pair| pair[0] == pair[1]) {
                return heads.remove(0);
            }
            assert!(begun.elapsed() < PATIENCE, "they do not agree: {heads:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// The log of one node.
    pub async fn log(&self, n: usize) -> Vec<Transaction> {
        let mut log = Vec::new();
        loop {
            let page = format!("log {} 200", log.len() + 1);
            let page = self.node(n).ask(&page).await.unwrap();
            if page.is_empty() {
                return log;
            }
            log.extend(page.split(' ').map(|bytes| {
                let bytes = hex_decode(bytes).unwrap();
                Transaction::from_bytes(&bytes).unwrap()
            }));
        }
    }
}

/// The process ids of the engines whose folder is in this node's home.
pub fn engines(home: &Path) -> Vec<String> {
    let home = home.join("engine").display().to_string();
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(line) = std::fs::read(process.path().join("cmdline")) else {
            continue;
        };
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        // The keeper is a shell that has these arguments after its own.
        if words.first() != Some(&b"sh".as_slice()) && words.contains(&home.as_bytes()) {
            found.push(process.file_name().into_string().unwrap());
        }
    }
    found
}

/// Waits for a condition, up to the longest time that anything may take.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) -> Duration {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < PATIENCE, "{what}: not in time");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    begun.elapsed()
}

fn free_addresses(count: usize) -> Vec<Addresses> {
    let addresses = |_| Addresses {
        p2p: free_address(),
        rpc: free_address(),
    };
    (0..count).map(addresses).collect()
}

/// A loopback address on which nothing listens, and which is kept for the program that asks for it.
pub fn free_address() -> SocketAddr {
    ([127, 0, 0, 1], port::free_port()).into()
}
