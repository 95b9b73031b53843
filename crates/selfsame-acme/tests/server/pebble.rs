//! Pebble, a real server of ACME, with a DNS server that leads each name to this machine.
#![allow(
    dead_code,
    reason = "several tests share this, and each uses its part of it"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests of processes measure real time and open their own connections"
)]

use std::fs::File;
use std::io::{Error, Read as _, Result, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::json;
use tempfile::TempDir;

/// The folder of the two programs.
const VARIABLE: &str = "SELFSAME_PEBBLE";
/// How long it may take to start on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server of ACME that may run; dropping it stops it. What it knows ends with the process.
pub struct Pebble {
    folder: TempDir,
    settings: PebbleSettings,
    ports: PebblePorts,
    running: Vec<Child>,
}

/// How an authority behaves.
#[derive(Clone)]
pub struct PebbleSettings {
    /// The port at which it asks in a handshake.
    pub tls_port: u16,
    /// The port at which it asks without TLS.
    pub http_port: u16,
    /// The life of its certificates, in seconds.
    pub life: u64,
    /// How many of a hundred good nonces it refuses.
    pub refused_nonces: u8,
    /// Whether an account needs one that exists: `ACCOUNT` with `ACCOUNT_KEY`.
    pub binds_accounts: bool,
}

struct PebblePorts {
    directory: u16,
    management: u16,
    dns: u16,
    dns_management: u16,
}

impl Pebble {
    /// The identifier of an account that exists.
    pub const ACCOUNT: &str = "kid-1";
    /// Its key.
    pub const ACCOUNT_KEY: &str =
        "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W";
    /// A host that it gives no certificate for.
    pub const BLOCKED: &str = "blocked.selfsame.example";

    /// A server that does not run yet.
    pub fn new(settings: PebbleSettings, free_port: fn() -> u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key = rcgen::KeyPair::generate().unwrap();
        let names = vec!["127.0.0.1".to_owned()];
        let made = rcgen::CertificateParams::new(names).unwrap();
        let made = made.self_signed(&key).unwrap();
        std::fs::write(folder.path().join("root.pem"), made.pem()).unwrap();
        std::fs::write(folder.path().join("key.pem"), key.serialize_pem()).unwrap();
        Self {
            folder,
            settings,
            ports: PebblePorts {
                directory: free_port(),
                management: free_port(),
                dns: free_port(),
                dns_management: free_port(),
            },
            running: Vec::new(),
        }
    }

    /// Starts it, or starts it anew without what it knew, and waits until it serves.
    pub fn start(&mut self) {
        self.stop();
        let file = self.folder.path().join("pebble.json");
        std::fs::write(&file, self.configuration().to_string()).unwrap();
        let dns = format!("127.0.0.1:{}", self.ports.dns);
        let mut server = self.program("pebble");
        server.arg("-config").arg(file).args(["-dnsserver", &dns]);
        server.env("PEBBLE_VA_NOSLEEP", "1");
        server.env("PEBBLE_AUTHZREUSE", "0");
        let refused = self.settings.refused_nonces.to_string();
        server.env("PEBBLE_WFE_NONCEREJECT", refused);
        server.env_remove("PEBBLE_VA_ALWAYS_VALID");
        let mut names = self.program("pebble-challtestsrv");
        names.args(["-http01", "", "-https01", "", "-doh", "", "-tlsalpn01", ""]);
        names.args(["-dnsserver", &dns, "-defaultIPv6", "", "-management"]);
        names.arg(format!("127.0.0.1:{}", self.ports.dns_management));
        for command in [&mut names, &mut server] {
            let child = command.spawn();
            self.running
                .push(child.expect("cargo xtask test --only pebble builds Pebble"));
        }
        for port in [self.ports.dns, self.ports.management, self.ports.directory] {
            let began = Instant::now();
            while TcpStream::connect(("127.0.0.1", port)).is_err() {
                assert!(began.elapsed() < PATIENCE, "{}", self.log());
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    /// Stops it.
    pub fn stop(&mut self) {
        for mut child in self.running.drain(..) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// The address of its directory.
    pub fn directory(&self) -> String {
        format!("https://127.0.0.1:{}/dir", self.ports.directory)
    }

    /// The file with the certificate that vouches for the directory.
    pub fn root_file(&self) -> PathBuf {
        self.folder.path().join("root.pem")
    }

    /// The authority of its certificates, DER. Each start has another one.
    pub fn authority(&self) -> Vec<u8> {
        let own = std::fs::read(self.root_file()).unwrap();
        let own = CertificateDer::from_pem_slice(&own).unwrap();
        let mut stream = connect(self.ports.management, "127.0.0.1", &own).unwrap();
        let asked = b"GET /roots/0 HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n";
        stream.write_all(asked).unwrap();
        let mut answer = Vec::new();
        // A server may close the connection without the end of TLS.
        let _ = stream.read_to_end(&mut answer);
        CertificateDer::from_pem_slice(&answer).unwrap().to_vec()
    }

    /// What it has written.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("pebble.log")).unwrap_or_default()
    }

    /// How many certificates it has given.
    pub fn given(&self) -> usize {
        self.log().matches("Issued certificate serial").count()
    }

    fn program(&self, name: &str) -> Command {
        let folder = std::env::var(VARIABLE);
        let folder = folder.unwrap_or_else(|_| panic!("{VARIABLE} names the folder of Pebble"));
        let mut command = Command::new(PathBuf::from(folder).join(name));
        let log = self.folder.path().join(format!("{name}.log"));
        let log = File::options().append(true).create(true).open(log).unwrap();
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        command
    }

    fn configuration(&self) -> serde_json::Value {
        let file = |name: &str| self.folder.path().join(name);
        let listen = |port: u16| format!("127.0.0.1:{port}");
        let (account, key) = (Self::ACCOUNT, Self::ACCOUNT_KEY);
        json!({"pebble": {
            "listenAddress": listen(self.ports.directory),
            "managementListenAddress": listen(self.ports.management),
            "certificate": file("root.pem"),
            "privateKey": file("key.pem"),
            "httpPort": self.settings.http_port,
            "tlsPort": self.settings.tls_port,
            "externalAccountBindingRequired": self.settings.binds_accounts,
            "externalAccountMACKeys": {account: key},
            "domainBlocklist": [Self::BLOCKED],
            "retryAfter": {"authz": 1, "order": 1},
            "keyAlgorithm": "ecdsa",
            "profiles": {"default": {"description": "of the test", "validityPeriod": self.settings.life}},
        }})
    }
}

impl Drop for Pebble {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The certificate (DER) that a listener of this machine shows to a client that names this host and trusts this authority
/// alone.
///
/// # Errors
/// If such a client refuses it.
pub fn accepted(port: u16, host: &str, authority: &[u8]) -> Result<Vec<u8>> {
    let authority = CertificateDer::from(authority.to_vec());
    let stream = connect(port, host, &authority)?;
    let shown = stream.conn.peer_certificates().unwrap_or_default();
    shown
        .first()
        .map(|leaf| leaf.to_vec())
        .ok_or_else(|| Error::other("no certificate"))
}

/// The first line of the answer to a request by such a client.
///
/// # Errors
/// If the listener is refused, or does not answer.
pub fn answered(port: u16, host: &str, authority: &[u8], path: &str) -> Result<String> {
    let authority = CertificateDer::from(authority.to_vec());
    let mut stream = connect(port, host, &authority)?;
    let asked = format!("GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(asked.as_bytes())?;
    let mut answer = Vec::new();
    // A server may close the connection without the end of TLS.
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn connect(
    port: u16,
    host: &str,
    authority: &CertificateDer<'static>,
) -> Result<StreamOwned<ClientConnection, TcpStream>> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.clone()).map_err(Error::other)?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(Error::other)?;
    let client = ClientConnection::new(Arc::new(config), name).map_err(Error::other)?;
    let stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut stream = StreamOwned::new(client, stream);
    stream.conn.complete_io(&mut stream.sock)?;
    Ok(stream)
}
