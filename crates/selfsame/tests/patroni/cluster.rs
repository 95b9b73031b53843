//! Two PostgreSQL servers under Patroni, with the settings file of the documentation, and etcd. They stop with the
//! process that started them.

use std::fs::{OpenOptions, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SanType};
use tempfile::TempDir;

use crate::http::Request;
use crate::instance::free_port;
use crate::postgres_server::{Owner, as_owner, end, owner, program, succeeded};

/// The settings file that the documentation shows.
const SETTINGS: &str = include_str!("../../../../docs/examples/patroni.yml");
const PASSWORD: &str = "correct-horse";
/// How long the servers may take to start, or one to take the other's place.
const PATIENCE: Duration = Duration::from_secs(90);

/// The running servers.
pub struct Cluster {
    _etcd: Program,
    /// Where etcd is called.
    etcd: String,
    folder: TempDir,
    owner: Option<Owner>,
    nodes: [Node; 2],
    supervision: Supervision,
}

/// What becomes of a server whose Patroni dies.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Supervision {
    /// It goes on, as under Debian's unit (`KillMode=process`).
    None,
    /// It is killed too, as under a unit with `KillMode=mixed`. Here a process namespace does what a control group does
    /// there.
    Together,
}

/// One server and its Patroni.
struct Node {
    name: &'static str,
    address: &'static str,
    directory: PathBuf,
    port: u16,
    api_port: u16,
    patroni: Option<Program>,
}

/// A running program.
struct Program(Child);

impl Program {
    fn start(mut command: Command, log: &Path) -> Self {
        let log = OpenOptions::new().create(true).append(true).open(log);
        let log = log.unwrap();
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap());
        Self(command.stderr(log).spawn().unwrap())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Node {
    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            drop(node.patroni.take());
            // The file has the number of a process within its namespace, which has ended.
            let is_left = self.supervision == Supervision::None;
            if is_left && node.data().join("postmaster.pid").exists() {
                end(&node.data(), "KILL");
            }
        }
    }
}

