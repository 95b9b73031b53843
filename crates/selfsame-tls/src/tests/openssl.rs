//! With OpenSSL's s_server and s_client over loopback.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use selfsame_did::Did;

use super::programs::{Program, accept, connect, exchange, fails, files, listen};
use super::resumption::Known;
use super::ssi::{METHODS, Subject, ssi};
use crate::identity::{Identities, IdentityPolicy, PeerKind, PeerPolicy};
use crate::resumption::{EarlyData, Sessions, StrikeRegister, TicketKeys};
use crate::testing::{Authority, NAME, NOW, client, ctx, server};
use crate::{
    Alert, ClientAuth, ClientConfig, Config, Connection, Error, Group, ServerConfig, Suite,
};

const KINDS: [(&rcgen::SignatureAlgorithm, Suite); 4] = [
    (&rcgen::PKCS_ED25519, Suite::AES_128_GCM_SHA256),
    (&rcgen::PKCS_ECDSA_P256_SHA256, Suite::AES_256_GCM_SHA384),
    (
        &rcgen::PKCS_ECDSA_P384_SHA384,
        Suite::CHACHA20_POLY1305_SHA256,
    ),
    (&rcgen::PKCS_RSA_SHA256, Suite::CHACHA20_POLY1305_SHA256),
];

/// Starts it with stdout and stderr in one stream.
fn start(arguments: &[&str], folder: &Path) -> Program {
    let shell = ["-c", "exec openssl \"$@\" 2>&1", "openssl"];
    let arguments = [&shell[..], arguments].concat();
    Program::start("sh", &arguments, folder, Stdio::null())
}

/// Starts s_server; returns its port.
fn s_server(folder: &Path, more: &[&str]) -> (Program, u16) {
    let fixed = [
        "s_server",
        "-accept",
        "127.0.0.1:0",
        "-tls1_3",
        "-cert",
        "cert.pem",
        "-key",
        "key.pem",
        "-CAfile",
        "ca.pem",
    ];
    let mut program = start(&[&fixed[..], more].concat(), folder);
    let address = program.after("ACCEPT ");
    let port = address.rsplit(':').next().unwrap().parse().unwrap();
    (program, port)
}

/// Starts s_client, which trusts only the authority, and waits for its connection.
fn s_client(folder: &Path, more: &[&str]) -> (Program, TcpStream) {
    let (listener, port) = listen();
    let address = format!("127.0.0.1:{port}");
    let fixed = [
        "s_client",
        "-connect",
        &address,
        "-tls1_3",
        "-CAfile",
        "ca.pem",
        "-servername",
        NAME,
        "-verify_hostname",
        NAME,
        "-verify_return_error",
    ];
    let program = start(&[&fixed[..], more].concat(), folder);
    (program, accept(&listener))
}

fn config(identities: Identities) -> Config {
    Config {
        identities,
        ..Config::default()
    }
}

/// The peer's own certificate, if it showed one; OpenSSL appends what it finds of the chain.
fn certificate(ours: &Connection) -> Option<Vec<u8>> {
    match &ours.peer().unwrap().kind {
        PeerKind::Anonymous => None,
        PeerKind::Certificate(chain) => Some(chain[0].clone()),
        other => panic!("neither a certificate nor an anonymous peer: {other:?}"),
    }
}

fn refused(error: Error) -> Alert {
    match error {
        Error::Refused(refusal) => refusal.alert,
        error => panic!("not refused: {error}"),
    }
}

fn finish(ours: &mut Connection, stream: &mut TcpStream) {
    ours.close().unwrap();
    stream.write_all(&ours.take_outgoing()).unwrap();
}

