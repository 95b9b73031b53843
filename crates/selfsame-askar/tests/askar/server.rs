//! A PostgreSQL server of its own, in a temporary directory, reached by its socket.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

pub struct Server {
    process: Child,
    directory: TempDir,
}

impl Server {
    /// Starts a server. It refuses to run as root, so there it runs as the system's user `postgres`.
    pub fn start() -> Self {
        let directory = TempDir::new().unwrap();
        let path = directory.path();
        if is_root() {
            succeeds(Command::new("chown").arg("postgres").arg(path));
        }
        let data = path.join("data");
        let mut initdb = program(path, "initdb");
        initdb.args(["--username=postgres", "--auth=trust", "--no-sync", "-D"]);
        succeeds(initdb.arg(&data));
        let mut postgres = program(path, "postgres");
        postgres.arg("-D").arg(&data).arg("-k").arg(path);
        postgres.args(["-c", "listen_addresses=", "-c", "fsync=off"]);
        let process = postgres.stderr(Stdio::null()).spawn().unwrap();
        let server = Self { process, directory };
        server.wait();
        server
    }

    /// The address of a database on it. Askar wants a host before the path, and uses the one in the query.
    pub fn address(&self, database: &str) -> String {
        let socket = self.directory.path().display();
        format!("postgres://postgres:unused@localhost/{database}?host={socket}")
    }

    /// Runs SQL in a database.
    pub fn run(&self, database: &str, sql: &str) {
        let path = self.directory.path();
        let mut psql = program(path, "psql");
        psql.args(["-q", "-U", "postgres", "-d", database, "-c", sql, "-h"]);
        succeeds(psql.arg(path));
    }

    fn wait(&self) {
        for _ in 0..600 {
            let path = self.directory.path();
            let mut ready = program(path, "pg_isready");
            if ready.arg("-h").arg(path).output().unwrap().status.success() {
                return;
            }
            sleep(Duration::from_millis(100));
        }
        panic!("PostgreSQL did not start");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let path = self.directory.path();
        let mut stop = program(path, "pg_ctl");
        stop.args(["stop", "--mode=immediate", "--silent", "-D"]);
        let _ = stop.arg(path.join("data")).status();
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A program of the newest PostgreSQL that is installed as Debian does.
fn program(directory: &Path, name: &str) -> Command {
    let versions = fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL is installed");
    let versions = versions.map(|version| version.unwrap().path());
    let newest: PathBuf = versions.max().expect("PostgreSQL is installed");
    let program = newest.join("bin").join(name);
    let mut command = match is_root() {
        false => Command::new(program),
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
            command.arg(program);
            command
        }
    };
    command.current_dir(directory).stdin(Stdio::null());
    command.stdout(Stdio::null());
    command
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {said}");
}
