//! With the second implementation of the paper's messages, in Python, over loopback; `cargo xtask` runs it.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests reach another program over loopback"
)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;

use selfsame_crypto::PublicKey;
use selfsame_crypto::encoding::{hex_decode, hex_encode};
use selfsame_did::{Did, Representation};
use serde_json::{Value, json};

use super::programs::{PATIENCE, Program, accept, connect, key_pem, listen};
use super::ssi::{DAY, Registry, Subject, method, only, ssi, trusted};
use crate::codec::Mode;
use crate::evidence::HandshakeNeed;
use crate::identity::{
    ExpectedPeer, Identities, IdentityPolicy, PeerKind, PeerPolicy, SsiIdentity,
};
use crate::profile::{LINKS, PAPER, Profile};
use crate::testing::{Authority, Leaf, NOW, client, ctx, server};
use crate::{Alert, ClientAuth, Config, Connection, Error, Group, SigningKey};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/second");
const VECTORS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../vectors/tls/identity-messages.txt"
);

fn python(arguments: &[&str]) -> Program {
    let python = std::env::var_os("SELFSAME_SECOND_PYTHON")
        .expect("SELFSAME_SECOND_PYTHON is not set: run this by `cargo xtask test` or `cross tls`");
    let arguments = [&["-B", "peer.py"], arguments].concat();
    Program::start(python, &arguments, Path::new(FOLDER), Stdio::inherit())
}

/// Starts the second implementation with a plan.
fn ask(plan: &Value) -> Program {
    let mut program = python(&[]);
    program.tell(&plan.to_string());
    program.end_input();
    program
}

fn reply(program: &mut Program) -> Value {
    serde_json::from_str(&program.line()).unwrap()
}

/// A person whose private key both implementations have.
struct Person {
    subject: Subject,
    pem: String,
}

impl Person {
    fn new(did: &str, kind: &'static rcgen::SignatureAlgorithm) -> Self {
        let pkcs8 = rcgen::KeyPair::generate_for(kind).unwrap().serialize_der();
        let key = SigningKey::from_pkcs8(&pkcs8).unwrap();
        let subject = Subject {
            did: Did::parse(did).unwrap(),
            public: PublicKey::from_spki(&key.spki().unwrap()).unwrap(),
            key,
        };
        Self {
            subject,
            pem: key_pem(&pkcs8),
        }
    }

    fn document(&self) -> Value {
        let document = self
            .subject
            .document_for(selfsame_did::Relationship::Authentication);
        document.to_value(Representation::default())
    }
}

/// All participants, and their profile.
struct World {
    profile: &'static Profile,
    issuer: Person,
    ours: Person,
    theirs: Person,
    authority: Authority,
    our_leaf: Leaf,
    their_leaf: Leaf,
}

/// Our end, the stream, and their program.
type Ends = (Connection, TcpStream, Program);
/// How the server and the client authenticate.
type Cell = (Mode, Option<Mode>);

impl World {
    fn new(profile: &'static Profile, kind: &'static rcgen::SignatureAlgorithm) -> Self {
        let name = if profile == &LINKS { "ott" } else { "btcr" };
        let did = |fill: &str| format!("did:{name}:{}", fill.repeat(64));
        let authority = Authority::new();
        Self {
            profile,
            issuer: Person::new("did:web:issuer.example", kind),
            ours: Person::new(&did("a"), kind),
            theirs: Person::new(&did("b"), kind),
            our_leaf: authority.leaf(kind),
            their_leaf: authority.leaf(kind),
            authority,
        }
    }

    fn method(&self) -> &str {
        self.ours.subject.did.method()
    }

    fn issuing(&self) -> Value {
        json!({
            "id": "https://issuer.example/credentials/1",
            "did": self.issuer.subject.did.as_str(),
            "method": method(&self.issuer.subject),
            "key": self.issuer.pem,
            "issued": DAY.0.rfc3339(),
            "expires": DAY.1.rfc3339(),
        })
    }