/// Tests our client with a server that returns each line reversed.
fn assert_client(
    authority: &Authority,
    (kind, suite): (&'static rcgen::SignatureAlgorithm, Suite),
    (asks, group): (bool, Group),
) {
    let leaf = authority.leaf(kind);
    let folder = files(authority, &leaf);
    let mut more = vec!["-rev"];
    if asks {
        more.extend(["-Verify", "2", "-verify_return_error"]);
    }
    if group == Group::SECP256R1 {
        more.extend(["-groups", "P-256"]);
    }
    let (mut program, port) = s_server(folder.path(), &more);
    program.ignore();
    let common = Config {
        suites: vec![suite],
        ..config(leaf.identities())
    };
    let mut ours = client(common, authority.server());
    let mut stream = connect(port);
    exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
    // If only P-256 is allowed, OpenSSL asks for a second hello.
    assert_eq!(ours.parameters(), Some((suite, group)));
    // The program sleeps for a second at each KeyUpdate, so only some cases have one.
    let updates = [group == Group::X25519 && !asks, false];
    for update in updates {
        if update {
            ours.update_keys(true).unwrap();
        }
        ours.send(b"desserts\n").unwrap();
        let got = exchange(&mut ours, &mut stream, |_, got| got.ends_with(b"\n"));
        assert_eq!(got, b"stressed\n");
    }
    finish(&mut ours, &mut stream);
}

#[test]
#[ignore = "needs OpenSSL 3, which `cargo xtask test` installs"]
fn our_client_speaks_with_openssls_server() {
    let authority = Authority::new();
    for kind in KINDS {
        for asks in [false, true] {
            for group in [Group::X25519, Group::SECP256R1] {
                assert_client(&authority, kind, (asks, group));
            }
        }
    }
}

fn assert_server(
    authority: &Authority,
    kind: &'static rcgen::SignatureAlgorithm,
    (shows, group): (bool, Group),
) {
    let leaf = authority.leaf(kind);
    let folder = files(authority, &leaf);
    let (mut more, mut clients) = (vec![], ClientAuth::None);
    if shows {
        more.extend(["-cert", "cert.pem", "-key", "key.pem"]);
        clients = ClientAuth::Required(authority.clients());
    }
    let (mut program, mut stream) = s_client(folder.path(), &more);
    // OpenSSL's client sends a share of X25519 only: P-256 needs a second hello.
    let common = Config {
        groups: vec![group],
        ..config(leaf.identities())
    };
    let mut ours = server(common, clients);
    exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
    assert_eq!(ours.parameters().unwrap().1, group);
    assert_eq!(certificate(&ours), shows.then(|| leaf.chain[0].clone()));

    program.tell("first\n");
    exchange(&mut ours, &mut stream, |_, got| got == b"first\n");
    // When asked to, OpenSSL updates its keys before it writes again.
    ours.update_keys(true).unwrap();
    ours.send(b"between\n").unwrap();
    stream.write_all(&ours.take_outgoing()).unwrap();
    assert_eq!(program.after("between"), "");
    program.tell("second\n");
    exchange(&mut ours, &mut stream, |_, got| got == b"second\n");
    program.end_input();
    exchange(&mut ours, &mut stream, |ours, _| ours.has_peer_closed());
}

#[test]
#[ignore = "needs OpenSSL 3, which `cargo xtask test` installs"]
fn our_server_speaks_with_openssls_client() {
    let authority = Authority::new();
    for (kind, _) in KINDS {
        for shows in [false, true] {
            for group in [Group::X25519, Group::SECP256R1] {
                assert_server(&authority, kind, (shows, group));
            }
        }
    }
}

/// Text both ways, after OpenSSL was told to update its keys.
fn assert_still_talk(ours: &mut Connection, stream: &mut TcpStream, program: &mut Program) {
    program.tell("with new keys\n");
    exchange(ours, stream, |_, got| got == b"with new keys\n");
    ours.send(b"and back\n").unwrap();
    stream.write_all(&ours.take_outgoing()).unwrap();
    assert_eq!(program.after("and back"), "");
}

#[test]
#[ignore = "needs OpenSSL 3, which `cargo xtask test` installs"]
fn openssl_takes_new_keys_in_both_directions() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let folder = files(&authority, &leaf);
    // Its programs read `k` as a command to update their own keys, and `K` for those of both. The server sends that at
    // once, and without tickets nothing comes before it.
    let (mut program, port) = s_server(folder.path(), &["-num_tickets", "0"]);
    let mut ours = client(Config::default(), authority.server());
    let mut stream = connect(port);
    exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
    for command in ["k\n", "K\n", "K\n"] {
        program.tell(command);
        let mut buffer = [0; 256];
        let read = stream.read(&mut buffer).unwrap();
        ours.receive(&buffer[..read], &ctx()).unwrap();
        assert_still_talk(&mut ours, &mut stream, &mut program);
    }
    finish(&mut ours, &mut stream);

    let (mut program, mut stream) = s_client(folder.path(), &[]);
    let mut ours = server(config(leaf.identities()), ClientAuth::None);
    exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
    for command in ["k\n", "K\n", "K\n"] {
        program.tell(command);
        program.after("KEYUPDATE");
        assert_still_talk(&mut ours, &mut stream, &mut program);
    }
    finish(&mut ours, &mut stream);
}

