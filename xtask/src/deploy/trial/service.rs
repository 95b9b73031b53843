//! A program in a file system of its own, started as systemd starts a service, with a socket in the place of systemd's.

use std::{
    io::{Read as _, Write as _},
    net::{Ipv4Addr, TcpListener, TcpStream},
    os::unix::net::UnixDatagram,
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use super::{payload::path, set_mode};

/// The longest wait for what a service tells, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a service is started.
pub struct Start<'a> {
    pub root: &'a Path,
    pub user: u32,
    pub command: &'a [&'a str],
    /// Variables, each as `NAME=value`.
    pub environment: &'a [&'a str],
}

/// A service; it is killed when this value is dropped.
pub struct Service {
    child: Child,
    manager: UnixDatagram,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}

impl Service {
    /// Starts it.
    pub fn start(start: &Start<'_>) -> Result<Self, String> {
        let socket = start.root.join("run/notify");
        let _not_there = std::fs::remove_file(&socket);
        let failed = |error: std::io::Error| format!("{}: {error}", socket.display());
        let manager = UnixDatagram::bind(&socket).map_err(failed)?;
        manager.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        set_mode(&socket, 0o666)?;
        let mut command = Command::new("chroot");
        let child = command
            .arg(format!("--userspec={0}:{0}", start.user))
            .arg("--groups=")
            .arg(path(start.root)?)
            .args(start.command)
            .env_clear()
            .envs(
                start
                    .environment
                    .iter()
                    .filter_map(|pair| pair.split_once('=')),
            )
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("NOTIFY_SOCKET", "/run/notify")
            .env("WATCHDOG_USEC", "1000000")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| format!("chroot: {error}"))?;
        Ok(Self { child, manager })
    }

    /// Waits for this message among those to the watchdog.
    pub fn hears(&mut self, wanted: &str) -> Result<(), String> {
        loop {
            let mut bytes = [0; 256];
            let length = self.manager.recv(&mut bytes);
            let length = length.map_err(|error| {
                let ended = self.child.try_wait();
                format!("the service did not tell {wanted}: {error} ({ended:?})")
            })?;
            let heard = String::from_utf8_lossy(&bytes[..length]);
            if heard.contains(wanted) {
                return Ok(());
            }
            if heard != "WATCHDOG=1\n" {
                return Err(format!("the service told {heard} in place of {wanted}"));
            }
        }
    }

    pub fn signal(&self, name: &str) -> Result<(), String> {
        let status = Command::new("kill")
            .args([name, &self.child.id().to_string()])
            .status();
        match status {
            Ok(status) if status.success() => Ok(()),
            other => Err(format!("kill {name}: {other:?}")),
        }
    }

    /// Waits for its end, which must be a success.
    pub fn ends_well(mut self) -> Result<(), String> {
        match self.child.wait() {
            Ok(status) if status.success() => Ok(()),
            other => Err(format!("the service ended badly: {other:?}")),
        }
    }
}

/// A port that nothing listens on.
pub fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let at = listener.and_then(|listener| listener.local_addr());
    at.map(|at| at.port())
        .map_err(|error| format!("a port: {error}"))
}

/// The answer to a request at this port, with its head.
#[expect(
    clippy::disallowed_methods,
    reason = "the trial calls what it started, as a browser would"
)]
pub fn get(port: u16, path: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("127.0.0.1:{port}{path}: {error}");
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(failed)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).map_err(failed)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
