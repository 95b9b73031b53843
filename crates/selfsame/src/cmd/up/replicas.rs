//! `selfsame up --replicas`: several processes on one database and one address, and a registry in a process of its own.
//! This process starts them, and starts one again that ends.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use selfsame_driver::data_directory::{KEY_FILE, SALT_FILE, TOKEN_FILE, WRAPPED_FILE};
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::interrupt::until_told_to_go;
use selfsame_terminal::master_key::{self, Custody};
use selfsame_terminal::next_key::{NEXT_PASSPHRASE, NEXT_WRAPPED};
use selfsame_terminal::output;
use selfsame_terminal::systemd::ServiceManager;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use url::Url;

use super::{BESIDE, Role, Up};
use crate::database::DatabaseOptions;
use crate::private_directory;
use crate::settings::Settings;
use crate::tls::Certificate;

/// The number of the process with the registry.
const REGISTRY: u16 = 0;
/// How long a process may take to stop.
const GRACE: Duration = Duration::from_secs(30);
/// The pause before a process that ended is started again.
const REST: Duration = Duration::from_secs(1);

const NAME_ONE: &str = "name it with --database postgres://USER@HOST/DATABASE (docs/postgres.md); a file in the data directory serves one process";
const A_PORT: &str = "name a port with --listen, such as 127.0.0.1:7380";

/// What a process prints once it serves.
#[derive(Deserialize)]
struct StartedProcess {
    origin: Url,
    sign_in: String,
    operator_token_file: Option<PathBuf>,
}

/// What the command prints in JSON once all processes serve.
#[derive(Serialize)]
struct StartedReplicas {
    origin: Url,
    replicas: u16,
    /// The registry, if it is one of these processes.
    registry: Option<Url>,
    operator_token_file: Option<PathBuf>,
    /// A link that signs in the operator: works once, for ten minutes.
    sign_in: String,
}

/// How the processes are started.
#[derive(Clone)]
struct ReplicaProgram {
    program: PathBuf,
    /// The arguments of this process.
    arguments: Vec<OsString>,
}

/// The processes under way.
struct KeptProcesses {
    program: ReplicaProgram,
    stop: watch::Sender<bool>,
    kept: Vec<JoinHandle<()>>,
}

impl Up {
    /// Starts the processes, prints their address, and keeps them until this one is told to go.
    pub(super) async fn supervise(self, count: u16) -> End {
        let file = self.config.as_deref().map(Settings::read).transpose()?;
        let file = file.unwrap_or_default();
        let is_elsewhere = self.registry.is_some() || !file.registry.nodes()?.is_empty();
        if self.database.database(file.database)?.is_none() {
            let what = "--replicas needs a database that all processes share";
            return Err(Failure::environment(what).hint(NAME_ONE));
        }
        if self.listen().port() == 0 {
            let what = "--replicas: all processes listen on one port, so it can't be any free one";
            return Err(Failure::environment(what).hint(A_PORT));
        }
        private_directory::take(self.data())?;
        // All processes use this one.
        drop(master_key::load(
            &self.master_key.custody(self.data())?,
            self.data(),
        )?);
        let mut processes = KeptProcesses {
            program: ReplicaProgram {
                program: std::env::current_exe()?,
                arguments: std::env::args_os().skip(1).collect(),
            },
            stop: watch::Sender::new(false),
            kept: Vec::new(),
        };
        let started = processes.start_all(count, is_elsewhere).await;
        let ended = match started {
            Ok((first, registry)) => {
                let started = StartedReplicas {
                    origin: first.origin,
                    replicas: count,
                    registry: registry.map(|registry| registry.origin),
                    operator_token_file: first.operator_token_file,
                    sign_in: first.sign_in,
                };
                match self.json {
                    true => output::json(&started),
                    false => tell(&started),
                }
                let manager = ServiceManager::of_environment();
                manager.ready();
                until_told_to_go().await;
                manager.stopping();
                Ok(Answer::Yes)
            }
            Err(failure) => Err(failure),
        };
        processes.stop().await;
        ended
    }

    /// The part of one of the processes.
    ///
    /// # Errors
    /// If its directory can't be made.
    pub(super) fn part_of(mut self, number: u16) -> Result<Self, Failure> {
        (self.no_demo, self.demo, self.json) = (true, false, true);
        let all = self.data().to_owned();
        let registry = all.join("registry");
        let beside = self.listen().port().saturating_add(BESIDE);
        if number == REGISTRY {
            self.data = Some(registry);
            self.role = vec![Role::Registry];
            self.listen = Some((IpAddr::V4(Ipv4Addr::LOCALHOST), beside).into());
            self.database = DatabaseOptions::default();
            self.certificate = Certificate::default();
            (self.origin, self.config, self.token) = (None, None, Default::default());
            return Ok(self);
        }
        let own = all.join(format!("replica-{number}"));
        private_directory::take(&own)?;
        match self.master_key.custody(&all)? {
            Custody::BesideTheData => {
                self.master_key.master_key_file = Some(all.join(KEY_FILE));
            }
            Custody::Passphrase(_) => {
                share(&all, &own, SALT_FILE)?;
                look_for(&all, &own, NEXT_PASSPHRASE)?;
            }
            Custody::Hsm(_) => {
                share(&all, &own, WRAPPED_FILE)?;
                look_for(&all, &own, NEXT_WRAPPED)?;
            }
            Custody::File(_) => {}
        }
        self.data = Some(own);
        self.token.share(all.join(TOKEN_FILE), number == 1);
        if self.role.is_empty() {
            self.role = vec![Role::Issuer, Role::Wallet, Role::Verifier];
        }
        if registry.exists() {
            let url = Url::parse(&format!("http://localhost:{beside}/"));
            self.registry = Some(url.map_err(|error| Failure::ours(error.to_string()))?);
            self.registry_token_file = Some(registry.join(TOKEN_FILE));
        }
        Ok(self)
    }
}