    fn issuers(&self) -> Value {
        let jwk = self.issuer.subject.public.to_jwk().to_value();
        json!({ self.issuer.subject.did.as_str(): { method(&self.issuer.subject): jwk } })
    }

    /// A plan for the second implementation.
    fn plan(&self, role: &str, own: Option<Mode>, expects: Option<Mode>) -> Value {
        let number = |mode: Mode| match mode {
            Mode::Certificate => 0,
            Mode::Did => 1,
            Mode::Vc => 2,
        };
        let key = match own {
            Some(Mode::Certificate) => key_pem(&self.their_leaf.key),
            _ => self.theirs.pem.clone(),
        };
        let own = own.map(|mode| {
            json!({
                "mode": number(mode),
                "did": self.theirs.subject.did.as_str(),
                "key": key,
                "issuer": self.issuing(),
                "certificate": hex_encode(&self.their_leaf.chain[0]),
            })
        });
        let expects = expects.map(|mode| {
            json!({
                "mode": number(mode),
                "methods": [self.profile.method_code(self.method()).unwrap()],
                "dids": [self.ours.subject.did.as_str()],
                "issuers": self.issuers(),
                "certificate": hex_encode(&self.our_leaf.chain[0]),
            })
        });
        json!({
            "role": role,
            "profile": self.profile.name,
            "suites": [0x1301, 0x1302],
            "groups": [29, 23],
            "now": NOW.rfc3339(),
            "own": own,
            "expects": expects,
            "documents": { self.ours.subject.did.as_str(): self.ours.document() },
        })
    }

    fn identities(&self, mode: Option<Mode>) -> Identities {
        match mode {
            None => Identities::default(),
            Some(Mode::Certificate) => self.our_leaf.identities(),
            Some(Mode::Did) => ssi(self.ours.subject.as_did()),
            Some(Mode::Vc) => ssi(self.ours.subject.as_holder(&self.issuer.subject)),
        }
    }

    fn policy(&self, certificates: PeerPolicy, mode: Mode) -> PeerPolicy {
        let dids = [self.theirs.subject.did.clone()];
        match mode {
            Mode::Certificate => certificates,
            Mode::Did => only(IdentityPolicy::of_dids(&[self.method()], dids)),
            Mode::Vc => only(IdentityPolicy::of_credentials(
                &[self.method()],
                vec![trusted(&self.issuer.subject)],
                ExpectedPeer::Dids(dids.into()),
            )),
        }
    }

    fn config(&self, mode: Option<Mode>) -> Config {
        Config {
            profile: self.profile,
            identities: self.identities(mode),
            ..Config::default()
        }
    }

    fn registry(&self) -> Registry {
        Registry::of(&[&self.theirs.subject])
    }

    /// Our client with their server.
    fn as_client(&self, (by_server, by_client): Cell) -> Ends {
        let plan = self.plan("server", Some(by_server), by_client);
        self.as_client_of(plan, (by_server, by_client))
    }

    fn as_client_of(&self, plan: Value, cell: Cell) -> Ends {
        let mut program = ask(&plan);
        let port = reply(&mut program)["port"].as_u64().unwrap();
        let policy = self.policy(self.authority.server(), cell.0);
        let ours = client(self.config(cell.1), policy);
        (ours, connect(u16::try_from(port).unwrap()), program)
    }

    /// Our server with their client.
    fn as_server(&self, (by_server, by_client): Cell) -> Ends {
        let plan = self.plan("client", by_client, Some(by_server));
        self.as_server_of(plan, &self.config(Some(by_server)), by_client)
    }

    fn as_server_of(&self, mut plan: Value, config: &Config, by_client: Option<Mode>) -> Ends {
        let (listener, port) = listen();
        plan["port"] = json!(port);
        let program = ask(&plan);
        let clients = match by_client {
            None => ClientAuth::None,
            Some(mode) => ClientAuth::Required(self.policy(self.authority.clients(), mode)),
        };
        let ours = server(config.clone(), clients);
        (ours, accept(&listener), program)
    }

