//! A man in the middle, or a third party: strips extensions from both hellos, shares a key, or has another's ticket.

use std::sync::Arc;

use super::puppet::plain;
use super::ssi::{Registry, Subject, client_refused, drive, only, ssi, trust_did};
use crate::codec::{ClientHello, Extension, Message, SsiParameters};
use crate::identity::{CertificateIdentity, CertificatePolicy, Identities, PeerPolicy};
use crate::profile::PAPER;
use crate::provider::Cipher;
use crate::resumption::{Sessions, TicketKeys, TicketSession};
use crate::schedule::Early;
use crate::testing::{Authority, Ends, NAME, NOW, assert_talk, client, ctx, join, server};
use crate::{
    Alert, ClientAuth, ClientConfig, Config, Connection, Error, Group, ServerConfig, SigningKey,
    Suite,
};

fn record(raw: &[u8]) -> Vec<u8> {
    let length = u16::try_from(raw.len()).unwrap().to_be_bytes();
    [&[22, 3, 3], &length[..], raw].concat()
}

fn refused(result: Result<(), Error>) -> Alert {
    match result {
        Err(Error::Refused(refusal)) => refusal.alert,
        other => panic!("not refused: {other:?}"),
    }
}

/// Carries the client's hellos to the server, both changed in the same way; returns the client's alert.
fn both_hellos(change: impl Fn(&mut Vec<Extension>)) -> Alert {
    let authority = Authority::new();
    let subject = Subject::new("did:web:server.example");
    let policy = PeerPolicy {
        identities: Some(trust_did(&subject)),
        ..authority.server()
    };
    let mut identities = authority.leaf(&rcgen::PKCS_ED25519).identities();
    identities.ssi = Some(subject.as_did());
    let common = Config {
        identities,
        groups: vec![Group::SECP256R1],
        ..Config::default()
    };
    let mut client = client(Config::default(), policy);
    let mut server = server(common, ClientAuth::None);
    for _ in 0..2 {
        let (hello, _) = plain(&client.take_outgoing()).pop().unwrap();
        let Message::ClientHello(mut hello) = hello else {
            panic!("not a hello")
        };
        change(&mut hello.extensions.0);
        let raw = Message::ClientHello(hello).write(&PAPER).unwrap();
        server.receive(&record(&raw), &ctx()).unwrap();
        let answer = server.take_outgoing();
        let got = client.receive(&answer, &ctx());
        if got.is_err() {
            assert!(!client.is_open() && client.take_incoming().is_empty());
            return refused(got);
        }
    }
    panic!("the client took it")
}

#[test]
fn a_wish_stripped_or_changed_in_both_hellos_breaks_the_transcript() {
    let change = |with: fn(&mut SsiParameters)| {
        both_hellos(|all| {
            for one in all.iter_mut() {
                if let Extension::Ssi(parameters) = one {
                    with(parameters);
                }
            }
        })
    };
    let stripped = both_hellos(|all| all.retain(|one| !matches!(one, Extension::Ssi(_))));
    assert_eq!(stripped, Alert::BadRecordMac);
    assert_eq!(change(|ssi| ssi.methods.reverse()), Alert::BadRecordMac);
    assert_eq!(change(|ssi| ssi.methods.truncate(1)), Alert::BadRecordMac);
    assert_eq!(change(|ssi| ssi.methods.push(228)), Alert::BadRecordMac);
}

#[test]
fn two_dids_with_one_key_are_not_taken_for_each_other() {
    // Mallory puts the server's public key into its own DID document, and forwards clients to the server.
    let own = Subject::new("did:web:server.example");
    let mallory = Subject {
        did: Subject::new("did:web:mallory.example").did,
        ..own.clone()
    };
    let registry = Registry::of(&[&own, &mallory]);
    let common = Config {
        identities: ssi(own.as_did()),
        ..Config::default()
    };
    let mut one = client(Config::default(), only(trust_did(&mallory)));
    let mut other = server(common, ClientAuth::None);
    let ends = drive(&mut one, &mut other, &registry);
    assert_eq!(client_refused(ends), Alert::AccessDenied);
    assert!(!one.is_open());
}

/// Two clients that one server accepts, each by its certificate.
struct Two {
    clients: [Arc<ClientConfig>; 2],
    server: Arc<ServerConfig>,
    sessions: Sessions,
}

impl Two {
    fn new() -> Self {
        let authority = Authority::new();
        let leaf = || authority.leaf(&rcgen::PKCS_ED25519).identities();
        let sessions = Sessions::new(8);
        let of = |identities: Identities| Config {
            identities,
            ..Config::default()
        };
        let client = || {
            let config = ClientConfig::new(of(leaf()), authority.server()).unwrap();
            Arc::new(config.with_sessions(sessions.clone()))
        };
        let clients = ClientAuth::Required(authority.clients());
        let server = ServerConfig::new(of(leaf()), clients).unwrap();
        Self {
            clients: [client(), client()],
            server: Arc::new(server.with_tickets(TicketKeys::new([7; 32]))),
            sessions: sessions.clone(),
        }
    }

