//! With Go's crypto/tls over loopback, in both directions.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests build and start another program, which xtask tells by the environment"
)]

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use selfsame_crypto::encoding::hex_encode;
use selfsame_did::Did;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::programs::{Program, accept, connect, exchange, fails, key_pem, listen, pem};
use super::ssi::{METHODS, Subject, ssi};
use crate::identity::{Identities, IdentityPolicy, PeerKind, PeerPolicy};
use crate::resumption::{Sessions, TicketKeys};
use crate::testing::{Authority, Leaf, NAME, ctx};
use crate::{
    Alert, ClientAuth, ClientConfig, Config, Connection, Error, Group, ServerConfig, Suite,
};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golang");
const KINDS: [&rcgen::SignatureAlgorithm; 4] = [
    &rcgen::PKCS_ED25519,
    &rcgen::PKCS_ECDSA_P256_SHA256,
    &rcgen::PKCS_ECDSA_P384_SHA384,
    &rcgen::PKCS_RSA_SHA256,
];

/// The first minor version of Go whose crypto/tls has X25519MLKEM768.
const HYBRID: u32 = 24;

/// The compiled program, and the minor version of its Go.
struct Go(TempDir, u32);

impl Go {
    fn build() -> Self {
        let go = std::env::var_os("SELFSAME_GO")
            .expect("SELFSAME_GO is not set: run this by `cargo xtask test`");
        let version = Command::new(&go)
            .args(["env", "GOVERSION"])
            .output()
            .unwrap();
        let version = String::from_utf8(version.stdout).unwrap();
        let minor = version.trim().strip_prefix("go1.").unwrap();
        let minor = minor
            .split(|one: char| !one.is_ascii_digit())
            .next()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let built = Command::new(go)
            .args(["build", "-o"])
            .arg(folder.path().join("peer"))
            .arg(".")
            .current_dir(SOURCE)
            .status()
            .unwrap();
        assert!(built.success());
        Self(folder, minor.parse().unwrap())
    }

    /// The groups that both support.
    fn groups(&self) -> Vec<Group> {
        let hybrid = (self.1 >= HYBRID).then_some(Group::X25519_MLKEM768);
        [Group::X25519, Group::SECP256R1, Group::SECP384R1]
            .into_iter()
            .chain(hybrid)
            .collect()
    }

    fn start(&self, plan: &Value) -> Program {
        let program = self.0.path().join("peer");
        let program = program.to_str().unwrap();
        // A module for an older Go would disable the hybrid group.
        let arguments = ["GODEBUG=tlsmlkem=1", program];
        let mut program = Program::start("env", &arguments, Path::new("."), Stdio::inherit());
        program.tell(&plan.to_string());
        program.end_input();
        program
    }

    /// Starts it as a server; returns its port.
    fn serve(&self, plan: &Value) -> (Program, u16) {
        let mut program = self.start(plan);
        let port = reply(&mut program)["port"].as_u64().unwrap();
        (program, u16::try_from(port).unwrap())
    }

    /// Starts it as a client of `listener`.
    fn dial(&self, plan: &Value, listener: &TcpListener) -> Program {
        let mut plan = plan.clone();
        plan["Port"] = json!(listener.local_addr().unwrap().port());
        self.start(&plan)
    }
}

fn reply(program: &mut Program) -> Value {
    serde_json::from_str(&program.line()).unwrap()
}

fn plan(role: &str, authority: &Authority, own: Option<&Leaf>) -> Value {
    json!({
        "Role": role,
        "Name": NAME,
        "Authority": pem("CERTIFICATE", &authority.der),
        "Certificate": own.map_or_else(String::new, |leaf| pem("CERTIFICATE", &leaf.chain[0])),
        "Key": own.map_or_else(String::new, |leaf| key_pem(&leaf.key)),
        "AsksClients": false,
        "Groups": [4588, 29, 23, 24],
        "Connections": 1,
    })
}

fn config(identities: Identities) -> Config {
    Config {
        identities,
        ..Config::default()
    }
}

fn client(config: &Arc<ClientConfig>) -> Connection {
    Connection::client(config, &ctx()).unwrap()
}

fn server(config: &Arc<ServerConfig>) -> Connection {
    Connection::server(config, &ctx())
}