    /// Asserts that our end has authenticated theirs as expected.
    fn assert_known(&self, ours: &Connection, mode: Option<Mode>) {
        let did = self.theirs.subject.did.clone();
        match (&ours.peer().unwrap().kind, mode) {
            (PeerKind::Anonymous, None) => {}
            (PeerKind::Certificate(chain), Some(Mode::Certificate)) => {
                assert_eq!(*chain, self.their_leaf.chain);
            }
            (PeerKind::Did(known), Some(Mode::Did)) => assert_eq!(*known, did),
            (PeerKind::Credential(known), Some(Mode::Vc)) => {
                let issuer = &self.issuer.subject.did;
                assert_eq!((&known.subject, &known.issuer), (&did, issuer));
            }
            other => panic!("not as agreed: {other:?}"),
        }
    }

    /// Asserts that their end has authenticated ours as expected, and received our data.
    fn assert_knows(&self, program: &mut Program, mode: Option<Mode>) {
        let said = reply(program);
        let peer = match mode {
            None => Value::Null,
            Some(Mode::Certificate) => json!("certificate"),
            Some(_) => json!(self.ours.subject.did.as_str()),
        };
        assert_eq!(said["peer"], peer, "{said}");
        assert_eq!(said["heard"], json!("from Rust\n"), "{said}");
    }

    /// Tests a cell in both directions.
    fn assert_cell(&self, cell: Cell) {
        let mut ends = self.as_client(cell);
        converse(&mut ends, &self.registry());
        self.assert_known(&ends.0, Some(cell.0));
        self.assert_knows(&mut ends.2, cell.1);

        let mut ends = self.as_server(cell);
        converse(&mut ends, &self.registry());
        self.assert_known(&ends.0, cell.1);
        self.assert_knows(&mut ends.2, Some(cell.0));
    }
}

/// One exchange of bytes and evidence; returns the error if it fails.
fn step(ours: &mut Connection, stream: &mut TcpStream, registry: &Registry) -> Result<(), Error> {
    let mut buffer = [0; 16 * 1024];
    // Closing a socket with unread bytes resets the stream.
    let read = stream.read(&mut buffer).unwrap_or(0);
    if read == 0 {
        return ours.receive_end();
    }
    ours.receive(&buffer[..read], &ctx())?;
    let needs: Vec<HandshakeNeed> = ours.needs().to_vec();
    if !needs.is_empty() {
        ours.provide(&registry.evidence(&needs), &ctx())?;
    }
    Ok(())
}

/// Exchanges bytes and evidence until `is_enough` or an error.
fn drive(
    ours: &mut Connection,
    stream: &mut TcpStream,
    registry: &Registry,
    is_enough: impl Fn(&Connection) -> bool,
) -> Result<(), Error> {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    loop {
        // A peer that is gone is detected by reading.
        let _ = stream.write_all(&ours.take_outgoing());
        if is_enough(ours) {
            return Ok(());
        }
        if let Err(error) = step(ours, stream, registry) {
            // The peer may be gone before the alert arrives.
            let _ = stream.write_all(&ours.take_outgoing());
            return Err(error);
        }
    }
}

/// A handshake, a line each way with key updates before it, and the end.
fn converse((ours, stream, program): &mut Ends, registry: &Registry) {
    let opened = drive(ours, stream, registry, Connection::is_open);
    if opened.is_err() {
        panic!("{opened:?}, and they say {}", reply(program));
    }
    ours.update_keys(true).unwrap();
    ours.send(b"from Rust\n").unwrap();
    drive(ours, stream, registry, Connection::has_peer_closed).unwrap();
    assert_eq!(ours.take_incoming(), b"from Python\n");
    ours.close().unwrap();
    stream.write_all(&ours.take_outgoing()).unwrap();
}

