//! With Java's TLS (JSSE) over loopback, in both directions, under authorities of each type of key.

use std::path::Path;
use std::process::{Command, Stdio};

use selfsame_crypto::encoding::hex_encode;
use tempfile::TempDir;

use super::programs::{Program, accept, connect, exchange, files, listen};
use crate::identity::{Identities, PeerKind};
use crate::testing::{Authority, Leaf, client, server};
use crate::{ClientAuth, Config, Connection};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/java/Peer.java");
/// The authorities' key types; most real authorities have RSA keys.
const AUTHORITIES: [&rcgen::SignatureAlgorithm; 2] =
    [&rcgen::PKCS_RSA_SHA256, &rcgen::PKCS_ECDSA_P256_SHA256];
const LEAVES: [&rcgen::SignatureAlgorithm; 2] =
    [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_RSA_SHA256];

/// The compiled program.
struct Java(TempDir);

impl Java {
    fn build() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let built = Command::new("javac")
            .args(["-d"])
            .arg(folder.path())
            .arg(SOURCE)
            .status()
            .expect("javac is missing: run this by `cargo xtask test`");
        assert!(built.success());
        Self(folder)
    }

    fn start(&self, plan: &[&str]) -> Program {
        let classes = self.0.path().to_str().unwrap();
        let fixed = ["-XX:TieredStopAtLevel=1", "-cp", classes, "Peer"];
        let arguments = [&fixed[..], plan].concat();
        Program::start("java", &arguments, Path::new("."), Stdio::inherit())
    }
}

fn config(identities: Identities) -> Config {
    Config {
        identities,
        ..Config::default()
    }
}

fn assert_both_know(ours: &mut Connection, program: &mut Program, leaves: (&Leaf, &Leaf)) {
    assert_eq!(program.after("heard "), "from Rust");
    assert_eq!(program.after("peer "), hex_encode(&leaves.0.chain[0]));
    let known = &ours.peer().unwrap().kind;
    assert_eq!(*known, PeerKind::Certificate(leaves.1.chain.clone()));
}

#[test]
#[ignore = "needs Java, which `cargo xtask test` installs"]
fn our_client_and_javas_server_show_each_other_certificates_of_any_authority() {
    let java = Java::build();
    for (signs, kind) in AUTHORITIES.into_iter().zip(LEAVES) {
        let authority = Authority::signing_with(signs);
        let (own, theirs) = (authority.leaf(kind), authority.leaf(kind));
        let folder = files(&authority, &theirs);
        let mut program = java.start(&["server", "0", folder.path().to_str().unwrap(), "asks"]);
        let port = program.after("port ").parse().unwrap();
        let mut ours = client(config(own.identities()), authority.server());
        let mut stream = connect(port);
        exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
        ours.send(b"from Rust\n").unwrap();
        exchange(&mut ours, &mut stream, |_, got| got == b"from Java\n");
        assert_both_know(&mut ours, &mut program, (&own, &theirs));
    }
}

#[test]
#[ignore = "needs Java, which `cargo xtask test` installs"]
fn our_server_and_javas_client_show_each_other_certificates_of_any_authority() {
    let java = Java::build();
    for (signs, kind) in AUTHORITIES.into_iter().zip(LEAVES) {
        let authority = Authority::signing_with(signs);
        let (own, theirs) = (authority.leaf(kind), authority.leaf(kind));
        let folder = files(&authority, &theirs);
        let (listener, port) = listen();
        let place = folder.path().to_str().unwrap();
        let mut program = java.start(&["client", &port.to_string(), place]);
        let mut stream = accept(&listener);
        let asks = ClientAuth::Required(authority.clients());
        let mut ours = server(config(own.identities()), asks);
        exchange(&mut ours, &mut stream, |_, got| got == b"from Java\n");
        ours.send(b"from Rust\n").unwrap();
        exchange(&mut ours, &mut stream, |ours, _| ours.has_peer_closed());
        assert_both_know(&mut ours, &mut program, (&own, &theirs));
    }
}
