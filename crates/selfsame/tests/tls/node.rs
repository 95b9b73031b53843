//! Nodes: their identities, made and fetched on the command line, and the processes that use them.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::rig::{World, post, run, selfsame, text};

/// Longer than anything here takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A node's identity in its folder.
pub struct Node<'a> {
    world: &'a World,
    pub folder: PathBuf,
    pub did: String,
}

impl<'a> Node<'a> {
    /// A node with a DID of this method and no credential.
    pub fn new(world: &'a World, name: &str, method: &str) -> Self {
        let folder = world.file(name);
        let mut made = identity(world, &["new", "--method", method], &folder);
        made.arg("--registry-token-file")
            .arg(world.instance.token_file());
        let did = text(&json_of(&mut made), "did");
        Self { world, folder, did }
    }

    /// A node that has a credential of the instance's issuer.
    pub fn vouched(world: &'a World, (name, method): (&str, &str), format: &str) -> Self {
        let node = Self::new(world, name, method);
        let host = format!("{name}.example.org");
        let body = json!({
            "type": "machine",
            "format": format,
            "claims": {"service": name, "dns": host},
        });
        let offer = post(&world.operator, "/api/issuer/offers", &body);
        let fetched = json_of(&mut identity(
            world,
            &["fetch", &text(&offer, "uri")],
            &node.folder,
        ));
        assert_eq!(fetched["credential"]["format"], format, "{fetched}");
        node
    }

    /// Deactivates its DID.
    pub fn deactivate(&self) {
        assert_eq!(self.changed("deactivate")["state"], "deactivated");
    }

    /// Rotates the key of its DID.
    pub fn rotate(&self) {
        assert_eq!(self.changed("update")["did"], self.did.as_str());
    }

    fn changed(&self, verb: &str) -> Value {
        let mut change = identity(self.world, &[verb], &self.folder);
        change
            .arg("--registry-token-file")
            .arg(self.world.instance.token_file());
        json_of(&mut change)
    }

    /// A command of `selfsame tls` as this node, which resolves DIDs at its instance.
    pub fn tls(&self, verb: &str) -> Command {
        let mut command = selfsame();
        command.args(["tls", verb, "--identity"]).arg(&self.folder);
        at(&mut command, self.world);
        command
    }
}

/// A node with a did:key, so that no instance is needed; returns its DID.
pub fn keyed(folder: &Path) -> String {
    let mut command = selfsame();
    command.args(["tls", "identity", "new", "--json", "--identity"]);
    text(&json_of(command.arg(folder)), "did")
}

/// The issuer's DID in the instance's credentials.
pub fn issuer(world: &World) -> String {
    let status = crate::rig::get(&world.operator, "/api/status");
    status["issuer_dids"][0].as_str().unwrap().to_owned()
}

fn identity(world: &World, arguments: &[&str], folder: &Path) -> Command {
    let mut command = selfsame();
    command
        .args(["tls", "identity"])
        .args(arguments)
        .arg("--identity")
        .arg(folder)
        .arg("--json");
    at(&mut command, world);
    command
}

fn at(command: &mut Command, world: &World) {
    let origin = world.instance.origin.as_str();
    command.args(["--trust-origin", origin, "--registry", origin]);
}

/// The output of a command that must succeed.
#[track_caller]
fn json_of(command: &mut Command) -> Value {
    let (code, printed, complaints) = run(command);
    assert_eq!(code, 0, "{command:?}: {printed}{complaints}");
    serde_json::from_str(&printed).unwrap()
}

/// A process that listens; dropping it stops it.
pub struct Listening {
    child: Child,
    pub address: SocketAddr,
    /// What it wrote to standard error before it listened.
    pub said: Vec<String>,
    told: Receiver<String>,
    complaints: Receiver<String>,
}

impl Listening {
    /// Starts it and waits until it listens.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let complaints = lines(child.stderr.take().unwrap());
        let told = lines(child.stdout.take().unwrap());
        let mut said = Vec::new();
        let address = loop {
            match complaints.recv_timeout(PATIENCE) {
                Ok(line) => {
                    // With --json each line is an object.
                    let object = serde_json::from_str::<Value>(&line);
                    let line = match object.map(|object| object["message"].clone()) {
                        Ok(Value::String(message)) => message,
                        _ => line,
                    };
                    match line.strip_prefix("listening on ") {
                        Some(address) => break address.parse().unwrap(),
                        None => said.push(line),
                    }
                }
                Err(_) => panic!("{command:?} does not listen: {said:?}"),
            }
        };
        Self {
            child,
            address,
            said,
            told,
            complaints,
        }
    }

    /// The next line on standard error that contains these words.
    #[track_caller]
    pub fn complains(&self, words: &str) -> String {
        loop {
            let line = self.complaints.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|_| panic!("nothing of {words}"));
            if line.contains(words) {
                return line;
            }
        }
    }

    /// The next line on standard output, as JSON.
    #[track_caller]
    pub fn tells(&self) -> Value {
        let line = self.told.recv_timeout(PATIENCE).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"))
    }

    /// Stops it with a signal, as a service manager does; returns its exit code.
    pub fn stop(self) -> Option<i32> {
        self.signal("-TERM");
        self.ends()
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let told = Command::new("kill").args([name, &id]).status().unwrap();
        assert!(told.success());
    }

    /// Waits until it ends; returns its exit code.
    pub fn ends(mut self) -> Option<i32> {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(began.elapsed() < PATIENCE, "it does not stop");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a pipe, read on a thread so that the process never blocks.
fn lines(pipe: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
