//! With wolfSSL over loopback, in both directions: certificates, resumption, second hellos, KeyUpdate and refusals.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use selfsame_crypto::encoding::hex_encode;
use tempfile::TempDir;

use super::programs::{Program, accept, connect, exchange, fails, files, listen};
use crate::identity::{Identities, PeerKind};
use crate::resumption::{Sessions, TicketKeys};
use crate::testing::{Authority, Leaf, ctx};
use crate::{
    Alert, ClientAuth, ClientConfig, Config, Connection, Error, Group, ServerConfig, Suite,
};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wolfssl/peer.c");
/// Key types of authorities, each with a different type for the certificates that they sign.
const KINDS: [(&rcgen::SignatureAlgorithm, &rcgen::SignatureAlgorithm); 3] = [
    (&rcgen::PKCS_RSA_SHA256, &rcgen::PKCS_ECDSA_P256_SHA256),
    (&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_RSA_SHA256),
    (&rcgen::PKCS_ECDSA_P384_SHA384, &rcgen::PKCS_ED25519),
];

/// The compiled program.
struct Wolf(TempDir);

impl Wolf {
    fn build() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let built = Command::new("cc")
            .args(["-o"])
            .arg(folder.path().join("peer"))
            .args([SOURCE, "-lwolfssl"])
            .status()
            .expect("a C compiler is missing: run this by `cargo xtask test`");
        assert!(built.success());
        Self(folder)
    }

    fn start(&self, plan: &[&str]) -> Program {
        let program = self.0.path().join("peer");
        Program::start(program, plan, Path::new("."), Stdio::inherit())
    }
}

/// An authority, a certificate of ours, and one of theirs, written to files for wolfSSL.
struct Ends {
    wolf: Wolf,
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
            wolf: Wolf::build(),
            authority,
            own,
            theirs,
            folder,
        }
    }

    /// Starts wolfSSL's server; returns its port.
    fn serve(&self, words: &[&str]) -> (Program, u16) {
        let mut program = self.start("server", 0, words);
        let port = program.after("port ").parse().unwrap();
        (program, port)
    }

    fn start(&self, role: &str, port: u16, words: &[&str]) -> Program {
        let (port, folder) = (port.to_string(), self.folder.path().to_str().unwrap());
        self.wolf.start(&[&[role, &port, folder], words].concat())
    }

    fn client(&self, config: Config) -> ClientConfig {
        ClientConfig::new(config, self.authority.server()).unwrap()
    }

    fn server(&self, config: Config) -> ServerConfig {
        let clients = ClientAuth::Required(self.authority.clients());
        ServerConfig::new(config, clients).unwrap()
    }

    /// A line each way with key updates of both sides, and what each knows about the other.
    fn converse(&self, ours: &mut Connection, stream: &mut TcpStream, with: &mut Program) {
        exchange(ours, stream, |_, got| got == b"from wolfSSL\n");
        ours.update_keys(true).unwrap();
        ours.send(b"from Rust\n").unwrap();
        exchange(ours, stream, |ours, _| ours.has_peer_closed());
        assert_eq!(with.after("heard "), "from Rust");
        let known = &ours.peer().unwrap().kind;
        assert_eq!(*known, PeerKind::Certificate(self.theirs.chain.clone()));
    }

    fn assert_knows_ours(&self, program: &mut Program) {
        assert_eq!(program.after("peer "), hex_encode(&self.own.chain[0]));
    }
}

fn config(identities: Identities) -> Config {
    Config {
        identities,
        ..Config::default()
    }
}

fn client_of(config: &Arc<ClientConfig>) -> Connection {
    Connection::client(config, &ctx()).unwrap()
}

#[test]
#[ignore = "needs wolfSSL, which `cargo xtask test` installs"]
fn our_client_and_wolfssls_server_show_each_other_certificates_and_renew_their_keys() {
    for kinds in KINDS {
        let ends = Ends::new(kinds);
        for words in [&["asks"][..], &["asks", "renews"]] {
            let (mut program, port) = ends.serve(words);
            let mut ours = client_of(&Arc::new(ends.client(config(ends.own.identities()))));
            ends.converse(&mut ours, &mut connect(port), &mut program);
            ends.assert_knows_ours(&mut program);
        }
    }
}

