//! The measured server as a separate process: starts it, and reads its memory and processor time.

use std::fs::{DirBuilder, File};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::Error;
use crate::client::BenchClient;
use crate::port::free_port;

/// One wallet takes every credential of a run. That is far more than the default limits allow, and the limits are not
/// measured.
const ROOM: &str = "[wallet]\ncards_max = \"unlimited\"\nbytes_max = \"unlimited\"\n";

/// The files of a server's settings and log, below its data.
const SETTINGS: &str = "settings.toml";
const LOG: &str = "log";

/// The longest time from start to readiness. With millions of records, a start compares all of them with their sum.
const PATIENCE: Duration = Duration::from_secs(180);

/// The pause between looks at a server that was asked to end.
const LOOK: Duration = Duration::from_millis(5);

/// The program to start as the server.
#[derive(Clone, Debug)]
pub struct Program {
    /// The `selfsame` executable.
    pub executable: PathBuf,
    /// Additional arguments for every run.
    pub arguments: Vec<String>,
    /// How many of the machine's cores it may use; all without a number.
    pub cores: Option<usize>,
}

/// A running server with its data in a directory that the caller owns.
pub struct ServerProcess {
    child: Child,
    log: PathBuf,
    /// How it was started, to start it again.
    started: StartedServer,
    /// The server's base URL, without a trailing slash.
    pub base: String,
    /// The operator's token.
    pub operator: String,
    began: Instant,
    /// The time from start to readiness.
    pub ready: Duration,
}

/// How a server was started.
struct StartedServer {
    program: Program,
    data: PathBuf,
    address: SocketAddr,
    more: Vec<String>,
}

/// Processor time and memory at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Processor time since the start, in seconds.
    pub cpu_s: f64,
    /// Current memory, in MB.
    pub rss_mb: f64,
    /// Peak memory, in MB.
    pub peak_mb: f64,
}

impl Program {
    /// Starts the server on a free port with these settings, and waits until it is ready.
    ///
    /// # Errors
    /// If it can't be started or is not ready in time.
    pub async fn start(&self, data: &Path, settings: &str) -> Result<ServerProcess, Error> {
        self.start_with(data, settings, &[]).await
    }

    /// Starts the server as [`Self::start`] does, with more arguments.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub async fn start_with(
        &self,
        data: &Path,
        settings: &str,
        more: &[String],
    ) -> Result<ServerProcess, Error> {
        let (mut server, _) = self.spawn(data, settings, more)?;
        let client = BenchClient::new(&server.base);
        server.until(async || client.is_ready().await).await?;
        server.operator = std::fs::read_to_string(data.join("operator-token"))?
            .trim()
            .to_owned();
        Ok(server)
    }

    /// Starts the server over TLS, with a self-made certificate in `data`. The server is ready once it listens and the
    /// certificate is written.
    ///
    /// # Errors
    /// As [`Self::start`].
    #[expect(
        clippy::disallowed_methods,
        reason = "the server is on loopback, and nothing is said to it"
    )]
    pub async fn start_over_tls(
        &self,
        data: &Path,
        more: &[String],
    ) -> Result<ServerProcess, Error> {
        let more = [more, &["--tls-self-made".to_owned()]].concat();
        let (mut server, address) = self.spawn(data, "", &more)?;
        server.base = format!("https://localhost:{}", address.port());
        let certificate = data.join("tls-certificate.pem");
        let is_written = || {
            let pem = std::fs::read_to_string(&certificate);
            pem.is_ok_and(|pem| pem.contains("-----END CERTIFICATE-----"))
        };
        let listens =
            async || is_written() && tokio::net::TcpStream::connect(address).await.is_ok();
        server.until(listens).await?;
        Ok(server)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the time to readiness is a figure"
    )]
    fn spawn(
        &self,
        data: &Path,
        settings: &str,
        more: &[String],
    ) -> Result<(ServerProcess, SocketAddr), Error> {
        // Only this user may access it, as the server requires of a directory with files in it.
        DirBuilder::new().recursive(true).mode(0o700).create(data)?;
        std::fs::write(data.join(SETTINGS), format!("{ROOM}{settings}"))?;
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let started = StartedServer {
            program: self.clone(),
            data: data.to_owned(),
            address,
            more: more.to_vec(),
        };
        let began = Instant::now();
        let server = ServerProcess {
            child: started.spawn()?,
            log: data.join(LOG),
            started,
            base: format!("http://{address}"),
            operator: String::new(),
            began,
            ready: Duration::ZERO,
        };
        Ok((server, address))
    }

    /// The program without arguments. taskset (util-linux) sets the cores, and becomes the program.
    fn command(&self) -> Command {
        let Some(cores) = self.cores else {
            return Command::new(&self.executable);
        };
        let mut command = Command::new("taskset");
        let list = format!("0-{}", cores.saturating_sub(1));
        command.args(["--cpu-list", &list]).arg(&self.executable);
        command
    }
}