/// A line each way, with key updates of both sides before ours, and the end.
fn converse(ours: &mut Connection, stream: &mut TcpStream) {
    exchange(ours, stream, |ours, _| ours.is_open());
    ours.update_keys(true).unwrap();
    ours.send(b"from Rust\n").unwrap();
    exchange(ours, stream, |ours, got| {
        got == b"from Go\n" || ours.has_peer_closed()
    });
    ours.close().unwrap();
    exchange(ours, stream, |ours, _| ours.has_peer_closed());
}

fn assert_known(ours: &Connection, leaf: Option<&Leaf>) {
    let known = match leaf {
        None => PeerKind::Anonymous,
        Some(leaf) => PeerKind::Certificate(leaf.chain.clone()),
    };
    assert_eq!(ours.peer().unwrap().kind, known);
}

fn assert_knows(said: &Value, leaf: Option<&Leaf>, resumed: bool) {
    let peer = leaf.map_or_else(String::new, |leaf| hex_encode(&leaf.chain[0]));
    assert_eq!(said["heard"], json!("from Rust\n"), "{said}");
    assert_eq!(said["peer"], json!(peer), "{said}");
    assert_eq!(said["resumed"], json!(resumed), "{said}");
}

#[test]
#[ignore = "needs Go, which `cargo xtask test` installs"]
fn our_client_speaks_with_gos_server() {
    let (go, authority) = (Go::build(), Authority::new());
    for kind in KINDS {
        let (leaf, own) = (authority.leaf(kind), authority.leaf(kind));
        for asks in [false, true] {
            for group in go.groups() {
                let mut plan = plan("server", &authority, Some(&leaf));
                plan["AsksClients"] = json!(asks);
                plan["Groups"] = json!([group.0]);
                let (mut program, port) = go.serve(&plan);
                let common = config(own.identities());
                let config = ClientConfig::new(common, authority.server()).unwrap();
                let mut ours = client(&Arc::new(config));
                converse(&mut ours, &mut connect(port));
                // Our client sends a share of X25519 only: other groups need a second hello.
                assert_eq!(ours.parameters().unwrap().1, group);
                assert_known(&ours, Some(&leaf));
                assert_knows(&reply(&mut program), asks.then_some(&own), false);
            }
        }
    }
}

#[test]
#[ignore = "needs Go, which `cargo xtask test` installs"]
fn our_server_speaks_with_gos_client() {
    let (go, authority) = (Go::build(), Authority::new());
    for kind in KINDS {
        let (leaf, own) = (authority.leaf(kind), authority.leaf(kind));
        for asks in [false, true] {
            let suites = [
                Suite::AES_256_GCM_SHA384,
                Suite::CHACHA20_POLY1305_SHA256,
                Suite::AES_128_GCM_SHA256,
            ];
            for (group, suite) in go.groups().into_iter().zip(suites.into_iter().cycle()) {
                let clients = match asks {
                    true => ClientAuth::Required(authority.clients()),
                    false => ClientAuth::None,
                };
                let common = Config {
                    groups: vec![group],
                    suites: vec![suite],
                    ..config(leaf.identities())
                };
                let config = Arc::new(ServerConfig::new(common, clients).unwrap());
                let (listener, _) = listen();
                let plan = plan("client", &authority, asks.then_some(&own));
                let mut program = go.dial(&plan, &listener);
                let mut ours = server(&config);
                converse(&mut ours, &mut accept(&listener));
                assert_eq!(ours.parameters(), Some((suite, group)));
                assert_known(&ours, asks.then_some(&own));
                assert_knows(&reply(&mut program), Some(&leaf), false);
            }
        }
    }
}

