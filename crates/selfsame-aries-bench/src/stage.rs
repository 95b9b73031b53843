//! Agents that are ready for scenarios: together in one process, or each in a process of its own.

use std::path::{Path, PathBuf};
use std::time::Duration;

use selfsame_bench::Error;
use selfsame_bench::client::BenchClient;
use selfsame_bench::port::free_port;
use selfsame_bench::process::{Program, ServerProcess, Usage, family, usage};
use selfsame_bench::relay::Relay;
use selfsame_store_bench::balancer::Balancer;

use crate::AriesBench;
use crate::agents::{ForeignAgents, Kind, material};
use crate::scenario::Cast;

/// The roles of the agents, and the organisations that have them.
pub const ROLES: [AgentRole; 3] = [
    AgentRole {
        name: "issuer",
        organisation: "clinic",
    },
    AgentRole {
        name: "verifier",
        organisation: "pharmacy",
    },
    AgentRole {
        name: "holder",
        organisation: "patient",
    },
];

/// A role of an agent.
#[derive(Clone, Copy)]
pub struct AgentRole {
    /// Its name.
    pub name: &'static str,
    /// The organisation whose agent it is.
    pub organisation: &'static str,
}

/// How agents are staged in one process.
pub struct Staging<'a> {
    /// The name of their data.
    pub name: &'a str,
    /// What is issued.
    pub kind: Kind,
    /// Settings of each agent beside the usual ones.
    pub further: &'a str,
    /// How much later a message arrives than it was sent.
    pub delay: Option<Duration>,
}

impl<'a> Staging<'a> {
    /// With the usual settings, and without delay.
    pub fn new(name: &'a str, kind: Kind) -> Self {
        Self {
            name,
            kind,
            further: "",
            delay: None,
        }
    }
}

/// Agents that are ready for scenarios.
pub struct AriesStage {
    /// Their processes; none for foreign ones.
    pub servers: Vec<StagedServer>,
    /// What is between them and their callers.
    #[expect(dead_code, reason = "it lives as long as the stage")]
    pub between: Between,
    /// The directory of the data of agents in one process.
    pub data: Option<PathBuf>,
    /// The agents with their material.
    pub cast: Cast,
}

/// What is between agents and their callers.
#[derive(Default)]
pub struct Between {
    /// The relays before the agents.
    pub relays: Vec<Relay>,
    /// nginx.
    #[expect(dead_code, reason = "it lives as long as the stage")]
    pub balancer: Option<Balancer>,
}

/// A process of agents.
pub struct StagedServer {
    /// What it is.
    pub name: &'static str,
    /// The process.
    pub server: ServerProcess,
}

/// What a process of agents used.
pub struct AgentUsage {
    /// What it is.
    pub name: &'static str,
    /// Its processor time and memory.
    pub usage: Usage,
}

/// The ports of an agent on loopback.
#[derive(Clone, Copy)]
pub struct AgentPorts {
    /// Its admin API's.
    pub admin: u16,
    /// The one for its peers.
    pub inbound: u16,
}

impl AgentPorts {
    /// Ports that are free now.
    fn free() -> Result<Self, Error> {
        Ok(Self {
            admin: free_port()?,
            inbound: free_port()?,
        })
    }

    /// Those of an agent for each role.
    pub fn of_three() -> Result<[Self; 3], Error> {
        Ok([Self::free()?, Self::free()?, Self::free()?])
    }

    /// The settings of an agent at these ports, which its peers reach at this port.
    pub fn settings(self, role: AgentRole, endpoint: u16, further: &str) -> String {
        let (Self { admin, inbound }, AgentRole { organisation, .. }) = (self, role);
        format!(
            "[[agents]]\norganisation = \"{organisation}\"\nlabel = \"{organisation}\"\n\
             admin = \"127.0.0.1:{admin}\"\nadmin_insecure_mode = true\n\
             inbound = \"127.0.0.1:{inbound}\"\nendpoint = \"http://127.0.0.1:{endpoint}\"\n\
             auto_respond_credential_offer = true\n{further}",
        )
    }
}

impl AriesStage {
    /// What each process used so far.
    pub fn used(&self) -> Vec<AgentUsage> {
        let used = |one: &StagedServer| AgentUsage {
            name: one.name,
            usage: sum(family(one.server.id()).into_iter().map(usage)),
        };
        self.servers.iter().map(used).collect()
    }

    /// What each process used since then, with its memory now.
    pub fn used_since(&self, before: &[AgentUsage]) -> Vec<AgentUsage> {
        let mut used = self.used();
        for (now, before) in used.iter_mut().zip(before) {
            now.usage.cpu_s -= before.usage.cpu_s;
        }
        used
    }

    /// Processor time and memory of all agents.
    pub fn usage(&self) -> Usage {
        sum(self.used().into_iter().map(|one| one.usage))
    }

    /// The bytes of the records and of the ledger on the disk.
    pub fn stored(&self) -> StoredBytes {
        let Some(data) = &self.data else {
            return StoredBytes::default();
        };
        let size = |name: &str| {
            let files = ["", "-wal"].map(|end| data.join(format!("{name}{end}")));
            files
                .iter()
                .filter_map(|file| file.metadata().ok())
                .map(|file| file.len())
                .sum()
        };
        StoredBytes {
            records: size("store.sqlite"),
            ledger: size("ledger.sqlite"),
        }
    }
}

