//! An instance for one test: the built binary on a free port.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;
use url::Url;

use crate::http::Api;

/// How long it may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running instance; dropping it stops it.
pub struct Instance {
    child: Child,
    data: PathBuf,
    /// The data directory as this process sees it.
    seen_at: PathBuf,
    /// The base of its addresses.
    pub origin: Url,
}

impl Instance {
    /// Starts an instance on this port with its data in this directory, and its log beside it.
    pub fn start(data: &Path, port: u16, arguments: &[&str]) -> Self {
        Self::start_in(&[], data, port, arguments)
    }

    /// Starts it with additional environment variables.
    pub fn start_in(
        environment: &[(&str, &str)],
        data: &Path,
        port: u16,
        arguments: &[&str],
    ) -> Self {
        Self::start_at("127.0.0.1", environment, data, port, arguments)
    }

    /// Starts it on another address of this machine.
    pub fn start_at(
        listen: &str,
        environment: &[(&str, &str)],
        data: &Path,
        port: u16,
        arguments: &[&str],
    ) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_selfsame"));
        command
            .args(up(listen, port, data))
            .args(arguments)
            .envs(environment.iter().copied());
        Self::spawn(command, data, port)
    }

    /// Starts it on a separate disk of this many MiB, which other processes see only below `/proc/PID/root`.
    pub fn start_on_small_disk(mebibytes: u32, data: &Path, port: u16) -> Self {
        let mount = r#"mount -t tmpfs -o size="$1"m,mode=700 none "$2" && shift 2 && exec "$@""#;
        std::fs::create_dir(data).unwrap();
        let mut command = Command::new("unshare");
        command
            .args(["-rm", "sh", "-c", mount, "sh", &mebibytes.to_string()])
            .arg(data)
            .arg(env!("CARGO_BIN_EXE_selfsame"))
            .args(up("127.0.0.1", port, data));
        let mut instance = Self::spawn(command, data, port);
        let inside = data.strip_prefix("/").unwrap();
        instance.seen_at = PathBuf::from(format!("/proc/{}/root", instance.id())).join(inside);
        instance
    }

    fn spawn(mut command: Command, data: &Path, port: u16) -> Self {
        let log = data.with_extension("log");
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .unwrap();
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let origin = Url::parse(&format!("http://localhost:{port}/")).unwrap();
        Self {
            child,
            data: data.to_owned(),
            seen_at: data.to_owned(),
            origin,
        }
    }

    /// Waits until it serves.
    pub fn ready(&mut self) {
        let began = Instant::now();
        let api = Api::new(&self.origin, "");
        while !api
            .send("GET", "/readyz", None)
            .is_ok_and(|reply| reply.is_success())
        {
            assert!(
                self.child.try_wait().unwrap().is_none(),
                "the instance ended by itself"
            );
            assert!(
                began.elapsed() < PATIENCE,
                "the instance is not ready after {PATIENCE:?}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The file that holds the operator's token.
    pub fn token_file(&self) -> PathBuf {
        self.seen_at.join("operator-token")
    }

    /// The data directory as this process sees it.
    pub fn seen_at(&self) -> &Path {
        &self.seen_at
    }

    /// The API with the operator's token.
    pub fn operator(&self) -> Api {
        Api::new(
            &self.origin,
            &std::fs::read_to_string(self.token_file()).unwrap(),
        )
    }

    /// All log lines so far.
    pub fn log(&self) -> String {
        let bytes = std::fs::read(self.data.with_extension("log")).unwrap();
        // The last line may be incomplete.
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let lines = whole.map_or(&[][..], |end| &bytes[..=end]);
        String::from_utf8(lines.to_vec()).unwrap()
    }

    /// Sends SIGKILL, which ends the whole process.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn up(listen: &str, port: u16, data: &Path) -> [OsString; 6] {
    [
        "up".into(),
        "--no-demo".into(),
        "--listen".into(),
        format!("{listen}:{port}").into(),
        "--data".into(),
        data.into(),
    ]
}

/// The ports that this process holds.
static HELD: Mutex<Vec<TcpSocket>> = Mutex::new(Vec::new());

/// A port that no process listens on. It stays bound for as long as this process lives, so that the system gives it to
/// no other. A process that asks for it by number gets it, as long as none listens there.
pub fn free_port() -> u16 {
    held(0).unwrap()
}

/// Holds this port in the same way.
pub fn held(port: u16) -> std::io::Result<u16> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(([127, 0, 0, 1], port).into())?;
    let port = socket.local_addr()?.port();
    HELD.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(socket);
    Ok(port)
}