impl Cluster {
    /// Starts two servers, with an empty database `selfsame`, and waits until one is the synchronous standby of the other.
    pub fn start(supervision: Supervision) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let at = folder.path().to_owned();
        std::fs::write(at.join("patroni.yml"), SETTINGS).unwrap();
        let owner = owner();
        let nodes = [("one", "127.0.0.1"), ("two", "127.0.0.2")];
        let nodes = nodes.map(|(name, address)| Node {
            name,
            address,
            directory: at.join(name),
            port: free_port(),
            api_port: free_port(),
            patroni: None,
        });
        prepare(&at, &nodes, owner.as_ref());
        let (_etcd, etcd) = start_etcd(&at);
        let mut cluster = Self {
            folder,
            _etcd,
            etcd,
            owner,
            nodes,
            supervision,
        };
        cluster.run(0);
        cluster.run(1);
        cluster.until_synchronous();
        let primary = cluster.primary();
        let role = format!("CREATE ROLE selfsame LOGIN PASSWORD '{PASSWORD}'");
        cluster.execute(primary, &role);
        cluster.execute(primary, "CREATE DATABASE selfsame OWNER selfsame");
        cluster
    }

    /// The address of the database, with both servers.
    pub fn url(&self) -> String {
        let [one, two] = self.nodes.each_ref();
        let authority = self.folder.path().join("ca.crt");
        format!(
            "postgres://selfsame:{PASSWORD}@{}:{},{}:{}/selfsame?sslmode=verify-full&sslrootcert={}",
            one.address,
            one.port,
            two.address,
            two.port,
            authority.display()
        )
    }

    /// The number of the server that accepts writes.
    pub fn primary(&self) -> usize {
        let led = |number: &usize| self.says(*number, "/primary");
        (0..2).find(led).unwrap()
    }

    /// Whether this server's Patroni says yes to a question of its API.
    fn says(&self, number: usize, question: &str) -> bool {
        let node = &self.nodes[number];
        let url = format!("http://{}:{}{question}", node.address, node.api_port);
        let reply = Request::new("GET", &url.parse().unwrap()).send();
        reply.is_ok_and(|reply| reply.is_success())
    }

    /// Waits until this server accepts writes.
    pub fn until_primary(&self, number: usize) {
        until("there is no primary", || self.accepts_writes(number));
    }

    /// Whether this server accepts writes now.
    pub fn accepts_writes(&self, number: usize) -> bool {
        let writes = "SELECT 1 / (CASE pg_is_in_recovery() WHEN true THEN 0 ELSE 1 END)";
        let output = self.psql(number, writes).output();
        output.is_ok_and(|output| output.status.success())
    }

    /// Waits until one of the servers is the synchronous standby of the other.
    pub fn until_synchronous(&self) {
        until("there is no synchronous standby", || {
            (0..2).any(|number| self.says(number, "/synchronous"))
        });
    }

    /// Ends a server and its Patroni at once.
    pub fn kill(&mut self, number: usize) {
        assert_eq!(self.supervision, Supervision::None);
        let node = &mut self.nodes[number];
        drop(node.patroni.take());
        end(&node.data(), "KILL");
    }

    /// Kills Patroni at once, and nothing else.
    pub fn kill_patroni(&self, number: usize) {
        assert_eq!(self.supervision, Supervision::Together);
        let settings = self.folder.path().join("patroni.yml");
        let supervisor = &self.nodes[number].patroni.as_ref().unwrap().0;
        // The first process of the namespace waits for Patroni's own, as in a container.
        let [first] = children(supervisor.id(), "")[..] else {
            panic!("Patroni does not run");
        };
        let [patroni] = children(first, settings.to_str().unwrap())[..] else {
            panic!("Patroni does not run");
        };
        succeeded(Command::new("kill").args(["-KILL", &patroni.to_string()]));
    }

    /// Starts Patroni, which starts the server.
    pub fn run(&mut self, number: usize) {
        let settings = self.folder.path().join("patroni.yml");
        let mut command = self.patroni(number, "patroni");
        command.arg(settings);
        if self.supervision == Supervision::Together {
            command = together(&command);
        }
        let log = self.folder.path().join(self.nodes[number].name);
        self.nodes[number].patroni = Some(Program::start(command, &log.with_extension("log")));
    }

    /// Lets the standby become the primary, as an operator does.
    pub fn switch_over(&self, from: usize, to: usize) {
        let mut command = self.patroni(from, "patronictl");
        command
            .arg("-c")
            .arg(self.folder.path().join("patroni.yml"))
            .args(["switchover", "--force"])
            .args(["--primary", self.nodes[from].name])
            .args(["--candidate", self.nodes[to].name]);
        succeeded(&mut command);
    }

    /// Executes a statement as the superuser.
    pub fn execute(&self, number: usize, statement: &str) {
        succeeded(&mut self.psql(number, statement));
    }

    fn psql(&self, number: usize, statement: &str) -> Command {
        let node = &self.nodes[number];
        let authority = self.folder.path().join("ca.crt");
        let mut command = Command::new(program("psql"));
        command
            .arg(format!(
                "host={} port={} user=postgres dbname=postgres sslmode=verify-full sslrootcert={}",
                node.address,
                node.port,
                authority.display()
            ))
            .args(["-v", "ON_ERROR_STOP=1", "-c", statement])
            .env("PGPASSWORD", PASSWORD);
        command
    }

    /// A program of Patroni, with the environment of this server.
    fn patroni(&self, number: usize, name: &str) -> Command {
        let node = &self.nodes[number];
        let at = |port: u16| format!("{}:{port}", node.address);
        let authority = self.folder.path().join("ca.crt");
        let bin = program("postgres");
        let mut command = as_owner(&self.owner, Path::new(name));
        command
            .current_dir(&node.directory)
            .env("HOME", &node.directory)
            .env("PATRONI_NAME", node.name)
            .env("PATRONI_ETCD3_HOSTS", &self.etcd)
            .env("PATRONI_RESTAPI_LISTEN", at(node.api_port))
            .env("PATRONI_RESTAPI_CONNECT_ADDRESS", at(node.api_port))
            .env("PATRONI_RESTAPI_USERNAME", "patroni")
            .env("PATRONI_RESTAPI_PASSWORD", PASSWORD)
            .env("PATRONI_POSTGRESQL_LISTEN", at(node.port))
            .env("PATRONI_POSTGRESQL_CONNECT_ADDRESS", at(node.port))
            .env("PATRONI_POSTGRESQL_DATA_DIR", node.data())
            .env("PATRONI_POSTGRESQL_BIN_DIR", bin.parent().unwrap())
            .env("PATRONI_POSTGRESQL_PGPASS", node.directory.join("pgpass"))
            .env("PATRONI_SUPERUSER_USERNAME", "postgres")
            .env("PATRONI_REPLICATION_USERNAME", "replicator");
        for user in ["SUPERUSER", "REPLICATION"] {
            command
                .env(format!("PATRONI_{user}_PASSWORD"), PASSWORD)
                .env(format!("PATRONI_{user}_SSLMODE"), "verify-full")
                .env(format!("PATRONI_{user}_SSLROOTCERT"), &authority);
        }
        command
    }
}