/// Bytes on the disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoredBytes {
    /// Those of the records.
    pub records: u64,
    /// Those of the ledger.
    pub ledger: u64,
}

impl AriesBench<'_> {
    /// Starts the agents in one process, and publishes what is issued.
    ///
    /// # Errors
    /// If they can't be started or refuse.
    pub async fn stage(
        &self,
        program: &Program,
        staging: Staging<'_>,
    ) -> Result<AriesStage, Error> {
        let data = self.scratch.join(staging.name);
        let (mut settings, mut between) = (String::new(), Between::default());
        let ports = AgentPorts::of_three()?;
        for (role, ports) in ROLES.into_iter().zip(ports) {
            let mut endpoint = ports.inbound;
            if let Some(delay) = staging.delay {
                let relay = Relay::start(endpoint, delay).await?;
                endpoint = relay.port();
                between.relays.push(relay);
            }
            settings.push_str(&ports.settings(role, endpoint, staging.further));
        }
        let server = program.start(&data, &settings).await?;
        let name = "agents";
        Ok(AriesStage {
            servers: vec![StagedServer { name, server }],
            between,
            data: Some(data),
            cast: self.cast_at(ports, staging.kind).await?,
        })
    }

    /// Foreign agents, with a vaccination to issue.
    ///
    /// # Errors
    /// If they refuse.
    pub async fn foreign(&self, agents: &ForeignAgents) -> Result<AriesStage, Error> {
        let bases = [&agents.issuer, &agents.verifier, &agents.holder];
        let bases = bases.map(String::as_str);
        Ok(AriesStage {
            servers: Vec::new(),
            between: Between::default(),
            data: None,
            cast: self.cast(bases, Kind::Vaccination).await?,
        })
    }

    /// Starts each agent in a process of its own, and their registry in another, and publishes what is issued.
    ///
    /// # Errors
    /// As [`Self::stage`].
    pub async fn apart(&self, program: &Program, kind: Kind) -> Result<AriesStage, Error> {
        let data = self.scratch.join("apart");
        let registry = self.registry(program, &data).await?;
        let mut arguments = registry.arguments;
        let ports = AgentPorts::of_three()?;
        for one in ports {
            let origin = format!("http://127.0.0.1:{}", one.inbound);
            arguments.extend(["--trust-origin".to_owned(), origin]);
        }
        let mut servers = vec![registry.server];
        for (role, ports) in ROLES.into_iter().zip(ports) {
            let settings = ports.settings(role, ports.inbound, "");
            let data = data.join(role.name);
            let server = program.start_with(&data, &settings, &arguments).await?;
            let name = role.name;
            servers.push(StagedServer { name, server });
        }
        Ok(AriesStage {
            servers,
            between: Between::default(),
            data: None,
            cast: self.cast_at(ports, kind).await?,
        })
    }

    /// Starts a registry in a process of its own, with its data below this directory.
    pub async fn registry(&self, program: &Program, data: &Path) -> Result<StagedRegistry, Error> {
        let data = data.join("registry");
        let role = ["--role", "registry"].map(str::to_owned);
        let server = program.start_with(&data, "", &role).await?;
        let token = data.join("operator-token").display().to_string();
        let at = server.base.replace("127.0.0.1", "localhost");
        let arguments = ["--registry", &at, "--registry-token-file", &token];
        Ok(StagedRegistry {
            arguments: arguments.map(str::to_owned).into(),
            server: StagedServer {
                name: "registry",
                server,
            },
        })
    }

    /// The agents with these admin APIs, in the order of the roles, with what is issued.
    ///
    /// # Errors
    /// If they refuse.
    pub async fn cast(&self, admins: [&str; 3], kind: Kind) -> Result<Cast, Error> {
        let client = |base| BenchClient::new(base).with(&self.manners);
        let [issuer, verifier, holder] = admins.map(client);
        Ok(Cast {
            material: material(&issuer, kind).await?,
            issuer,
            verifier,
            holder,
        })
    }

    /// The agents at these ports.
    ///
    /// # Errors
    /// If they refuse.
    pub async fn cast_at(&self, ports: [AgentPorts; 3], kind: Kind) -> Result<Cast, Error> {
        let bases = ports.map(|one| format!("http://127.0.0.1:{}", one.admin));
        let [issuer, verifier, holder] = &bases;
        self.cast([issuer, verifier, holder], kind).await
    }
}

/// A registry in a process of its own.
pub struct StagedRegistry {
    /// The process.
    pub server: StagedServer,
    /// The arguments of processes that use it.
    pub arguments: Vec<String>,
}

fn sum(usages: impl Iterator<Item = Usage>) -> Usage {
    usages.fold(Usage::default(), |all, one| Usage {
        cpu_s: all.cpu_s + one.cpu_s,
        rss_mb: all.rss_mb + one.rss_mb,
        peak_mb: all.peak_mb + one.peak_mb,
    })
}