const SSI_CELLS: [Cell; 4] = [
    (Mode::Vc, None),
    (Mode::Vc, Some(Mode::Vc)),
    (Mode::Did, None),
    (Mode::Did, Some(Mode::Did)),
];
const HYBRID_CELLS: [Cell; 4] = [
    (Mode::Certificate, Some(Mode::Vc)),
    (Mode::Certificate, Some(Mode::Did)),
    (Mode::Vc, Some(Mode::Certificate)),
    (Mode::Did, Some(Mode::Certificate)),
];

#[test]
#[ignore = "needs the second implementation, which `cargo xtask` installs"]
fn both_write_each_message_as_the_vectors_have_it() {
    let said = reply(&mut python(&["--vectors", VECTORS]));
    let matched = said["matched"].as_array().unwrap();
    assert_eq!(matched.len(), 18, "{said}");
    // A codec test checks that ours match too.
}

#[test]
#[ignore = "needs the second implementation, which `cargo xtask` installs"]
fn both_write_a_credential_as_the_same_text() {
    let world = World::new(&PAPER, &rcgen::PKCS_ED25519);
    let subject = &world.ours.subject.did;
    let plan = json!({
        "role": "issuer",
        "issuer": world.issuing(),
        "issuers": world.issuers(),
        "subject": subject.as_str(),
        "now": NOW.rfc3339(),
    });
    let said = reply(&mut ask(&plan));
    let theirs = hex_decode(said["vc"].as_str().unwrap()).unwrap();
    assert_eq!(said["subject"], json!(subject.as_str()));
    // An Ed25519 signature is deterministic, so the texts are identical.
    let ours = super::ssi::vc(&world.issuer.subject, subject, DAY);
    assert_eq!(
        String::from_utf8_lossy(&ours),
        String::from_utf8_lossy(&theirs)
    );
}

#[test]
#[ignore = "needs the second implementation, which `cargo xtask` installs"]
fn credentials_and_dids_go_through_in_both_directions() {
    let world = World::new(&PAPER, &rcgen::PKCS_ED25519);
    for cell in SSI_CELLS {
        world.assert_cell(cell);
    }
}

#[test]
#[ignore = "needs the second implementation, which `cargo xtask` installs"]
fn hybrids_with_certificates_go_through_in_both_directions() {
    let world = World::new(&PAPER, &rcgen::PKCS_ECDSA_P256_SHA256);
    for cell in HYBRID_CELLS {
        world.assert_cell(cell);
    }
}

#[test]
#[ignore = "needs the second implementation, which `cargo xtask` installs"]
fn the_numbers_of_the_authors_code_go_through_in_both_directions() {
    let world = World::new(&LINKS, &rcgen::PKCS_ED25519);
    for cell in SSI_CELLS.into_iter().chain([HYBRID_CELLS[1]]) {
        world.assert_cell(cell);
    }
}

#[test]
#[ignore = "needs the second implementation, which `cargo xtask` installs"]
fn keys_of_p_256_and_rsa_go_through_in_both_directions() {
    for (profile, kind) in [
        (&PAPER, &rcgen::PKCS_ECDSA_P256_SHA256),
        (&LINKS, &rcgen::PKCS_ECDSA_P256_SHA256),
        (&PAPER, &rcgen::PKCS_RSA_SHA256),
    ] {
        let world = World::new(profile, kind);
        world.assert_cell((Mode::Vc, Some(Mode::Vc)));
        world.assert_cell((Mode::Did, Some(Mode::Did)));
    }
}

#[test]
#[ignore = "needs the second implementation, which `cargo xtask` installs"]
fn a_second_hello_carries_the_same_parameters_in_both_directions() {
    let world = World::new(&PAPER, &rcgen::PKCS_ED25519);
    let cell = (Mode::Did, Some(Mode::Did));
    let mut plan = world.plan("server", Some(cell.0), cell.1);
    plan["groups"] = json!([23]);
    let mut ends = world.as_client_of(plan, cell);
    converse(&mut ends, &world.registry());
    assert_eq!(ends.0.parameters().unwrap().1, Group::SECP256R1);
    world.assert_knows(&mut ends.2, cell.1);

    let config = Config {
        groups: vec![Group::SECP256R1],
        ..world.config(Some(cell.0))
    };
    let plan = world.plan("client", cell.1, Some(cell.0));
    let mut ends = world.as_server_of(plan, &config, cell.1);
    converse(&mut ends, &world.registry());
    assert_eq!(ends.0.parameters().unwrap().1, Group::SECP256R1);
    world.assert_knows(&mut ends.2, Some(cell.0));
}

