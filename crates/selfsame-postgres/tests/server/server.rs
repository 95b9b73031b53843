//! A PostgreSQL server of the test's own, in a temporary directory. It stops with the process that started it.

#![allow(dead_code, reason = "each test uses a part of it")]

#[path = "../../../selfsame-testkit/shared/port.rs"]
mod port;

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tempfile::TempDir;

/// A running server.
pub struct Server {
    directory: TempDir,
    port: u16,
    next: AtomicU32,
    settings: Vec<String>,
}

impl Server {
    /// The server that all tests of this executable share. It does not wait for its disk.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Server> = OnceLock::new();
        SHARED.get_or_init(|| Self::start(&["fsync=off"]))
    }

    /// Makes a cluster and starts a server with these settings.
    pub fn start(settings: &[&str]) -> Self {
        let server = Self::made(settings);
        server.run();
        server
    }

    /// Starts a server whose data are on a separate disk of this many MiB. Returns the disk as this process sees it.
    pub fn start_on_small_disk(mebibytes: u32) -> (Self, PathBuf) {
        let server = Self::made(&["fsync=off", "min_wal_size=32MB"]);
        let disk = server.directory.path().join("disk");
        std::fs::create_dir(&disk).unwrap();
        let postgres = server.command(&owner(), &disk.join("data"));
        let mount =
            r#"mount -t tmpfs -o size="$1"m none "$2" && cp -a "$3" "$2" && shift 3 && exec "$@""#;
        let mut command = Command::new("unshare");
        let is_root = owner().is_some();
        command
            .arg(if is_root { "-m" } else { "-rm" })
            .args(["sh", "-c", mount, "sh", &mebibytes.to_string()])
            .args([&disk, &server.directory.path().join("data")]);
        if !is_root {
            // PostgreSQL refuses to run as root, also as one of a namespace.
            command.args(["unshare", "--user", "--map-user=1000", "--map-group=1000"]);
        }
        command
            .arg(postgres.get_program())
            .args(postgres.get_args());
        let id = server.spawn(command);
        let inside = disk.strip_prefix("/").unwrap();
        let seen_at = PathBuf::from(format!("/proc/{id}/root")).join(inside);
        (server, seen_at)
    }

    /// A cluster whose server does not run yet.
    fn made(settings: &[&str]) -> Self {
        let directory = TempDir::new().unwrap();
        let owner = owner();
        if let Some(owner) = &owner {
            chown(directory.path(), Some(owner.user), Some(owner.group)).unwrap();
        }
        let data = directory.path().join("data");
        let mut initdb = as_owner(&owner, &program("initdb"));
        initdb
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8"])
            .args(["--locale=C", "--no-sync", "--pgdata"])
            .arg(&data)
            .current_dir(directory.path())
            .stdin(Stdio::null());
        succeeded(&mut initdb);
        Self {
            directory,
            port: port::free_port(),
            next: AtomicU32::new(0),
            settings: settings
                .iter()
                .map(|setting| (*setting).to_owned())
                .collect(),
        }
    }

    pub fn run(&self) {
        let data = self.directory.path().join("data");
        self.spawn(self.command(&owner(), &data));
    }

    fn command(&self, owner: &Option<Owner>, data: &Path) -> Command {
        let mut command = as_owner(owner, &program("postgres"));
        command
            .arg("-D")
            .arg(data)
            .arg("-k")
            .arg(self.directory.path())
            .args(["-p", &self.port.to_string()])
            .args(["-c", "listen_addresses=127.0.0.1"])
            .args(self.settings.iter().flat_map(|setting| ["-c", setting]));
        command
    }

    /// Starts the process from a thread that ends with it: the kernel stops the server with the thread that started it.
    /// Waits until it answers, and returns its id.
    fn spawn(&self, mut command: Command) -> u32 {
        command
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(self.directory.path().join("log")).unwrap());
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut child = command.spawn().unwrap();
            tell.send(child.id()).unwrap();
            let _ = child.wait();
        });
        let id = told.recv().unwrap();
        for _ in 0..1_200 {
            if self.answers() {
                return id;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = std::fs::read_to_string(self.directory.path().join("log"));
        panic!("the server did not start: {log:?}");
    }

    fn answers(&self) -> bool {
        let asked = Command::new(program("pg_isready"))
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string()])
            .stdout(Stdio::null())
            .status();
        asked.is_ok_and(|status| status.success())
    }

    /// Sends a signal to the server, and waits until it is gone. `INT` stops it; `KILL` is a crash of all its processes.
    pub fn end(&self, signal: &str) {
        end(&self.directory.path().join("data"), signal);
    }

    /// The address of a schema that does not exist yet.
    pub fn fresh(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.address(&format!("test_{number}"))
    }

    /// The address of this schema.
    pub fn address(&self, schema: &str) -> String {
        self.through(self.port, schema)
    }

    /// The address of this schema at another port, where something forwards to this server.
    pub fn through(&self, port: u16, schema: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{port}/postgres?schema={schema}")
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Executes a statement as somebody else who has access to the schema of this address.
    pub fn execute(&self, url: &str, statement: &str) {
        let (base, schema) = url.split_once("?schema=").unwrap();
        let statement = format!("SET search_path TO {schema}; {statement}");
        succeeded(psql(base).args(["-c", &statement]));
    }

    /// Executes one statement outside a transaction, in the schema of this address.
    pub fn execute_alone(&self, url: &str, statement: &str) {
        let (base, schema) = url.split_once("?schema=").unwrap();
        let options = format!("-c search_path={schema}");
        let mut command = psql(base);
        succeeded(command.args(["-c", statement]).env("PGOPTIONS", options));
    }

    /// A dump of the schema of this address.
    pub fn dump(&self, url: &str) -> Vec<u8> {
        let (base, schema) = url.split_once("?schema=").unwrap();
        let mut command = Command::new(program("pg_dump"));
        command.args(["--schema", schema, "--clean", "--if-exists", base]);
        succeeded(&mut command)
    }

    /// Puts a dump back, in place of what is there.
    pub fn put_back(&self, url: &str, dump: &[u8]) {
        let file = self.directory.path().join("dump.sql");
        std::fs::write(&file, dump).unwrap();
        let (base, _) = url.split_once("?schema=").unwrap();
        succeeded(psql(base).arg("-f").arg(&file));
    }

    /// Copies the running server's files, as a base for a recovery.
    pub fn base_backup(&self) -> PathBuf {
        let base = self.directory.path().join("base");
        let mut backup = as_owner(&owner(), &program("pg_basebackup"));
        backup
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string()])
            .args(["-U", "postgres", "--checkpoint=fast", "-D"])
            .arg(&base);
        succeeded(backup.current_dir(self.directory.path()));
        base
    }

    /// Puts the base in place of the data of the server, which has stopped, and lets it recover with these settings.
    pub fn recover(&self, base: &Path, settings: &str) {
        let data = self.directory.path().join("data");
        std::fs::remove_dir_all(&data).unwrap();
        std::fs::rename(base, &data).unwrap();
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .open(data.join("postgresql.auto.conf"))
            .unwrap();
        std::io::Write::write_all(&mut file, settings.as_bytes()).unwrap();
        std::fs::write(data.join("recovery.signal"), "").unwrap();
        self.run();
    }

    /// What a query answers, as text.
    pub fn ask(&self, query: &str) -> String {
        let base = format!("postgres://postgres@127.0.0.1:{}/postgres", self.port);
        let answer = succeeded(psql(&base).args(["-Atc", query]));
        String::from_utf8(answer).unwrap().trim().to_owned()
    }

    /// Waits for a query that is cut off.
    pub fn held(&self, query: &str) {
        let base = format!("postgres://postgres@127.0.0.1:{}/postgres", self.port);
        let cut = psql(&base).args(["-Atc", query]).output().unwrap();
        assert!(!cut.status.success(), "the query came to its end");
    }

    /// The directory of the server, with its data and its log.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }
}

