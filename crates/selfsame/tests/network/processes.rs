//! The commands of a network, as processes that can be stopped and killed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::instance::{Instance, free_port, held};

/// Generous: a network of eight processes starts on two cores that other processes use too.
pub const PATIENCE: Duration = Duration::from_secs(300);
/// The distance of the engines' ports from those of HTTP, and between the two kinds, if these are free.
const BESIDE: u16 = 100;

/// The command, with the engine that the tests use.
pub fn selfsame() -> Command {
    let built = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/cometbft/cometbft"
    );
    let engine = std::env::var_os("SELFSAME_COMETBFT").map_or_else(|| built.into(), PathBuf::from);
    assert!(
        engine.is_file(),
        "CometBFT is missing; build it: cargo xtask cometbft"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_selfsame"));
    command.env("SELFSAME_COMETBFT", engine);
    command
}

/// A command's standard output and standard error; its exit code must be this.
#[track_caller]
pub fn ends_with(code: i32, command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(code), "{said}");
    said
}

/// The object that a command prints.
#[track_caller]
pub fn json(command: &mut Command) -> Value {
    serde_json::from_str(&ends_with(0, command)).unwrap()
}

/// A command that runs until it is stopped.
pub struct Running {
    child: Child,
    log: PathBuf,
}

impl Running {
    /// Starts it with its log in this file.
    pub fn start(command: &mut Command, log: &Path) -> Self {
        let file = File::create(log).unwrap();
        let child = command
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap();
        Self {
            child,
            log: log.to_owned(),
        }
    }

    /// Waits until it has printed this text.
    pub fn says(&mut self, what: &str) -> String {
        let began = Instant::now();
        loop {
            let said = self.said();
            if said.contains(what) {
                return said;
            }
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "it ended by itself: {said}");
            assert!(began.elapsed() < PATIENCE, "it does not say {what}: {said}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn said(&self) -> String {
        // The last character may be incomplete.
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap()).into_owned()
    }

