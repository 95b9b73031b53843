//! With the programs of GnuTLS and NSS over loopback, in both directions, each side showing a certificate.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::programs::{Program, accept, connect, exchange, files, listen};
use crate::identity::PeerKind;
use crate::testing::{Authority, Leaf, NAME, client, server};
use crate::{ClientAuth, Config, Connection};

/// Key types of authorities, each with a different type for the certificates that they sign.
const KINDS: [(&rcgen::SignatureAlgorithm, &rcgen::SignatureAlgorithm); 2] = [
    (&rcgen::PKCS_RSA_SHA256, &rcgen::PKCS_ECDSA_P256_SHA256),
    (&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_RSA_SHA256),
];
const TLS_1_3: &str = "NORMAL:-VERS-ALL:+VERS-TLS1.3";

/// An authority, a certificate of ours, and one of theirs, written to files for them.
struct Ends {
    authority: Authority,
    own: Leaf,
    theirs: Leaf,
    folder: TempDir,
}

impl Ends {
    fn new(
        (signs, kind): (
            &'static rcgen::SignatureAlgorithm,
            &'static rcgen::SignatureAlgorithm,
        ),
    ) -> Self {
        let authority = Authority::signing_with(signs);
        let (own, theirs) = (authority.leaf(kind), authority.leaf(kind));
        let folder = files(&authority, &theirs);
        Self {
            authority,
            own,
            theirs,
            folder,
        }
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn config(&self) -> Config {
        Config {
            identities: self.own.identities(),
            ..Config::default()
        }
    }

    fn client(&self) -> Connection {
        client(self.config(), self.authority.server())
    }

    fn server(&self) -> Connection {
        let clients = ClientAuth::Required(self.authority.clients());
        server(self.config(), clients)
    }

    /// Asserts that the peer showed the certificate that it was given.
    fn assert_knows(&self, ours: &Connection) {
        let PeerKind::Certificate(chain) = &ours.peer().unwrap().kind else {
            panic!("it showed no certificate");
        };
        assert_eq!(chain[0], self.theirs.chain[0]);
    }

    /// Creates the NSS database, its form of key and certificate files.
    fn database(&self) {
        let run = |program: &str, arguments: &str| {
            let arguments = arguments.split(' ').map(|one| one.trim_matches('\''));
            let mut command = Command::new(program);
            let ran = command.args(arguments).current_dir(self.folder()).output();
            let ran = ran.expect("NSS's tools are missing: run this by `cargo xtask test`");
            assert!(ran.status.success(), "{program}: {ran:?}");
        };
        fs::create_dir(self.folder().join("db")).unwrap();
        run("certutil", "-N -d sql:db --empty-password");
        run("certutil", "-A -d sql:db -n ca -t CT,CT, -i ca.pem");
        run(
            "openssl",
            "pkcs12 -export -in cert.pem -inkey key.pem -name own -passout pass: -out own.p12",
        );
        run("pk12util", "-i own.p12 -d sql:db -W ''");
    }
}

/// Starts it with stdout and stderr in one stream.
fn start(arguments: &[&str], folder: &Path) -> Program {
    let shell = ["-c", "exec \"$@\" 2>&1", "sh"];
    Program::start(
        "sh",
        &[&shell[..], arguments].concat(),
        folder,
        Stdio::null(),
    )
}

/// A port that is free now; these programs do not report their port.
fn free_port() -> String {
    listen().1.to_string()
}

fn joined(port: &str) -> TcpStream {
    connect(port.parse().unwrap())
}

#[test]
#[ignore = "needs GnuTLS, which `cargo xtask test` installs"]
fn our_client_and_gnutlss_server_show_each_other_certificates() {
    for kinds in KINDS {
        let ends = Ends::new(kinds);
        let port = free_port();
        let fixed = ["gnutls-serv", "--echo", "-p", &port, "--priority", TLS_1_3];
        let files = ["--x509certfile=cert.pem", "--x509keyfile=key.pem"];
        let asks = [
            "--x509cafile=ca.pem",
            "--require-client-cert",
            "--verify-client-cert",
        ];
        let mut program = start(&[&fixed[..], &files, &asks].concat(), ends.folder());
        program.after("listening on IPv4");
        program.ignore();
        let (mut ours, mut stream) = (ends.client(), joined(&port));
        exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
        ours.send(b"there and back\n").unwrap();
        exchange(&mut ours, &mut stream, |_, got| got == b"there and back\n");
        ends.assert_knows(&ours);
    }
}

#[test]
#[ignore = "needs GnuTLS, which `cargo xtask test` installs"]
fn our_server_and_gnutlss_client_show_each_other_certificates() {
    for kinds in KINDS {
        let ends = Ends::new(kinds);
        let (listener, port) = listen();
        let port = port.to_string();
        let fixed = [
            "gnutls-cli",
            "127.0.0.1",
            "-p",
            &port,
            "--priority",
            TLS_1_3,
        ];
        let files = ["--x509certfile=cert.pem", "--x509keyfile=key.pem"];
        let named = format!("--verify-hostname={NAME}");
        let asks = ["--x509cafile=ca.pem", &named];
        let mut program = start(&[&fixed[..], &files, &asks].concat(), ends.folder());
        let (mut ours, mut stream) = (ends.server(), accept(&listener));
        exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
        program.tell("from GnuTLS\n");
        exchange(&mut ours, &mut stream, |_, got| {
            got.starts_with(b"from GnuTLS")
        });
        ours.send(b"from Rust\n").unwrap();
        exchange(&mut ours, &mut stream, |_, _| true);
        program.after("from Rust");
        ends.assert_knows(&ours);
    }
}

#[test]
#[ignore = "needs NSS's tools, which `cargo xtask test` installs"]
fn our_client_and_nsss_server_show_each_other_certificates() {
    for kinds in KINDS {
        let ends = Ends::new(kinds);
        ends.database();
        let port = free_port();
        let fixed = ["selfserv", "-n", "own", "-p", &port, "-d", "sql:db", "-v"];
        let asks = ["-V", "tls1.3:", "-r", "-r"];
        let mut program = start(&[&fixed[..], &asks].concat(), ends.folder());
        program.after("About to call accept");
        program.ignore();
        let (mut ours, mut stream) = (ends.client(), joined(&port));
        exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
        ours.send(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        exchange(&mut ours, &mut stream, |_, got| {
            got.starts_with(b"HTTP/1.0 200")
        });
        ends.assert_knows(&ours);
    }
}

#[test]
#[ignore = "needs NSS's tools, which `cargo xtask test` installs"]
fn our_server_and_nsss_client_show_each_other_certificates() {
    for kinds in KINDS {
        let ends = Ends::new(kinds);
        ends.database();
        let (listener, port) = listen();
        let port = port.to_string();
        let fixed = ["tstclnt", "-h", "127.0.0.1", "-p", &port, "-d", "sql:db"];
        let asks = ["-V", "tls1.3:", "-n", "own", "-a", NAME];
        let mut program = start(&[&fixed[..], &asks].concat(), ends.folder());
        let (mut ours, mut stream) = (ends.server(), accept(&listener));
        exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
        program.tell("from NSS\n");
        exchange(&mut ours, &mut stream, |_, got| {
            got.starts_with(b"from NSS")
        });
        ours.send(b"from Rust\n").unwrap();
        exchange(&mut ours, &mut stream, |_, _| true);
        program.after("from Rust");
        ends.assert_knows(&ours);
    }
}