/// The same command in a process namespace of its own: all that it starts ends with it.
fn together(inner: &Command) -> Command {
    let mut command = Command::new("unshare");
    if owner().is_none() {
        command.args(["--user", "--map-current-user"]);
    }
    let kills = |argument| match argument == "--pdeathsig=INT" {
        true => std::ffi::OsStr::new("--pdeathsig=KILL"),
        false => argument,
    };
    command
        .args(["--pid", "--fork", "--mount-proc"])
        .arg(inner.get_program())
        .args(inner.get_args().map(kills));
    if let Some(folder) = inner.get_current_dir() {
        command.current_dir(folder);
    }
    let set = inner
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    command.envs(set);
    command
}

/// The children of a process whose command has this text.
fn children(of: u32, command: &str) -> Vec<u32> {
    let mut find = Command::new("pgrep");
    find.args(["-P", &of.to_string()]);
    if !command.is_empty() {
        find.args(["-f", command]);
    }
    let found = find.output().unwrap().stdout;
    let found = String::from_utf8(found).unwrap();
    found.lines().map(|id| id.parse().unwrap()).collect()
}

/// Certificates, and the directories of the servers, which share an archive.
fn prepare(at: &Path, nodes: &[Node], owner: Option<&Owner>) {
    let authority = Authority::new();
    std::fs::write(at.join("ca.crt"), &authority.pem).unwrap();
    std::fs::create_dir(at.join("archive")).unwrap();
    let mut theirs = vec![at.join("archive")];
    for node in nodes {
        let (certificate, key) = authority.certify(node.address);
        std::fs::create_dir(&node.directory).unwrap();
        symlink(at.join("archive"), node.directory.join("archive")).unwrap();
        let files = [("server.crt", certificate), ("server.key", key)];
        theirs.push(node.directory.clone());
        for (name, text) in files {
            let file = node.directory.join(name);
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
            theirs.push(file);
        }
    }
    for path in theirs {
        chown(
            path,
            owner.map(|owner| owner.user),
            owner.map(|owner| owner.group),
        )
        .unwrap();
    }
}

/// Starts etcd. Returns where it is called.
fn start_etcd(at: &Path) -> (Program, String) {
    let (clients, peers) = (free_port(), free_port());
    let of = |port: u16| format!("http://127.0.0.1:{port}");
    let mut command = as_owner(&None, Path::new("etcd"));
    command
        .args(["--name", "only", "--data-dir"])
        .arg(at.join("etcd"))
        .args(["--listen-client-urls", &of(clients)])
        .args(["--advertise-client-urls", &of(clients)])
        .args(["--listen-peer-urls", &of(peers)])
        .args(["--initial-advertise-peer-urls", &of(peers)])
        .args(["--initial-cluster", &format!("only={}", of(peers))]);
    let etcd = Program::start(command, &at.join("etcd.log"));
    (etcd, format!("127.0.0.1:{clients}"))
}

fn until(complaint: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{complaint}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// An authority for the servers' certificates.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters
            .distinguished_name
            .push(DnType::CommonName, "test");
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self {
            issuer: Issuer::new(parameters, key),
            pem,
        }
    }

    /// The certificate of the server at this address, and its key. Patroni calls its own server as `localhost`.
    fn certify(&self, address: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let address = SanType::IpAddress(address.parse().unwrap());
        parameters.subject_alt_names.push(address);
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap();
        (certificate.pem(), key.serialize_pem())
    }
}