/// Sends a signal to the server with this data directory, and waits until it is gone.
pub fn end(data: &Path, signal: &str) {
    let pid_file = data.join("postmaster.pid");
    let pid = std::fs::read_to_string(&pid_file).unwrap();
    let pid = pid.lines().next().unwrap().to_owned();
    let children = Command::new("pgrep").args(["-P", &pid]).output().unwrap();
    let mut pids = vec![pid];
    if signal == "KILL" {
        let children = String::from_utf8(children.stdout).unwrap();
        pids.extend(children.lines().map(str::to_owned));
    }
    Command::new("kill")
        .arg(format!("-{signal}"))
        .args(&pids)
        .status()
        .unwrap();
    for _ in 0..3_000 {
        if !pids
            .iter()
            .any(|pid| Path::new("/proc").join(pid).join("exe").exists())
        {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the server did not stop");
}

/// `psql` at this address, which stops at the first error.
fn psql(base: &str) -> Command {
    let mut command = Command::new(program("psql"));
    command.args([base, "-v", "ON_ERROR_STOP=1"]);
    command
}

/// What a command printed that must succeed.
pub fn succeeded(command: &mut Command) -> Vec<u8> {
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    done.stdout
}

/// The user that runs the server if this process is root's, for whom PostgreSQL refuses to run.
pub struct Owner {
    pub user: u32,
    pub group: u32,
}

pub fn owner() -> Option<Owner> {
    let id = |flag: &str, user: &[&str]| {
        let asked = Command::new("id").arg(flag).args(user).output().ok()?;
        String::from_utf8(asked.stdout).ok()?.trim().parse().ok()
    };
    if id("-u", &[]) != Some(0) {
        return None;
    }
    Some(Owner {
        user: id("-u", &["postgres"])?,
        group: id("-g", &["postgres"])?,
    })
}

/// A program that runs as this user, and that the kernel stops with the thread that started it.
pub fn as_owner(owner: &Option<Owner>, program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if let Some(owner) = owner {
        command
            .args([
                format!("--reuid={}", owner.user),
                format!("--regid={}", owner.group),
            ])
            .arg("--clear-groups");
    }
    command.arg("--pdeathsig=INT").arg("--").arg(program);
    command
}

/// A program of PostgreSQL: on PATH, or where Debian keeps the newest version.
pub fn program(name: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten();
    let mut found: Vec<PathBuf> = versions
        .filter_map(|version| Some(version.ok()?.path().join("bin").join(name)))
        .filter(|path| path.exists())
        .collect();
    found.sort();
    found.pop().unwrap_or_else(|| name.into())
}
