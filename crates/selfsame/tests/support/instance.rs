//! An instance of its own for one test: the built binary on a free port.

use std::fs::OpenOptions;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use url::Url;

use crate::http::Api;

/// A running instance; it ends when dropped.
pub struct Instance {
    child: Child,
    data: PathBuf,
    /// The base of its addresses.
    pub origin: Url,
}

impl Instance {
    /// Starts one on this port with its data in this directory, and its log beside it.
    pub fn start(data: &Path, port: u16, arguments: &[&str]) -> Self {
        Self::start_in(&[], data, port, arguments)
    }

    /// The same with something in its environment.
    pub fn start_in(
        environment: &[(&str, &str)],
        data: &Path,
        port: u16,
        arguments: &[&str],
    ) -> Self {
        let log = data.with_extension("log");
        let log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_selfsame"))
            .args([
                "up",
                "--no-demo",
                "--listen",
                &format!("127.0.0.1:{port}"),
                "--data",
            ])
            .arg(data)
            .args(arguments)
            .envs(environment.iter().copied())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let origin = Url::parse(&format!("http://localhost:{port}/")).unwrap();
        Self {
            child,
            data: data.to_owned(),
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
                began.elapsed() < Duration::from_secs(30),
                "the instance is not ready after 30 s"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The file that holds the operator's token.
    pub fn token_file(&self) -> PathBuf {
        self.data.join("operator-token")
    }

    /// The API for the operator.
    pub fn operator(&self) -> Api {
        Api::new(
            &self.origin,
            &std::fs::read_to_string(self.token_file()).unwrap(),
        )
    }

    /// All that was logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.data.with_extension("log")).unwrap()
    }

    /// SIGKILL: nothing of it runs on.
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

/// A port that nobody listens on now.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}
