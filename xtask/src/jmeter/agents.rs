//! The agents that a plan calls: one instance of ours with all of them, each where the plan expects it, and what the
//! plan's authors did by hand before a run.

use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder, File},
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use serde_json::{Value, json};

use super::plan::{Place, Plan, Published};
use crate::workspace::root;

/// How long the instance may take until it is ready, in tries and the pause between two.
const TRIES: u32 = 600;
const PAUSE: Duration = Duration::from_millis(200);
/// The longest an answer may take. A credential definition takes a second, in a debug build many.
const ANSWERED: Duration = Duration::from_secs(120);
/// Ports below this one need a privilege.
const PRIVILEGED: u16 = 1024;

/// The agents of a plan, until they are dropped.
pub struct Agents {
    process: Child,
    log: PathBuf,
    at: BTreeMap<Place, SocketAddr>,
}

/// The program to start.
pub struct OurProgram {
    pub path: PathBuf,
    /// Whether it is built for use. The times of a debug build say nothing.
    pub is_release: bool,
}

impl OurProgram {
    /// The release build if there is one, else the debug build.
    pub fn find() -> Result<Self, String> {
        let built = |profile: &str| root().join("target").join(profile).join("selfsame");
        for (profile, is_release) in [("release", true), ("debug", false)] {
            let path = built(profile);
            if path.exists() {
                return Ok(Self { path, is_release });
            }
        }
        Err(format!(
            "there is no {}\nhint: cargo build --release",
            built("release").display()
        ))
    }
}

/// An address on loopback for each host of the plan. Every host has the ports of its agents to itself.
pub fn addresses(plan: &Plan) -> Result<BTreeMap<String, Ipv4Addr>, String> {
    let mut found = BTreeMap::new();
    for place in plan.places() {
        let next = u8::try_from(found.len() + 2);
        let next = next.map_err(|_| "the plan calls more than 250 hosts")?;
        let address = Ipv4Addr::new(127, 0, 0, next);
        found.entry(place.host.clone()).or_insert(address);
    }
    Ok(found)
}

impl Agents {
    /// Starts the agents of a plan with their data in this folder, and waits until they answer.
    pub fn start(program: &OurProgram, plan: &Plan, folder: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let hosts = addresses(plan)?;
        let mut at = BTreeMap::new();
        for place in plan.places() {
            let address = hosts.get(&place.host).ok_or("a host has no address")?;
            let address = SocketAddr::from((*address, place.port));
            is_free(address)?;
            at.insert(place.clone(), address);
        }
        // Only this user may access it, as the instance requires of a folder with its data.
        DirBuilder::new()
            .mode(0o700)
            .create(folder)
            .map_err(failed)?;
        let (settings, log) = (folder.join("settings.toml"), folder.join("log"));
        fs::write(&settings, settings_of(plan, &at)?).map_err(failed)?;
        let process = Command::new(&program.path)
            .args([
                "up",
                "--no-demo",
                "--listen",
                &free()?.to_string(),
                "--data",
            ])
            .arg(folder.join("data"))
            .arg("--config")
            .arg(&settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log).map_err(failed)?)
            .spawn()
            .map_err(|error| format!("{}: {error}", program.path.display()))?;
        let mut agents = Self { process, log, at };
        agents.wait()?;
        Ok(agents)
    }

    fn wait(&mut self) -> Result<(), String> {
        for _ in 0..TRIES {
            if let Ok(Some(status)) = self.process.try_wait() {
                let log = fs::read_to_string(&self.log).unwrap_or_default();
                let last = log.lines().last().unwrap_or("it said nothing");
                return Err(format!(
                    "the instance ended with {status} before its agents were ready: {last}"
                ));
            }
            let is_ready = |place: &Place| self.call(place, "GET", "/status/ready", "").is_ok();
            if self.at.keys().all(is_ready) {
                return Ok(());
            }
            sleep(PAUSE);
        }
        Err(format!(
            "the agents are not ready\nhint: {} says why",
            self.log.display()
        ))
    }

    /// Publishes the schema and the credential definition of a plan in the name of the issuer's public DID.
    pub fn publish(&self, plan: &Plan, moment: u64) -> Result<Published, String> {
        let public = self.call(&plan.issuer, "GET", "/wallet/did/public", "")?;
        let schema = json!({
            "schema_name": plan.schema.name,
            "schema_version": plan.schema.version,
            "attributes": plan.schema.attributes,
        });
        let schema = self.call(&plan.issuer, "POST", "/schemas", &schema.to_string())?;
        let schema_id = text(&schema["schema_id"], "schema_id")?;
        let definition = json!({
            "schema_id": schema_id,
            "tag": plan.schema.name,
            "support_revocation": plan.schema.is_revocable,
        });
        let path = "/credential-definitions";
        let made = self.call(&plan.issuer, "POST", path, &definition.to_string())?;
        let member = "credential_definition_id";
        Ok(Published {
            cred_def_id: text(&made[member], member)?,
            issuer_did: text(&public["result"]["did"], "did")?,
            schema_id,
            moment,
        })
    }

    /// Whether the instance still runs.
    pub fn run(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// A call to the admin API of an agent, by the name that the plan has for its host.
    #[allow(
        clippy::disallowed_methods,
        reason = "the agents are on loopback, and this tool has no other way to call them"
    )]
    fn call(&self, place: &Place, method: &str, path: &str, body: &str) -> Result<Value, String> {
        let failed = |error: std::io::Error| format!("{method} {path}: {error}");
        let at = self.at.get(place).ok_or("the agent has no address")?;
        let mut stream = TcpStream::connect(at).map_err(failed)?;
        stream.set_read_timeout(Some(ANSWERED)).map_err(failed)?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}:{}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            place.host,
            place.port,
            body.len()
        );
        let mut answer = String::new();
        let asked = stream.write_all(format!("{head}{body}").as_bytes());
        asked.map_err(failed)?;
        stream.read_to_string(&mut answer).map_err(failed)?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        match head.split_whitespace().nth(1) {
            Some("200") => serde_json::from_str(body).map_err(|error| format!("{path}: {error}")),
            status => Err(format!(
                "{method} {path}: {}: {body}",
                status.unwrap_or("?")
            )),
        }
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The settings of an instance with these agents, whose organisations have names that are not reserved. What one holder keeps in a run is more than a person may by default.
fn settings_of(plan: &Plan, at: &BTreeMap<Place, SocketAddr>) -> Result<String, String> {
    let mut all = "[wallet]\ncards_max = \"unlimited\"\nbytes_max = \"unlimited\"\n".to_owned();
    for (number, (place, admin)) in (1..).zip(at) {
        let role = if *place == plan.issuer {
            "plan-issuer".to_owned()
        } else if *place == plan.verifier {
            "plan-verifier".to_owned()
        } else {
            format!("plan-holder-{number}")
        };
        let inbound = free()?;
        all.push_str(&format!(
            "[[agents]]\norganisation = \"{role}\"\nlabel = \"{role}\"\nadmin = \"{admin}\"\n\
             admin_insecure_mode = true\nadmin_hosts = [\"{}\"]\ninbound = \"{inbound}\"\n\
             endpoint = \"http://{inbound}\"\n",
            place.host
        ));
        if plan.holders.contains(place) {
            all.push_str("auto_respond_credential_offer = true\n");
        }
    }
    Ok(all)
}

