//! Processes of ours with agents, and a registry that they share.

use std::fmt::Write as _;
use std::path::PathBuf;

use tempfile::TempDir;
use url::Url;

use crate::admin::AdminApi;
use crate::hearing::Controller;
use crate::instance::{Instance, free_port};

/// An agent to start.
pub struct Wanted<'a> {
    /// The organisation whose agent it is, and its label.
    pub organisation: &'a str,
    /// Further settings, in TOML.
    pub settings: &'a str,
}

/// A process of ours with an agent.
pub struct OwnAgent {
    pub process: Instance,
    pub admin: AdminApi,
    pub heard: Controller,
}

/// A folder with the data of all processes.
pub struct Stage {
    folder: TempDir,
}

/// Ports of a process: its own, its agent's for controllers and for peers.
struct Ports {
    own: u16,
    admin: u16,
    inbound: u16,
}

impl Ports {
    fn free() -> Self {
        Self {
            own: free_port(),
            admin: free_port(),
            inbound: free_port(),
        }
    }

    /// The origins at which others on this machine call the process.
    fn origins(&self) -> [String; 2] {
        [
            format!("http://localhost:{}", self.own),
            format!("http://127.0.0.1:{}", self.inbound),
        ]
    }
}

impl Stage {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// The path of a file or a folder of the test.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A process with a registry and nothing else.
    pub fn registry(&self) -> Instance {
        let arguments = ["--role", "registry"];
        let mut registry = Instance::start(&self.path("registry"), free_port(), &arguments);
        registry.ready();
        registry
    }

    /// A process for each agent. All of them read and write that registry by HTTP.
    pub fn agents<const N: usize>(
        &self,
        registry: &Instance,
        wanted: [Wanted<'_>; N],
    ) -> [OwnAgent; N] {
        let ports = wanted.map(|one| (one, Ports::free()));
        let mut trusted = Vec::new();
        for origin in ports.iter().flat_map(|(_, ports)| ports.origins()) {
            trusted.extend(["--trust-origin".to_owned(), origin]);
        }
        let token = registry.token_file().display().to_string();
        let anchored = [
            "--registry",
            registry.origin.as_str(),
            "--registry-token-file",
            &token,
        ];
        let arguments: Vec<&str> = anchored
            .into_iter()
            .chain(trusted.iter().map(String::as_str))
            .collect();
        ports.map(|(one, ports)| self.start(&one, &ports, &arguments))
    }

    /// A process with a registry of its own and one agent, which calls agents at these addresses of this machine.
    pub fn alone(&self, wanted: &Wanted<'_>, peers: &[&Url]) -> OwnAgent {
        let mut trusted = Vec::new();
        for peer in peers {
            trusted.extend([
                "--trust-origin".to_owned(),
                peer.origin().ascii_serialization(),
            ]);
        }
        let arguments: Vec<&str> = trusted.iter().map(String::as_str).collect();
        self.start(wanted, &Ports::free(), &arguments)
    }

    fn start(&self, wanted: &Wanted<'_>, ports: &Ports, arguments: &[&str]) -> OwnAgent {
        let Wanted {
            organisation,
            settings: further,
        } = wanted;
        let heard = Controller::listen();
        let mut settings = String::new();
        write!(
            settings,
            "[[agents]]\norganisation = \"{organisation}\"\nlabel = \"{organisation}\"\n\
             admin = \"127.0.0.1:{}\"\nadmin_insecure_mode = true\ninbound = \"127.0.0.1:{}\"\n\
             webhook_urls = [\"{}\"]\n{further}",
            ports.admin,
            ports.inbound,
            heard.url(),
        )
        .unwrap();
        let file = self.path(&format!("{organisation}.toml"));
        std::fs::write(&file, settings).unwrap();
        let file = file.display().to_string();
        let arguments = [&["--config", &file], arguments].concat();
        let mut process = Instance::start(&self.path(organisation), ports.own, &arguments);
        process.ready();
        OwnAgent {
            process,
            admin: AdminApi::at(organisation, ports.admin),
            heard,
        }
    }
}
