//! An agent of another implementation, and ours, which meet.

use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use url::Url;

use crate::admin::{AdminApi, text};
use crate::hearing::Controller;
use crate::instance::free_port;
use crate::stage::{OwnAgent, Stage, Wanted};

/// The seed of the DID that the peer writes to our registry with: 32 bytes.
const SEED: &str = "0000000000000000000000000crossed";
/// What our agent is set to: records stay, and nothing is done without its controller.
const OURS: &str = "preserve_exchange_records = true\nmonitor_ping = true\n";

/// A running agent of another implementation; dropping it stops it.
pub struct Peer {
    child: Child,
    pub admin: AdminApi,
    pub heard: Controller,
    /// The DID whose objects it publishes.
    pub did: String,
}

/// What a peer is started with.
pub struct PeerSettings {
    pub admin: u16,
    /// Where it takes messages.
    pub inbound: u16,
    /// The controller that listens.
    pub hook: String,
    /// The origin of our instance, whose registry it uses, and its operator's token.
    pub origin: String,
    pub token: String,
    pub did: String,
    pub seed: &'static str,
    /// A folder of its own.
    pub folder: String,
}

/// Our agent and a peer, which know nothing of each other yet.
pub struct Meeting {
    pub ours: OwnAgent,
    pub peer: Peer,
    stage: Stage,
}

impl Meeting {
    /// Starts our agent, and the peer by this command.
    pub fn with(command: impl FnOnce(&PeerSettings) -> Command) -> Self {
        let (stage, inbound) = (Stage::new(), free_port());
        let endpoint = Url::parse(&format!("http://127.0.0.1:{inbound}")).unwrap();
        let wanted = Wanted {
            organisation: "clinic",
            settings: OURS,
        };
        let ours = stage.alone(&wanted, &[&endpoint]);
        let folder = stage.path("peer");
        std::fs::create_dir(&folder).unwrap();
        let heard = Controller::listen();
        let origin = ours.process.origin.as_str().trim_end_matches('/');
        let settings = PeerSettings {
            admin: free_port(),
            inbound,
            hook: heard.url(),
            origin: origin.to_owned(),
            token: ours.process.operator().token().trim().to_owned(),
            did: registered(&ours),
            seed: SEED,
            folder: folder.display().to_string(),
        };
        let log = File::create(stage.path("peer.log")).unwrap();
        let mut command = command(&settings);
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let peer = Peer {
            child: command.spawn().unwrap(),
            admin: AdminApi::at("the peer", settings.admin),
            heard,
            did: settings.did,
        };
        peer.admin
            .until("/status/ready", |status| status["ready"] == true);
        Self { ours, peer, stage }
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.stage.path("peer.log"));
            let log = log.unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let last = lines.len().saturating_sub(60);
            let said = lines[last..].join("\n");
            let _ = writeln!(std::io::stderr(), "the peer's log ends with\n{said}");
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Registers the DID of the seed with our registry.
fn registered(ours: &OwnAgent) -> String {
    let body = json!({"seed": SEED, "role": "ENDORSER"});
    let operator = ours.process.operator();
    let reply = operator.send("POST", "/register", Some(&body)).unwrap();
    let said = String::from_utf8_lossy(&reply.body).into_owned();
    assert!(reply.is_success(), "{said}");
    text(&reply.json()["id"])
}