#[test]
#[ignore = "needs OpenSSL 3, which `cargo xtask test` installs"]
fn sessions_are_resumed_with_openssl_in_both_directions() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ECDSA_P256_SHA256);
    let folder = files(&authority, &leaf);
    for group in [Group::X25519, Group::SECP256R1] {
        let name = if group == Group::X25519 {
            "X25519"
        } else {
            "P-256"
        };
        let (mut program, port) = s_server(folder.path(), &["-rev", "-groups", name]);
        program.ignore();
        let config = ClientConfig::new(Config::default(), authority.server()).unwrap();
        let config = Arc::new(config.with_sessions(Sessions::new(4)));
        for resumed in [false, true, true] {
            let mut ours = Connection::client(&config, &ctx()).unwrap();
            let mut stream = connect(port);
            exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
            assert_eq!(ours.peer().unwrap().resumed.is_some(), resumed);
            assert_eq!(ours.parameters().unwrap().1, group);
            ours.send(b"desserts\n").unwrap();
            exchange(&mut ours, &mut stream, |_, got| got == b"stressed\n");
            finish(&mut ours, &mut stream);
        }

        let common = Config {
            groups: vec![group],
            ..self::config(leaf.identities())
        };
        let config = ServerConfig::new(common, ClientAuth::None).unwrap();
        let config = Arc::new(config.with_tickets(TicketKeys::new([7; 32])));
        for (resumed, more) in [
            (false, ["-sess_out", "session"]),
            (true, ["-sess_in", "session"]),
        ] {
            let (mut program, mut stream) = s_client(folder.path(), &more);
            let mut ours = Connection::server(&config, &ctx());
            exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
            assert_eq!(ours.peer().unwrap().resumed.is_some(), resumed);
            let said = if resumed { "Reused, " } else { "New, " };
            assert!(program.after(said).starts_with("TLSv1.3"));
            // OpenSSL reads this after the ticket, and has written the session by then.
            ours.send(b"hello\n").unwrap();
            stream.write_all(&ours.take_outgoing()).unwrap();
            program.after("hello");
            finish(&mut ours, &mut stream);
        }
    }
}

#[test]
#[ignore = "needs OpenSSL 3, which `cargo xtask test` installs"]
fn openssls_server_takes_our_early_data_once() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ECDSA_P256_SHA256);
    let folder = files(&authority, &leaf);
    let (mut program, port) = s_server(folder.path(), &["-early_data"]);
    let common = Config {
        revalidate: Some(Arc::new(Known::default())),
        ..Config::default()
    };
    let config = ClientConfig::new(common, authority.server()).unwrap();
    let config = config.with_sessions(Sessions::new(4)).with_early_data();
    let config = Arc::new(config);
    for is_early in [false, true, true] {
        let mut ours = Connection::client(&config, &ctx()).unwrap();
        let sent = ours.send_early(b"before the handshake\n").unwrap();
        assert_eq!(sent > 0, is_early);
        let mut stream = connect(port);
        exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
        assert_eq!(ours.is_early_data_taken(), is_early);
        if is_early {
            assert_eq!(program.after("before the handshake"), "");
        }
        ours.send(b"after it\n").unwrap();
        stream.write_all(&ours.take_outgoing()).unwrap();
        program.after("after it");
        // The tickets arrive before its text.
        program.tell("hello\n");
        exchange(&mut ours, &mut stream, |_, got| got == b"hello\n");
        finish(&mut ours, &mut stream);
    }
}

#[test]
#[ignore = "needs OpenSSL 3, which `cargo xtask test` installs"]
fn our_server_takes_openssls_early_data_once() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ECDSA_P256_SHA256);
    let folder = files(&authority, &leaf);
    fs::write(folder.path().join("early"), "before the handshake\n").unwrap();
    let config = ServerConfig::new(config(leaf.identities()), ClientAuth::None).unwrap();
    let strikes = Arc::new(StrikeRegister::new(1, NOW.minus(1000)));
    let config = config.with_tickets(TicketKeys::new([7; 32]));
    let config = Arc::new(config.with_early_data(EarlyData::new(strikes)));
    let again = ["-sess_in", "session", "-early_data", "early"];
    // The strike register has room for one hello.
    for (more, takes, said) in [
        (&["-sess_out", "session"][..], false, "was not sent"),
        (&again, true, "was accepted"),
        (&again, false, "was rejected"),
    ] {
        let (mut program, mut stream) = s_client(folder.path(), more);
        let mut ours = Connection::server(&config, &ctx());
        exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
        let expected: &[u8] = if takes {
            b"before the handshake\n"
        } else {
            b""
        };
        assert_eq!(ours.take_early_data(), expected);
        assert_eq!(program.after("Early data "), said);
        // OpenSSL reads this after the ticket, and has written the session by then.
        ours.send(b"hello\n").unwrap();
        stream.write_all(&ours.take_outgoing()).unwrap();
        program.after("hello");
        finish(&mut ours, &mut stream);
    }
}