    /// Sends SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends SIGINT, as Ctrl-C does; waits for its end.
    pub fn stop(&mut self) {
        signal(self.child.id(), "-INT");
        let began = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < PATIENCE, "it does not stop");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(self.child.wait().unwrap().success(), "{}", self.said());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process.
pub fn signal(process: u32, name: &str) {
    let sent = Command::new("kill")
        .args([name, &process.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

/// The processes with this text in an argument, except this one.
pub fn processes_of(text: &str) -> Vec<(u32, String)> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let found = entries.filter_map(|entry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (line.contains(text) && id != std::process::id()).then_some((id, line))
    });
    found.collect()
}

/// Waits until this holds.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "not yet: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A network in a folder; its nodes are processes.
pub struct Network {
    pub folder: PathBuf,
    pub nodes: Vec<Option<Running>>,
    /// The output of `registry init`.
    pub made: Value,
}

impl Network {
    /// Makes a network of four nodes.
    pub fn make(folder: &Path, arguments: &[&str]) -> Self {
        let mut init = selfsame();
        init.args(["registry", "init", "--json", "--port"])
            .arg(free_port().to_string())
            .args(arguments)
            .arg(folder);
        let made = json(&mut init);
        made["nodes"].as_array().unwrap().iter().for_each(hold);
        let count = made["nodes"].as_array().unwrap().len();
        Self {
            folder: folder.to_owned(),
            nodes: (0..count).map(|_| None).collect(),
            made,
        }
    }

    /// Starts all nodes.
    pub fn start(&mut self) {
        for node in 0..self.nodes.len() {
            self.start_node(node);
        }
        for node in 0..self.nodes.len() {
            self.nodes[node].as_mut().unwrap().says("Ctrl-C");
        }
        until("a checkpoint is signed", || {
            self.status()["validators"] != serde_json::json!([])
        });
    }

    /// A running network of four, and an instance elsewhere that uses these nodes of it and trusts only the pinned
    /// network.
    pub fn with_instance(folder: &Path, nodes: &[usize]) -> (Self, Instance) {
        let mut network = Self::make(&folder.join("network"), &[]);
        network.start();
        let settings = folder.join("settings.toml");
        let named = network.settings(nodes, &network.folder.join("trust-root"));
        std::fs::write(&settings, named).unwrap();
        let config = ["--config", settings.to_str().unwrap()];
        let mut instance = Instance::start(&folder.join("data"), free_port(), &config);
        instance.ready();
        (network, instance)
    }

    pub fn start_node(&mut self, node: usize) {
        let log = self.home(node).with_extension("log");
        let mut command = selfsame();
        command.args(["registry", "node"]).arg(self.home(node));
        self.nodes[node] = Some(Running::start(&mut command, &log));
    }

    /// Starts a node whose folder was made later, and adds it to the others.
    pub fn join(&mut self, node: usize) {
        assert_eq!(self.nodes.len(), node);
        let serve = std::fs::read(self.home(node).join("serve.json")).unwrap();
        let serve: Value = serde_json::from_slice(&serve).unwrap();
        hold(&serve);
        let nodes = self.made["nodes"].as_array_mut().unwrap();
        nodes.push(serve);
        self.nodes.push(None);
        self.start_node(node);
        self.nodes[node].as_mut().unwrap().says("Ctrl-C");
    }

    /// Makes this node connect to one that was made later.
    pub fn admit(&self, at: usize, newcomer: usize) {
        let node = std::fs::read(self.home(newcomer).join("node.json")).unwrap();
        let node: Value = serde_json::from_slice(&node).unwrap();
        let mut admit = selfsame();
        admit.args(["registry", "admit"]).arg(self.home(at));
        ends_with(0, admit.arg(node["peer"].as_str().unwrap()));
    }

    /// Whether a validator signed the newest checkpoint.
    pub fn signs(&self, name: &str) -> bool {
        let shown = self.status();
        let mut set = shown["validators"].as_array().unwrap().iter();
        set.any(|one| one["name"] == name && one["signed"] == true)
    }

    pub fn home(&self, node: usize) -> PathBuf {
        self.folder.join(format!("node-{}", node + 1))
    }

    pub fn url(&self, node: usize) -> String {
        format!("http://localhost:{}/", port(&self.made["nodes"][node]))
    }

    /// The output of `registry status`, whether or not a node proves anything.
    pub fn status(&self) -> Value {
        let mut status = selfsame();
        status
            .args(["registry", "status", "--json", "--trust-root"])
            .arg(self.folder.join("trust-root"));
        status.args((0..self.nodes.len()).map(|node| self.home(node)));
        serde_json::from_slice(&status.output().unwrap().stdout).unwrap()
    }

    /// Settings that name these nodes, in this order.
    pub fn settings(&self, nodes: &[usize], trust_root: &Path) -> String {
        let mut text = format!("[registry]\ntrust_root = {:?}\n", trust_root.display());
        for node in nodes {
            text.push_str(&format!(
                "[[registry.nodes]]\nurl = \"{}\"\ntoken_file = {:?}\n",
                self.url(*node),
                self.home(*node).join("operator-token").display()
            ));
        }
        text
    }

    pub fn stop(&mut self) {
        for node in self.nodes.iter_mut().flatten() {
            node.stop();
        }
    }
}

/// The port that a node listens on.
fn port(node: &Value) -> u16 {
    let listen = node["listen"].as_str().unwrap();
    listen.rsplit_once(':').unwrap().1.parse().unwrap()
}

/// Holds a node's ports, which were free, until it listens there. If one is taken, another process has it, and the node
/// gets another port.
fn hold(node: &Value) {
    for number in 0..3 {
        let _ = held(port(node) + number * BESIDE);
    }
}

/// Runs both scenarios on a running instance: the second one uses up a credential, and revokes by delegation.
#[track_caller]
pub fn walks(origin: &str, token: &Path) {
    let story = json(&mut scenario("immunization", origin, token));
    assert_eq!(story["verdict"], "valid");
    assert_eq!(story["after_revocation"], "revoked");
    let story = json(&mut scenario("prescription", origin, token));
    assert_eq!(story["verdict"], "valid");
    assert_eq!(story["after_spending"], "spent");
    assert_eq!(story["after_revocation"], "revoked");
}

/// A scenario on a running instance.
pub fn scenario(name: &str, origin: &str, token: &Path) -> Command {
    let mut demo = selfsame();
    demo.args(["demo", name, "--json", "--issuer", origin]);
    demo.arg("--issuer-token-file").arg(token);
    demo
}