#[test]
#[ignore = "needs Go, which `cargo xtask test` installs"]
fn sessions_are_resumed_with_go_in_both_directions() {
    let (go, authority) = (Go::build(), Authority::new());
    let leaf = authority.leaf(&rcgen::PKCS_ECDSA_P256_SHA256);
    let own = authority.leaf(&rcgen::PKCS_ED25519);
    for group in go.groups() {
        let mut plan = plan("server", &authority, Some(&leaf));
        plan["Groups"] = json!([group.0]);
        plan["AsksClients"] = json!(true);
        plan["Connections"] = json!(3);
        let (mut program, port) = go.serve(&plan);
        let config = ClientConfig::new(config(own.identities()), authority.server()).unwrap();
        let config = Arc::new(config.with_sessions(Sessions::new(4)));
        for resumed in [false, true, true] {
            let mut ours = client(&config);
            converse(&mut ours, &mut connect(port));
            assert_eq!(ours.peer().unwrap().resumed.is_some(), resumed);
            assert_known(&ours, Some(&leaf));
            assert_knows(&reply(&mut program), Some(&own), resumed);
        }
    }
    for group in go.groups() {
        let common = Config {
            groups: vec![group],
            ..config(leaf.identities())
        };
        let clients = ClientAuth::Required(authority.clients());
        let config = ServerConfig::new(common, clients).unwrap();
        let config = Arc::new(config.with_tickets(TicketKeys::new([9; 32])));
        let mut plan = plan("client", &authority, Some(&own));
        plan["Connections"] = json!(3);
        let (listener, _) = listen();
        let mut program = go.dial(&plan, &listener);
        for resumed in [false, true, true] {
            let mut ours = server(&config);
            converse(&mut ours, &mut accept(&listener));
            assert_eq!(ours.peer().unwrap().resumed.is_some(), resumed);
            assert_known(&ours, Some(&own));
            assert_knows(&reply(&mut program), Some(&leaf), resumed);
        }
    }
}

#[test]
#[ignore = "needs Go, which `cargo xtask test` installs"]
fn who_is_not_trusted_is_refused_in_both_directions() {
    let go = Go::build();
    let (authority, other) = (Authority::new(), Authority::new());
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let mut asks = plan("server", &other, Some(&leaf));
    asks["AsksClients"] = json!(true);
    let (_program, port) = go.serve(&asks);
    let config = ClientConfig::new(config(leaf.identities()), authority.server()).unwrap();
    let error = fails(&mut client(&Arc::new(config)), &mut connect(port));
    assert_eq!(error, Error::Alerted(Alert::UnknownCa));

    // Go sends this alert for an unknown authority.
    let common = self::config(leaf.identities());
    let config = Arc::new(ServerConfig::new(common, ClientAuth::None).unwrap());
    let (listener, _) = listen();
    let _program = go.dial(&plan("client", &other, None), &listener);
    let error = fails(&mut server(&config), &mut accept(&listener));
    assert_eq!(error, Error::Alerted(Alert::BadCertificate));
}

#[test]
#[ignore = "needs Go, which `cargo xtask test` installs"]
fn dids_fall_back_to_certificates_with_go_in_both_directions() {
    let (go, authority) = (Go::build(), Authority::new());
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let own = Subject::new("did:web:own.example");
    let trusted = || {
        let did = Did::parse("did:web:server.example").unwrap();
        Some(IdentityPolicy::of_dids(METHODS, [did]))
    };
    let either = PeerPolicy {
        identities: trusted(),
        ..authority.server()
    };
    let (mut program, port) = go.serve(&plan("server", &authority, Some(&leaf)));
    let config = ClientConfig::new(config(ssi(own.as_did())), either).unwrap();
    let mut ours = client(&Arc::new(config));
    converse(&mut ours, &mut connect(port));
    assert_known(&ours, Some(&leaf));
    assert_knows(&reply(&mut program), None, false);

    let required = PeerPolicy {
        certificates: None,
        identities: trusted(),
    };
    let (_program, port) = go.serve(&plan("server", &authority, Some(&leaf)));
    let config = ClientConfig::new(self::config(ssi(own.as_did())), required).unwrap();
    match fails(&mut client(&Arc::new(config)), &mut connect(port)) {
        Error::Refused(refusal) => assert_eq!(refusal.alert, Alert::InsufficientSecurity),
        error => panic!("not refused: {error}"),
    }

    let both = Identities {
        ssi: Some(own.as_did()),
        ..leaf.identities()
    };
    let config = ServerConfig::new(self::config(both), ClientAuth::None).unwrap();
    let (listener, _) = listen();
    let mut program = go.dial(&plan("client", &authority, None), &listener);
    let mut ours = server(&Arc::new(config));
    converse(&mut ours, &mut accept(&listener));
    assert_knows(&reply(&mut program), Some(&leaf), false);
}