    fn session(&self, which: usize) -> TicketSession {
        let mut one = Connection::client(&self.clients[which], &ctx()).unwrap();
        let mut other = Connection::server(&self.server, &ctx());
        assert_eq!(join(&mut one, &mut other), Ends::default());
        let key = &self.clients[which].digest;
        self.sessions.take(key, NOW).unwrap()
    }
}

/// A hello that offers this ticket, bound with this secret.
fn offer(hello: &mut ClientHello, ticket: &TicketSession, secret: &TicketSession) -> Vec<u8> {
    let Some(Extension::PreSharedKeys(offered)) = hello.extensions.0.last_mut() else {
        panic!("no ticket is offered")
    };
    offered.identities[0].ticket.clone_from(&ticket.ticket);
    let raw = Message::ClientHello(hello.clone()).write(&PAPER).unwrap();
    let (bound, _) = raw.split_at(raw.len() - 35);
    let cipher = Cipher::new(Suite::AES_128_GCM_SHA256).unwrap();
    let early = Early::new(cipher, Some(&secret.secret));
    let binder = early.binder(cipher.hash(bound).as_ref()).unwrap();
    record(&[bound, &[0, 33, 32], &binder].concat())
}

#[test]
fn a_ticket_of_one_client_does_not_serve_another() {
    let two = Two::new();
    let (own, foreign) = (two.session(0), two.session(1));
    let answer = |ticket: &TicketSession, secret: &TicketSession| {
        two.sessions.insert(two.clients[0].digest, own.clone());
        let mut client = Connection::client(&two.clients[0], &ctx()).unwrap();
        let (hello, _) = plain(&client.take_outgoing()).pop().unwrap();
        let Message::ClientHello(mut hello) = hello else {
            panic!("not a hello")
        };
        let bytes = offer(&mut hello, ticket, secret);
        Connection::server(&two.server, &ctx()).receive(&bytes, &ctx())
    };
    assert_eq!(answer(&own, &own), Ok(()));
    assert_eq!(refused(answer(&foreign, &own)), Alert::DecryptError);
    assert_eq!(refused(answer(&own, &foreign)), Alert::DecryptError);
    // The client also finds no ticket of the other among its own.
    assert!(two.sessions.take(&two.clients[1].digest, NOW).is_some());
    two.sessions.clear();
    two.sessions.insert(two.clients[1].digest, foreign.clone());
    let mut client = Connection::client(&two.clients[0], &ctx()).unwrap();
    let (hello, _) = plain(&client.take_outgoing()).pop().unwrap();
    let Message::ClientHello(hello) = hello else {
        panic!("not a hello")
    };
    assert_eq!(hello.extensions.pre_shared_keys(), None);
}

#[test]
fn a_server_shows_the_certificate_of_the_name_that_is_asked_for() {
    let authority = Authority::new();
    let named = |name: &str, kind| {
        let leaf = authority.leaf_with(kind, |params| {
            params.subject_alt_names = vec![rcgen::SanType::DnsName(name.try_into().unwrap())];
        });
        let key = SigningKey::from_pkcs8(&leaf.key).unwrap();
        CertificateIdentity::new(&leaf.chain, key).unwrap()
    };
    let ed25519 = &rcgen::PKCS_ED25519;
    let common = Config {
        identities: authority.leaf(ed25519).identities(),
        ..Config::default()
    };
    let config = ServerConfig::new(common, ClientAuth::None).unwrap();
    let config = config
        .with_certificate(named("one.example", &rcgen::PKCS_RSA_SHA256))
        .with_certificate(named("*.many.example", ed25519));
    let config = Arc::new(config.with_tickets(TicketKeys::new([7; 32])));
    let anchors = [authority.der.clone()];
    let meet = |name: &str| {
        let policy = CertificatePolicy::for_server(name, &anchors).unwrap();
        let policy = PeerPolicy {
            certificates: Some(policy),
            identities: None,
        };
        let mut one = client(Config::default(), policy);
        let mut other = Connection::server(&config, &ctx());
        let ends = join(&mut one, &mut other);
        if ends == Ends::default() {
            assert_talk(&mut one, &mut other);
        }
        ends
    };
    for name in [NAME, "one.example", "a.many.example", "B.MANY.example"] {
        assert_eq!(meet(name), Ends::default(), "{name}");
    }
    // Other names get the first certificate, which does not match them.
    for name in ["many.example", "a.b.many.example", "two.example"] {
        let Some(Error::Refused(refusal)) = meet(name).client else {
            panic!("{name} was accepted")
        };
        assert_eq!(refusal.alert, Alert::BadCertificate);
    }
}