#[test]
#[ignore = "needs wolfSSL, which `cargo xtask test` installs"]
fn our_server_and_wolfssls_client_show_each_other_certificates_and_renew_their_keys() {
    for kinds in KINDS {
        let ends = Ends::new(kinds);
        for words in [&[][..], &["renews"], &["again"]] {
            let (listener, port) = listen();
            let mut program = ends.start("client", port, words);
            let mut stream = accept(&listener);
            let config = Arc::new(ends.server(config(ends.own.identities())));
            let mut ours = Connection::server(&config, &ctx());
            ends.converse(&mut ours, &mut stream, &mut program);
            ends.assert_knows_ours(&mut program);
        }
    }
}

#[test]
#[ignore = "needs wolfSSL, which `cargo xtask test` installs"]
fn each_suite_and_group_that_both_have_is_agreed() {
    let suites = [
        Suite::AES_128_GCM_SHA256,
        Suite::AES_256_GCM_SHA384,
        Suite::CHACHA20_POLY1305_SHA256,
    ];
    let groups = [Group::X25519, Group::SECP256R1, Group::SECP384R1];
    let ends = Ends::new(KINDS[0]);
    for (suite, group) in suites.into_iter().zip(groups) {
        let config = Config {
            suites: vec![suite],
            groups: vec![group],
            ..config(ends.own.identities())
        };
        let (mut program, port) = ends.serve(&["asks"]);
        let mut ours = client_of(&Arc::new(ends.client(config.clone())));
        ends.converse(&mut ours, &mut connect(port), &mut program);
        assert_eq!(ours.parameters(), Some((suite, group)));

        let (listener, port) = listen();
        let mut program = ends.start("client", port, &[]);
        let mut stream = accept(&listener);
        let mut ours = Connection::server(&Arc::new(ends.server(config)), &ctx());
        ends.converse(&mut ours, &mut stream, &mut program);
        assert_eq!(ours.parameters(), Some((suite, group)));
    }
}

#[test]
#[ignore = "needs wolfSSL, which `cargo xtask test` installs"]
fn connections_resume_in_both_directions() {
    let ends = Ends::new(KINDS[0]);
    let sessions = Sessions::new(4);
    let (mut program, port) = ends.serve(&["asks", "twice"]);
    let client = ends.client(config(ends.own.identities()));
    let client = Arc::new(client.with_sessions(sessions));
    for resumes in [false, true] {
        let mut ours = client_of(&client);
        ends.converse(&mut ours, &mut connect(port), &mut program);
        assert_eq!(ours.peer().unwrap().resumed.is_some(), resumes);
        assert_eq!(program.after("resumed "), said(resumes));
    }

    let (listener, port) = listen();
    let mut program = ends.start("client", port, &["twice"]);
    let server = ends.server(config(ends.own.identities()));
    let server = Arc::new(server.with_tickets(TicketKeys::new([9; 32])));
    for resumes in [false, true] {
        let mut ours = Connection::server(&server, &ctx());
        ends.converse(&mut ours, &mut accept(&listener), &mut program);
        assert_eq!(ours.peer().unwrap().resumed.is_some(), resumes);
        assert_eq!(program.after("resumed "), said(resumes));
    }
}

fn said(resumes: bool) -> &'static str {
    if resumes { "yes" } else { "no" }
}

#[test]
#[ignore = "needs wolfSSL, which `cargo xtask test` installs"]
fn who_shows_nothing_or_what_is_not_trusted_is_refused_in_both_directions() {
    let ends = Ends::new(KINDS[0]);
    let strange = Authority::new().leaf(&rcgen::PKCS_ECDSA_P256_SHA256);

    let (mut program, port) = ends.serve(&["asks"]);
    let mut ours = client_of(&Arc::new(ends.client(config(strange.identities()))));
    let error = fails(&mut ours, &mut connect(port));
    assert!(matches!(error, Error::Alerted(_)), "{error:?}");
    program.after("refused ");

    for (words, shown, expected) in [
        (
            &["nothing"][..],
            &ends.own,
            Some(Alert::CertificateRequired),
        ),
        (&[], &strange, None),
    ] {
        let (listener, port) = listen();
        let mut program = ends.start("client", port, words);
        let mut stream = accept(&listener);
        let config = Arc::new(ends.server(config(shown.identities())));
        let mut ours = Connection::server(&config, &ctx());
        match (fails(&mut ours, &mut stream), expected) {
            (Error::Refused(refusal), Some(alert)) => assert_eq!(refusal.alert, alert),
            (Error::Alerted(_), None) => (),
            (error, _) => panic!("{error:?}"),
        }
        program.after("refused ");
    }
}