impl StartedServer {
    /// Starts the process with the settings in its data.
    fn spawn(&self) -> Result<Child, Error> {
        let child = self
            .program
            .command()
            .args([
                "up",
                "--no-demo",
                "--listen",
                &self.address.to_string(),
                "--data",
            ])
            .arg(&self.data)
            .arg("--config")
            .arg(self.data.join(SETTINGS))
            .args(&self.program.arguments)
            .args(&self.more)
            // The database of the load test is not this server's, unless its settings name it.
            .env_remove("SELFSAME_DATABASE")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(self.data.join(LOG))?)
            .spawn()?;
        Ok(child)
    }
}

impl ServerProcess {
    /// Kills the server as a crash would. [`Self::start_again`] starts it again.
    ///
    /// # Errors
    /// If it can't be killed.
    pub fn crash(&mut self) -> Result<(), Error> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks the server to end, as an operator would, and waits until it has.
    ///
    /// # Errors
    /// If it does not end in time.
    pub async fn stop(&mut self) -> Result<(), Error> {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let asked = id.map(|id| kill_process(id, Signal::TERM));
        asked.transpose().map_err(std::io::Error::from)?;
        for _ in 0..PATIENCE.as_millis() / LOOK.as_millis() {
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
            tokio::time::sleep(LOOK).await;
        }
        Err(Error::Server("does not end".to_owned()))
    }

    /// Starts a server that has ended again, with the same data and at the same address, and waits until it is ready.
    ///
    /// # Errors
    /// If it can't be started or is not ready in time.
    #[expect(
        clippy::disallowed_methods,
        reason = "the time to readiness is a figure"
    )]
    pub async fn start_again(&mut self) -> Result<(), Error> {
        self.began = Instant::now();
        self.child = self.started.spawn()?;
        let client = BenchClient::new(&self.base);
        self.until(async || client.is_ready().await).await
    }

    /// Waits until the server is ready or has ended.
    async fn until(&mut self, is_ready: impl AsyncFn() -> bool) -> Result<(), Error> {
        while !is_ready().await {
            if let Some(status) = self.child.try_wait()? {
                let log = std::fs::read_to_string(&self.log)?;
                let last = log.lines().last().unwrap_or("it said nothing");
                return Err(Error::Server(format!(
                    "ended with {status} before it was ready: {last}"
                )));
            }
            if self.began.elapsed() > PATIENCE {
                let waited = PATIENCE.as_secs();
                return Err(Error::Server(format!("is not ready after {waited} s")));
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        self.ready = self.began.elapsed();
        Ok(())
    }

    /// The server's processor time and memory.
    #[must_use]
    pub fn usage(&self) -> Usage {
        usage(self.child.id())
    }

    /// The server's process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the server is still running.
    pub fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // A process that supervises others has no time to stop them.
        let family = family(self.child.id());
        let _ = self.child.kill();
        for id in family.into_iter().skip(1) {
            let id = i32::try_from(id).ok().and_then(Pid::from_raw);
            let _ = id.map(|id| kill_process(id, Signal::KILL));
        }
        let _ = self.child.wait();
    }
}

/// This process's own processor time and memory.
pub(crate) fn usage_of_this() -> Usage {
    usage(std::process::id())
}

/// Processor time and memory of a process.
#[must_use]
pub fn usage(process: u32) -> Usage {
    let read =
        |file: &str| std::fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
    let status = read("status");
    let megabytes = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .and_then(|rest| rest.split_whitespace().next())
            .and_then(|number| number.parse::<f64>().ok())
            .map_or(0.0, |kilobytes| kilobytes / 1024.0)
    };
    let stat = read("stat");
    // The name may contain spaces, so fields are counted after its closing parenthesis (proc(5), fields 14 and 15).
    let ticks: f64 = stat
        .rsplit_once(')')
        .map(|(_, rest)| {
            rest.split_whitespace()
                .skip(11)
                .take(2)
                .filter_map(|field| field.parse::<f64>().ok())
                .sum()
        })
        .unwrap_or(0.0);
    Usage {
        // In /proc, Linux counts in hundredths of a second.
        cpu_s: ticks / 100.0,
        rss_mb: megabytes("VmRSS:"),
        peak_mb: megabytes("VmHWM:"),
    }
}

/// A process and all its descendants.
#[must_use]
pub fn family(process: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let parents: Vec<(u32, u32)> = entries
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The state and the parent follow the name.
            let (_, rest) = stat.rsplit_once(')')?;
            let parent = rest.split_whitespace().nth(1)?.parse().ok()?;
            Some((id, parent))
        })
        .collect();
    let mut family = vec![process];
    let mut at = 0;
    while let Some(parent) = family.get(at).copied() {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        family.extend(children.map(|(id, _)| *id));
        at += 1;
    }
    family
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_tells_its_memory_and_time() {
        let own = usage(std::process::id());
        assert!(own.rss_mb > 1.0 && own.peak_mb >= own.rss_mb * 0.9 && own.cpu_s >= 0.0);
    }

    #[test]
    fn a_program_uses_no_more_cores_than_it_may() {
        let program = Program {
            executable: "nproc".into(),
            arguments: Vec::new(),
            cores: Some(1),
        };
        let told = program.command().output().unwrap();
        assert_eq!(told.stdout, b"1\n");
    }

    #[test]
    fn a_process_is_found_with_what_it_has_started() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let found = family(std::process::id()).contains(&child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(found);
    }
}