#[test]
#[ignore = "needs OpenSSL 3, which `cargo xtask test` installs"]
fn who_is_not_trusted_is_refused_in_both_directions() {
    let (authority, other) = (Authority::new(), Authority::new());
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let strange = other.leaf(&rcgen::PKCS_ED25519);
    // OpenSSL has a certificate of one authority, and trusts the other.
    let folder = files(&other, &leaf);
    let (mut program, port) = s_server(folder.path(), &["-Verify", "2", "-verify_return_error"]);
    program.ignore();
    let mut ours = client(config(leaf.identities()), authority.server());
    let error = fails(&mut ours, &mut connect(port));
    assert_eq!(error, Error::Alerted(Alert::UnknownCa));

    let (_program, mut stream) = s_client(folder.path(), &[]);
    let mut ours = server(config(leaf.identities()), ClientAuth::None);
    // OpenSSL sends this alert unencrypted, since its client has not switched keys yet; ours accepts nothing
    // unencrypted by then.
    let error = fails(&mut ours, &mut stream);
    assert_eq!(refused(error), Alert::UnexpectedMessage);

    let own = ["-cert", "cert.pem", "-key", "key.pem"];
    let clients = || ClientAuth::Required(other.clients());
    for (more, alert) in [
        (&own[..], Alert::UnknownCa),
        (&[], Alert::CertificateRequired),
    ] {
        let (_program, mut stream) = s_client(folder.path(), more);
        let mut ours = server(config(strange.identities()), clients());
        let error = fails(&mut ours, &mut stream);
        assert_eq!(refused(error), alert);
    }
}

#[test]
#[ignore = "needs OpenSSL 3, which `cargo xtask test` installs"]
fn a_client_that_offers_dids_falls_back_to_openssls_certificate_or_refuses_it() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let folder = files(&authority, &leaf);
    let own = Subject::new("did:web:client.example");
    let trusted = || {
        let did = Did::parse("did:web:server.example").unwrap();
        Some(IdentityPolicy::of_dids(METHODS, [did]))
    };
    for groups in [&[][..], &["-groups", "P-256"]] {
        let (mut program, port) = s_server(folder.path(), &[&["-rev"], groups].concat());
        program.ignore();
        let either = PeerPolicy {
            identities: trusted(),
            ..authority.server()
        };
        let mut ours = client(config(ssi(own.as_did())), either);
        let mut stream = connect(port);
        exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
        assert_eq!(certificate(&ours), Some(leaf.chain[0].clone()));
        ours.send(b"desserts\n").unwrap();
        exchange(&mut ours, &mut stream, |_, got| got == b"stressed\n");
        finish(&mut ours, &mut stream);

        let required = PeerPolicy {
            certificates: None,
            identities: trusted(),
        };
        let mut ours = client(config(ssi(own.as_did())), required);
        let error = fails(&mut ours, &mut connect(port));
        assert_eq!(refused(error), Alert::InsufficientSecurity);
    }
}

#[test]
#[ignore = "needs OpenSSL 3, which `cargo xtask test` installs"]
fn a_server_with_a_did_shows_openssl_its_certificate_if_it_has_one() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let folder = files(&authority, &leaf);
    let own = Subject::new("did:web:server.example");
    let both = Identities {
        ssi: Some(own.as_did()),
        ..leaf.identities()
    };
    let (mut program, mut stream) = s_client(folder.path(), &[]);
    let mut ours = server(config(both), ClientAuth::None);
    exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
    program.tell("hello\n");
    exchange(&mut ours, &mut stream, |_, got| got == b"hello\n");
    finish(&mut ours, &mut stream);

    let (_program, mut stream) = s_client(folder.path(), &[]);
    let mut ours = server(config(ssi(own.as_did())), ClientAuth::None);
    let error = fails(&mut ours, &mut stream);
    assert_eq!(refused(error), Alert::HandshakeFailure);
}