/// Copies a file that all processes need.
fn share(from: &Path, to: &Path, name: &str) -> Result<(), Failure> {
    std::fs::copy(from.join(name), to.join(name))?;
    Ok(())
}

/// Lets a process look for a file that is not there yet in the directory of all.
fn look_for(at: &Path, from: &Path, name: &str) -> Result<(), Failure> {
    let (link, file) = (from.join(name), std::path::absolute(at.join(name))?);
    match std::os::unix::fs::symlink(file, link) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    }
}

fn tell(started: &StartedReplicas) {
    output::say("");
    output::say(&format!("  {}", started.origin));
    let link = &started.sign_in;
    output::say(&format!(
        "  sign in as the operator (works once, for ten minutes): {link}"
    ));
    if let Some(file) = &started.operator_token_file {
        output::say(&format!("  The operator's token is in {}.", file.display()));
    }
    output::say(&format!(
        "  {} processes share this address and the database; the others continue if any one of them is killed.",
        started.replicas
    ));
    if let Some(registry) = &started.registry {
        output::say(&format!(
            "  The registry is a process of its own: {registry}registry"
        ));
    }
    output::say("  Ctrl-C stops them.");
}

impl KeptProcesses {
    /// Starts the registry, then the first replica, which prepares what all need, and then the others. Returns what the
    /// first one and the registry have printed.
    async fn start_all(
        &mut self,
        count: u16,
        is_elsewhere: bool,
    ) -> Result<(StartedProcess, Option<StartedProcess>), Failure> {
        let registry = match is_elsewhere {
            true => None,
            false => Some(ready(REGISTRY, self.start(REGISTRY)).await?),
        };
        let first = ready(1, self.start(1)).await?;
        let others: Vec<_> = (2..=count)
            .map(|number| (number, self.start(number)))
            .collect();
        for (number, other) in others {
            ready(number, other).await?;
        }
        Ok((first, registry))
    }

    fn start(&mut self, number: u16) -> oneshot::Receiver<String> {
        let (serves, served) = oneshot::channel();
        let (program, stop) = (self.program.clone(), self.stop.subscribe());
        self.kept
            .push(tokio::spawn(program.keep(number, stop, serves)));
        served
    }

    async fn stop(self) {
        self.stop.send_replace(true);
        for kept in self.kept {
            // The task ends by itself.
            let _ = kept.await;
        }
    }
}

async fn ready(number: u16, served: oneshot::Receiver<String>) -> Result<StartedProcess, Failure> {
    let said = served.await.map_err(|_| {
        Failure::environment(format!(
            "{} did not start; see above for the reason",
            name(number)
        ))
    })?;
    serde_json::from_str(&said).map_err(|error| Failure::ours(error.to_string()))
}

fn name(number: u16) -> String {
    match number {
        REGISTRY => "the registry".to_owned(),
        number => format!("replica {number}"),
    }
}

impl ReplicaProgram {
    fn spawn(&self, number: u16) -> std::io::Result<Child> {
        Command::new(&self.program)
            .args(&self.arguments)
            .arg("--replica")
            .arg(number.to_string())
            .env_remove("NOTIFY_SOCKET")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    }

    /// Runs a process, and starts it again when it ends. Gives up one that ends before it has served once.
    async fn keep(
        self,
        number: u16,
        mut stop: watch::Receiver<bool>,
        serves: oneshot::Sender<String>,
    ) {
        let (mut serves, mut has_served) = (Some(serves), false);
        loop {
            let mut child = match self.spawn(number) {
                Ok(child) => child,
                Err(error) => {
                    return output::complain(&format!("selfsame: {}: {error}", name(number)));
                }
            };
            let leash = child.stdin.take();
            let printed = child.stdout.take();
            let mut printed = printed.map(|printed| BufReader::new(printed).lines());
            let ended = loop {
                let line = async {
                    match &mut printed {
                        Some(lines) => lines.next_line().await.ok().flatten(),
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    line = line => match line {
                        Some(line) => {
                            has_served = true;
                            serves.take().map(|serves| serves.send(line));
                        }
                        None => printed = None,
                    },
                    ended = child.wait() => break ended,
                    _ = stop.changed() => {
                        drop(leash);
                        return end(&mut child, number).await;
                    }
                }
            };
            let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            if !has_served {
                return;
            }
            output::complain(&format!(
                "selfsame: {} ended ({how}); the others continue, and it is started again",
                name(number)
            ));
            sleep(REST).await;
        }
    }
}

/// Waits until a process has ended that was told to; kills it if it takes too long.
async fn end(child: &mut Child, number: u16) {
    if timeout(GRACE, child.wait()).await.is_err() {
        output::complain(&format!(
            "selfsame: {} did not stop and is killed",
            name(number)
        ));
        // It may have ended by itself meanwhile.
        let _ = child.kill().await;
    }
}