#[test]
#[ignore = "needs the second implementation, which `cargo xtask` installs"]
fn each_refuses_of_the_other_what_is_not_so() {
    let world = World::new(&PAPER, &rcgen::PKCS_ED25519);
    let stranger = Person::new("did:btcr:stranger", &rcgen::PKCS_ED25519);
    let refuses = |change: &dyn Fn(&mut Value), mode| {
        let mut plan = world.plan("server", Some(mode), None);
        change(&mut plan);
        let (mut ours, mut stream, _program) = world.as_client_of(plan, (mode, None));
        match drive(
            &mut ours,
            &mut stream,
            &world.registry(),
            Connection::is_open,
        ) {
            Err(Error::Refused(refusal)) => refusal.alert,
            other => panic!("not refused: {other:?}"),
        }
    };
    let other_key = |plan: &mut Value| plan["own"]["key"] = json!(stranger.pem);
    assert_eq!(refuses(&other_key, Mode::Did), Alert::DecryptError);
    assert_eq!(refuses(&other_key, Mode::Vc), Alert::DecryptError);
    let other_did = |plan: &mut Value| plan["own"]["did"] = json!("did:btcr:stranger");
    assert_eq!(refuses(&other_did, Mode::Did), Alert::AccessDenied);
    let other_issuer =
        |plan: &mut Value| plan["own"]["issuer"]["did"] = json!("did:web:other.example");
    assert_eq!(refuses(&other_issuer, Mode::Vc), Alert::UnknownCa);
    let forged = |plan: &mut Value| plan["own"]["issuer"]["key"] = json!(stranger.pem);
    assert_eq!(refuses(&forged, Mode::Vc), Alert::BadCertificate);
    let expired = |plan: &mut Value| plan["own"]["issuer"]["expires"] = json!(DAY.0.rfc3339());
    assert_eq!(refuses(&expired, Mode::Vc), Alert::CertificateExpired);

    let refused = |identity: SsiIdentity, mode, why: &str| {
        let config = Config {
            identities: ssi(identity),
            ..world.config(None)
        };
        let plan = world.plan("client", None, Some(mode));
        let (mut ours, mut stream, mut program) = world.as_server_of(plan, &config, None);
        let ended = drive(&mut ours, &mut stream, &world.registry(), |_| false);
        assert!(ended.is_err() && !ours.is_open());
        let said = reply(&mut program);
        assert_eq!(said["reason"], json!(why), "{said}");
    };
    let known = &world.ours.subject;
    let with_other_key = Subject {
        key: stranger.subject.key.clone(),
        ..known.clone()
    };
    let broken = "a signature that does not hold";
    refused(with_other_key.as_did(), Mode::Did, broken);
    let unexpected = "a DID that is not expected";
    refused(stranger.subject.as_did(), Mode::Did, unexpected);
    let issuer = &world.issuer.subject;
    refused(stranger.subject.as_holder(issuer), Mode::Vc, unexpected);
    let untrusted = "an issuer that is not trusted";
    refused(known.as_holder(&stranger.subject), Mode::Vc, untrusted);
    let forger = Subject {
        key: stranger.subject.key.clone(),
        ..issuer.clone()
    };
    refused(known.as_holder(&forger), Mode::Vc, broken);
    let old = super::ssi::vc(issuer, &known.did, (DAY.0, NOW));
    refused(known.with(old), Mode::Vc, "a credential out of its time");
}