/// An address on loopback that is free now.
fn free() -> Result<SocketAddr, String> {
    let bound = TcpListener::bind("127.0.0.1:0").and_then(|bound| bound.local_addr());
    bound.map_err(|error| format!("127.0.0.1: {error}"))
}

/// Whether an agent can listen where the plan expects it.
fn is_free(at: SocketAddr) -> Result<(), String> {
    let bound = TcpListener::bind(at);
    bound.map(|_| ()).map_err(|error| match at.port() {
        port if port < PRIVILEGED && error.kind() == std::io::ErrorKind::PermissionDenied => {
            format!(
                "{at}: {error}\nhint: the plan calls port {port}, at which only root may listen: run this as root, or first sysctl net.ipv4.ip_unprivileged_port_start={port}"
            )
        }
        _ => format!("{at}: {error}\nhint: the plan expects an agent at this port"),
    })
}

fn text(value: &Value, member: &str) -> Result<String, String> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| format!("the answer of the issuer has no {member}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = include_str!("plan/small.jmx");

    #[test]
    fn each_host_has_an_address_and_each_place_an_agent() {
        let plan = Plan::read(SMALL).unwrap();
        let hosts = addresses(&plan).unwrap();
        let all: Vec<String> = hosts
            .iter()
            .map(|(name, at)| format!("{at} {name}"))
            .collect();
        assert_eq!(
            all,
            [
                "127.0.0.2 cafe.example",
                "127.0.0.3 library.example",
                "127.0.0.4 reader.example"
            ]
        );
        let at = plan.places().into_iter().map(|place| {
            let address = hosts[&place.host];
            (place.clone(), SocketAddr::from((address, place.port)))
        });
        let settings = settings_of(&plan, &at.collect()).unwrap();
        let settings: toml::Table = settings.parse().unwrap();
        let agents = settings["agents"].as_array().unwrap();
        let told = agents.iter().map(|agent| {
            let is_holder = agent.get("auto_respond_credential_offer").is_some();
            let text = |name: &str| agent[name].as_str().unwrap();
            format!("{} {} {is_holder}", text("organisation"), text("admin"))
        });
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                "plan-verifier 127.0.0.2:80 false",
                "plan-issuer 127.0.0.3:9001 false",
                "plan-holder-3 127.0.0.4:9001 true",
                "plan-holder-4 127.0.0.4:9002 true"
            ]
        );
        assert_eq!(agents[0]["admin_hosts"][0].as_str(), Some("cafe.example"));
    }

    #[test]
    fn a_port_that_is_taken_is_told() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = taken.local_addr().unwrap();
        assert!(is_free(at).unwrap_err().contains("expects an agent"));
        drop(taken);
        is_free(at).unwrap();
    }
}
