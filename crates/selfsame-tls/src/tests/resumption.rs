//! Resumption: which tickets are accepted, and which no longer are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::generate::random_seed;
use selfsame_crypto::time::UnixTime;

use super::puppet::{Puppet, plain};
use super::ssi::{
    DAY, Registry, Subject, drive, only, server_refused, ssi, trust_did, trust_vc, vc,
};
use crate::codec::{ClientHello, Extension, Extensions, Message, OfferedPsks};
use crate::evidence::{HandshakeNeed, NeedAnswer};
use crate::identity::{Identities, Peer, PeerPolicy};
use crate::profile::PAPER;
use crate::resumption::{Revalidate, Sessions, TicketKeys};
use crate::testing::{Authority, Ends, NOW, assert_talk, join};
use crate::{
    Alert, ClientAuth, ClientConfig, Config, Connection, Error, Group, ServerConfig, Suite,
};

/// Both sides, for any number of handshakes.
#[derive(Clone)]
pub(super) struct Parties {
    pub client: Config,
    pub server: Config,
    pub expected: PeerPolicy,
    pub clients: ClientAuth,
    pub sessions: Sessions,
    pub keys: TicketKeys,
    pub registry: Arc<Registry>,
}

pub(super) fn ctx(now: UnixTime) -> Ctx {
    Ctx::new(now, random_seed())
}

impl Parties {
    fn new(
        (own, expected): (Identities, PeerPolicy),
        (other, clients): (Identities, ClientAuth),
        registry: Registry,
    ) -> Self {
        let of = |identities| Config {
            identities,
            ..Config::default()
        };
        Self {
            client: of(own),
            server: of(other),
            expected,
            clients,
            sessions: Sessions::new(16),
            keys: TicketKeys::new([7; 32]),
            registry: Arc::new(registry),
        }
    }

    /// A server with a certificate and an anonymous client.
    pub fn plain() -> Self {
        let authority = Authority::new();
        let leaf = authority.leaf(&rcgen::PKCS_ED25519);
        Self::new(
            (Identities::default(), authority.server()),
            (leaf.identities(), ClientAuth::None),
            Registry::default(),
        )
    }

    /// Both sides with DIDs that have to be resolved.
    pub fn dids() -> (Self, Subject, Subject) {
        let (one, other) = (
            Subject::new("did:web:client.example"),
            Subject::new("did:web:server.example"),
        );
        let parties = Self::new(
            (ssi(one.as_did()), only(trust_did(&other))),
            (
                ssi(other.as_did()),
                ClientAuth::Required(only(trust_did(&one))),
            ),
            Registry::of(&[&one, &other]),
        );
        (parties, one, other)
    }

    fn ends(&self, now: UnixTime) -> (Connection, Connection) {
        let client = ClientConfig::new(self.client.clone(), self.expected.clone()).unwrap();
        let client = Arc::new(client.with_sessions(self.sessions.clone()));
        let server = ServerConfig::new(self.server.clone(), self.clients.clone()).unwrap();
        let server = Arc::new(server.with_tickets(self.keys.clone()));
        (
            Connection::client(&client, &ctx(now)).unwrap(),
            Connection::server(&server, &ctx(now)),
        )
    }

    /// A handshake that succeeds; returns whether it resumed.
    fn meet(&self, now: UnixTime) -> bool {
        let (mut client, mut server) = self.ends(now);
        assert_eq!(
            drive_at(&mut client, &mut server, (&self.registry, now)),
            Ends::default()
        );
        assert_talk(&mut client, &mut server);
        let resumed = |end: &Connection| end.peer().unwrap().resumed;
        assert_eq!(resumed(&client).is_some(), resumed(&server).is_some());
        resumed(&client).is_some()
    }
}

/// Joins both ends at this time, and answers their needs.
fn drive_at(
    client: &mut Connection,
    server: &mut Connection,
    (registry, now): (&Registry, UnixTime),
) -> Ends {
    let mut ends = Ends::default();
    for _ in 0..16 {
        let (up, down) = (client.take_outgoing(), server.take_outgoing());
        ends.server = ends.server.or(server.receive(&up, &ctx(now)).err());
        ends.client = ends.client.or(client.receive(&down, &ctx(now)).err());
        for end in [&mut *client, &mut *server] {
            if !end.needs().is_empty() {
                let mut evidence = registry.evidence(end.needs());
                for need in end.needs() {
                    if let HandshakeNeed::Did(did) = need {
                        let mut found = evidence.did(did).unwrap().clone();
                        found.as_of = now;
                        evidence.add(NeedAnswer::Did(did.clone(), found));
                    }
                }
                let _ = end.provide(&evidence, &ctx(now));
            }
        }
    }
    ends
}

#[test]
fn every_kind_of_identity_resumes_and_both_ends_know_who_the_other_was() {
    let authority = Authority::new();
    let (server_chain, client_chain) = (
        authority.leaf(&rcgen::PKCS_ED25519),
        authority.leaf(&rcgen::PKCS_ECDSA_P256_SHA256),
    );
    let issuer = Subject::new("did:web:issuer.example");
    let (one, other) = (
        Subject::new("did:web:client.example"),
        Subject::new("did:web:server.example"),
    );
    let registry = || Registry::of(&[&one, &other]);
    let by_certificate = Parties::new(
        (client_chain.identities(), authority.server()),
        (
            server_chain.identities(),
            ClientAuth::Required(authority.clients()),
        ),
        registry(),
    );
    let by_credential = Parties::new(
        (ssi(one.as_holder(&issuer)), only(trust_vc(&other, &issuer))),
        (
            ssi(other.as_holder(&issuer)),
            ClientAuth::Required(only(trust_vc(&one, &issuer))),
        ),
        registry(),
    );
    for parties in [
        Parties::plain(),
        by_certificate,
        by_credential,
        Parties::dids().0,
    ] {
        let (mut client, mut server) = parties.ends(NOW);
        assert_eq!(
            drive(&mut client, &mut server, &parties.registry),
            Ends::default()
        );
        let kinds = [&client, &server].map(|end: &Connection| end.peer().unwrap().kind.clone());
        assert_eq!(parties.sessions.len(), 2);

        let later = NOW.plus(60);
        let (mut client, mut server) = parties.ends(later);
        assert_eq!(parties.sessions.len(), 1);
        let joined = join(&mut client, &mut server);
        assert_eq!(joined, Ends::default());
        assert!(client.needs().is_empty() && server.needs().is_empty());
        for (end, kind) in [&client, &server].into_iter().zip(kinds) {
            let peer = end.peer().unwrap();
            assert_eq!((&peer.kind, peer.resumed), (&kind, Some(NOW)));
            let [rule] = peer.verdict.rules.as_slice() else {
                panic!("not one rule")
            };
            assert_eq!(rule.name, "resumption");
        }
        assert_talk(&mut client, &mut server);
        let (mut mine, mut theirs) = ([0; 32], [1; 32]);
        client.export("EXPORTER test", b"", &mut mine).unwrap();
        server.export("EXPORTER test", b"", &mut theirs).unwrap();
        assert_eq!(mine, theirs);
    }
}

#[test]
fn a_ticket_is_used_once_and_each_resumption_brings_new_ones() {
    let parties = Parties::plain();
    assert!(!parties.meet(NOW));
    for again in 1..=5 {
        assert!(parties.meet(NOW.plus(again)));
        assert!(parties.sessions.len() <= 8);
    }
    let tickets: Vec<Vec<u8>> = (0..2)
        .map(|_| ticket_of(&mut parties.ends(NOW).0).unwrap())
        .collect();
    assert_ne!(tickets[0], tickets[1]);
    parties.sessions.clear();
    assert!(parties.sessions.is_empty());
    assert_eq!(ticket_of(&mut parties.ends(NOW).0), None);
}

/// The hello that a client has sent.
pub(super) fn hello_of(client: &mut Connection) -> ClientHello {
    match plain(&client.take_outgoing()).pop().unwrap() {
        (Message::ClientHello(hello), _) => hello,
        other => panic!("not a hello: {other:?}"),
    }
}

fn ticket_of(client: &mut Connection) -> Option<Vec<u8>> {
    let hello = hello_of(client);
    let offered = hello.extensions.pre_shared_keys()?;
    Some(offered.identities[0].ticket.clone())
}

#[test]
fn a_second_hello_resumes_unless_its_suite_has_another_hash() {
    let mut parties = Parties::plain();
    assert!(!parties.meet(NOW));
    parties.server.groups = vec![Group::SECP256R1];
    assert!(parties.meet(NOW));
    parties.server.suites = vec![Suite::CHACHA20_POLY1305_SHA256];
    assert!(parties.meet(NOW));
    parties.server.suites = vec![Suite::AES_256_GCM_SHA384];
    assert!(!parties.meet(NOW));
    parties.sessions.clear();
    assert!(!parties.meet(NOW));
    assert!(parties.meet(NOW));
}

#[test]
fn a_ticket_ends_with_its_time_and_after_seven_days_whatever_it_says() {
    let mut parties = Parties::plain();
    parties.keys = TicketKeys::new([7; 32]).for_seconds(100);
    assert!(!parties.meet(NOW));
    assert!(parties.meet(NOW.plus(99)));
    parties.sessions.clear();
    assert!(!parties.meet(NOW));
    assert!(!parties.meet(NOW.plus(100)));

    // A chain of resumptions ends seven days after the proof.
    parties.keys = TicketKeys::new([8; 32]).for_seconds(u64::MAX);
    parties.sessions.clear();
    let day = 86_400;
    assert!(!parties.meet(NOW));
    for days in 1..=6 {
        assert!(parties.meet(NOW.plus(days * day)));
    }
    assert!(!parties.meet(NOW.plus(7 * day)));
}

#[test]
fn no_peer_resumes_longer_than_credential_certificate_or_evidence_last() {
    // A DID's evidence is valid for 300 seconds.
    let (parties, ..) = Parties::dids();
    assert!(!parties.meet(NOW));
    assert!(parties.meet(NOW.plus(299)));
    assert!(!parties.meet(NOW.plus(300)));

    // The client's credential is valid for ten minutes, and its DID need not be resolved.
    let issuer = Subject::new("did:web:issuer.example");
    let (one, other) = (holder(), holder());
    let short = vc(&issuer, &one.did, (DAY.0, NOW.plus(600)));
    let by_credential = Parties::new(
        (ssi(one.with(short)), only(trust_vc(&other, &issuer))),
        (
            ssi(other.as_holder(&issuer)),
            ClientAuth::Required(only(trust_vc(&one, &issuer))),
        ),
        Registry::default(),
    );
    assert!(!by_credential.meet(NOW));
    assert!(by_credential.meet(NOW.plus(599)));
    let (mut client, mut server) = by_credential.ends(NOW.plus(660));
    let at = (&*by_credential.registry, NOW.plus(660));
    let ends = drive_at(&mut client, &mut server, at);
    assert_eq!(server_refused(ends), Alert::CertificateExpired);

    let authority = Authority::new();
    let leaf = authority.leaf_with(&rcgen::PKCS_ED25519, |params| {
        params.not_after = rcgen::date_time_ymd(2026, 9, 22);
    });
    let end = UnixTime::parse_rfc3339("2026-09-22T00:00:00Z").unwrap();
    let parties = Parties::new(
        (Identities::default(), authority.server()),
        (leaf.identities(), ClientAuth::None),
        Registry::default(),
    );
    assert!(!parties.meet(NOW));
    assert!(parties.meet(end.minus(1)));
    let (mut client, mut server) = parties.ends(end.plus(1));
    assert_eq!(hello_of(&mut client).extensions.pre_shared_keys(), None);
    assert_eq!(server.needs().len(), 0);
    drop(server.take_outgoing());
}

/// A subject whose DID contains its key.
fn holder() -> Subject {
    let plain = Subject::new("did:web:placeholder.example");
    Subject {
        did: selfsame_did::key::create(&plain.public),
        ..plain
    }
}

/// The driver's knowledge, in a test.
#[derive(Debug, Default)]
pub(super) struct Known {
    epoch: AtomicU64,
    pub(super) is_revoked: std::sync::atomic::AtomicBool,
}

impl Revalidate for Known {
    fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    fn still_holds(&self, peer: &Peer, epoch: u64, _now: UnixTime) -> bool {
        assert_ne!(peer.kind, crate::identity::PeerKind::Anonymous);
        epoch == self.epoch() && !self.is_revoked.load(Ordering::SeqCst)
    }
}

#[test]
fn who_was_revoked_since_does_not_resume_at_either_end() {
    let (mut parties, ..) = Parties::dids();
    let (of_server, of_client) = (Arc::new(Known::default()), Arc::new(Known::default()));
    parties.server.revalidate = Some(of_server.clone());
    parties.client.revalidate = Some(of_client.clone());
    assert!(!parties.meet(NOW));
    assert!(parties.meet(NOW));
    // Something was revoked, so a peer that resumes is judged anew, once.
    of_server.epoch.store(1, Ordering::SeqCst);
    assert!(!parties.meet(NOW));
    assert!(parties.meet(NOW));

    of_server.is_revoked.store(true, Ordering::SeqCst);
    assert!(!parties.meet(NOW));
    of_server.is_revoked.store(false, Ordering::SeqCst);
    assert!(parties.meet(NOW));
    // The client does not offer a ticket of a server that it would not accept.
    of_client.is_revoked.store(true, Ordering::SeqCst);
    let (mut client, _) = parties.ends(NOW);
    assert_eq!(ticket_of(&mut client), None);
}

#[test]
fn a_ticket_is_of_one_policy_and_one_identity_of_each_side() {
    let (parties, one, other) = Parties::dids();
    let changed = |change: &dyn Fn(&mut Parties)| {
        parties.sessions.clear();
        assert!(!parties.meet(NOW));
        let mut parties = parties.clone();
        change(&mut parties);
        parties.meet(NOW)
    };
    assert!(changed(&|_| {}));
    // The server changed its policy or its identity.
    assert!(!changed(&|parties| {
        let mut policy = trust_did(&one);
        policy.skew = 61;
        parties.clients = ClientAuth::Required(only(policy));
    }));
    assert!(!changed(&|parties| {
        parties.clients = ClientAuth::Optional(only(trust_did(&one)));
    }));
    assert!(!changed(&|parties| {
        parties.server.identities.certificate = Authority::new()
            .leaf(&rcgen::PKCS_ED25519)
            .identities()
            .certificate;
    }));
    // The client changed: it finds no ticket of another policy or identity.
    let offers = |change: &dyn Fn(&mut Parties)| {
        let mut parties = parties.clone();
        change(&mut parties);
        ticket_of(&mut parties.ends(NOW).0).is_some()
    };
    assert!(offers(&|_| {}));
    parties.meet(NOW);
    assert!(!offers(&|parties| {
        let mut policy = trust_did(&other);
        policy.max_age = 299;
        parties.expected = only(policy);
    }));
    assert!(!offers(&|parties| {
        let mallory = Subject::new("did:web:mallory.example");
        parties.client.identities = ssi(mallory.as_did());
    }));
    assert!(!offers(&|parties| {
        parties.client.protocols = vec![b"h2".to_vec()];
    }));
}

#[test]
fn a_ticket_is_for_one_server_name_and_one_application_protocol() {
    let authority = Authority::new();
    let leaf = authority.leaf_with(&rcgen::PKCS_ED25519, |params| {
        let other = rcgen::SanType::DnsName("other.example".try_into().unwrap());
        params.subject_alt_names.push(other);
    });
    let mut parties = Parties::new(
        (Identities::default(), authority.server()),
        (leaf.identities(), ClientAuth::None),
        Registry::default(),
    );
    parties.client.protocols = vec![b"a".to_vec(), b"b".to_vec()];
    parties.server.protocols = vec![b"a".to_vec(), b"b".to_vec()];
    assert!(!parties.meet(NOW));
    assert!(parties.meet(NOW));
    // The hello is changed in transit and bound again with the right secret: the server still refuses.
    let renamed = |hello: &mut ClientHello| {
        for extension in &mut hello.extensions.0 {
            if let Extension::ServerName(name) = extension {
                *name = Some("other.example".to_owned());
            }
        }
    };
    let fewer = |hello: &mut ClientHello| {
        for extension in &mut hello.extensions.0 {
            if let Extension::Protocols(names) = extension {
                names.remove(0);
            }
        }
    };
    assert!(accepts(&parties, &|_| {}));
    assert!(!accepts(&parties, &renamed));
    assert!(!accepts(&parties, &fewer));
}

/// Whether the server accepts a ticket in a changed hello, bound again by a party that knows the secret.
fn accepts(parties: &Parties, change: &dyn Fn(&mut ClientHello)) -> bool {
    let config = ClientConfig::new(parties.client.clone(), parties.expected.clone()).unwrap();
    let session = parties.sessions.take(&config.digest, NOW).unwrap();
    parties.sessions.insert(config.digest, session.clone());
    let (mut client, mut server) = parties.ends(NOW);
    let mut hello = hello_of(&mut client);
    change(&mut hello);
    server
        .receive(&bound(&hello, &session.secret), &ctx(NOW))
        .unwrap();
    let answer = server.take_outgoing();
    let first = 5 + usize::from(u16::from_be_bytes([answer[3], answer[4]]));
    let (answer, _) = plain(&answer[..first]).pop().unwrap();
    let Message::ServerHello(answer) = answer else {
        panic!("not a ServerHello")
    };
    let taken = |extension: &Extension| matches!(extension, Extension::PreSharedKey(0));
    answer.extensions.0.iter().any(taken)
}

/// A hello as a record, with one valid SHA-256 binder.
fn bound(hello: &ClientHello, secret: &crate::provider::Block) -> Vec<u8> {
    let raw = Message::ClientHello(hello.clone()).write(&PAPER).unwrap();
    let cipher = crate::provider::Cipher::new(Suite::AES_128_GCM_SHA256).unwrap();
    let (start, _) = raw.split_at(raw.len() - 35);
    let early = crate::schedule::Early::new(cipher, Some(secret));
    let binder = early.binder(cipher.hash(start).as_ref()).unwrap();
    let raw = [start, &[0, 33, 32], &binder].concat();
    record(&raw)
}

fn record(raw: &[u8]) -> Vec<u8> {
    let length = u16::try_from(raw.len()).unwrap().to_be_bytes();
    [&[22, 3, 3], &length[..], raw].concat()
}

#[test]
fn a_ticket_key_before_the_last_is_taken_and_no_older_one() {
    let parties = Parties::plain();
    assert!(!parties.meet(NOW));
    parties.keys.rotate([8; 32]);
    assert!(parties.meet(NOW));
    parties.sessions.clear();
    assert!(!parties.meet(NOW));
    parties.keys.rotate([9; 32]);
    parties.keys.rotate([10; 32]);
    assert!(!parties.meet(NOW));
    // Another process with the same key accepts the ticket too.
    let other = Parties {
        keys: TicketKeys::new([10; 32]),
        ..parties.clone()
    };
    assert!(other.meet(NOW));
    let stranger = Parties {
        keys: TicketKeys::new([11; 32]),
        ..parties.clone()
    };
    assert!(!stranger.meet(NOW));
}

#[test]
fn no_tickets_are_given_to_who_cannot_use_them_or_if_none_are_wanted() {
    let parties = Parties {
        keys: TicketKeys::new([7; 32]).of_count(0),
        ..Parties::plain()
    };
    assert!(!parties.meet(NOW));
    assert!(parties.sessions.is_empty());
    let parties = Parties {
        keys: TicketKeys::new([7; 32]).of_count(200),
        ..parties
    };
    assert!(!parties.meet(NOW));
    assert_eq!(parties.sessions.len(), 4);

    // A client that does not send psk_key_exchange_modes.
    let (_, mut server) = parties.ends(NOW);
    let (mut puppet, flight) = Puppet::client(&mut server, Vec::new()).unwrap();
    assert_eq!(flight.len(), 4);
    let finished = puppet.finished();
    puppet.send(&mut server, &finished).unwrap();
    assert!(server.is_open());
    assert!(server.take_outgoing().is_empty());
}

/// The server's result for a changed hello that offers a ticket.
fn answer_to(parties: &Parties, change: impl Fn(&mut ClientHello)) -> Result<(), Error> {
    // After it there is a ticket, whether it resumed or not.
    parties.meet(NOW);
    let (mut client, mut server) = parties.ends(NOW);
    let mut hello = hello_of(&mut client);
    assert!(hello.extensions.pre_shared_keys().is_some());
    change(&mut hello);
    let raw = Message::ClientHello(hello).write(&PAPER).unwrap();
    server.receive(&record(&raw), &ctx(NOW))
}

fn alert(result: Result<(), Error>) -> Alert {
    match result {
        Err(Error::Refused(refusal)) => refusal.alert,
        other => panic!("not refused: {other:?}"),
    }
}

fn offered(hello: &mut ClientHello) -> &mut OfferedPsks {
    match hello.extensions.0.last_mut().unwrap() {
        Extension::PreSharedKeys(offered) => offered,
        other => panic!("no tickets: {other:?}"),
    }
}

#[test]
fn only_who_knows_a_tickets_secret_uses_it() {
    let parties = Parties::plain();
    let answer = |change: &dyn Fn(&mut ClientHello)| answer_to(&parties, change);
    assert_eq!(answer(&|_| {}), Ok(()));
    let changed = answer(&|hello| hello.random[0] ^= 1);
    assert_eq!(alert(changed), Alert::DecryptError);
    let last = answer(&|hello| offered(hello).binders[0][31] ^= 0x80);
    assert_eq!(alert(last), Alert::DecryptError);
    let foreign = answer(&|hello| offered(hello).binders[0] = vec![1; 32]);
    assert_eq!(alert(foreign), Alert::DecryptError);
    let longer = answer(&|hello| offered(hello).binders[0] = vec![0; 48]);
    assert_eq!(alert(longer), Alert::DecryptError);
    // A ticket that cannot be opened is ignored.
    for at in [0, 11, 12, 40, 80] {
        let changed = answer(&|hello| offered(hello).identities[0].ticket[at] ^= 1);
        assert_eq!(changed, Ok(()));
    }
    let cut = answer(&|hello| offered(hello).identities[0].ticket.truncate(20));
    assert_eq!(cut, Ok(()));
}

#[test]
fn what_offers_a_ticket_has_to_be_well_formed() {
    let parties = Parties::plain();
    let answer = |change: &dyn Fn(&mut ClientHello)| answer_to(&parties, change);
    let without = |unwanted: fn(&Extension) -> bool| {
        answer(&|hello| hello.extensions.0.retain(|one| !unwanted(one)))
    };
    let no_modes = without(|one| matches!(one, Extension::PskModes(_)));
    assert_eq!(alert(no_modes), Alert::MissingExtension);
    let no_exchange = answer(&|hello| {
        for extension in &mut hello.extensions.0 {
            if let Extension::PskModes(modes) = extension {
                *modes = vec![0];
            }
        }
    });
    assert_eq!(no_exchange, Ok(()));
    let not_last = answer(&|hello| hello.extensions.0.rotate_right(1));
    assert_eq!(alert(not_last), Alert::IllegalParameter);
    let one_too_many = answer(&|hello| offered(hello).binders.push(vec![0; 32]));
    assert_eq!(alert(one_too_many), Alert::IllegalParameter);
    let short = answer(&|hello| offered(hello).binders[0] = vec![0; 31]);
    assert_eq!(alert(short), Alert::DecodeError);
    let none = answer(&|hello| offered(hello).identities.clear());
    assert_eq!(alert(none), Alert::DecodeError);
    let many = answer(&|hello| {
        let OfferedPsks {
            identities,
            binders,
        } = offered(hello);
        *identities = vec![identities[0].clone(); 17];
        *binders = vec![vec![0; 32]; 17];
    });
    assert_eq!(alert(many), Alert::DecodeError);
    let no_schemes = without(|one| matches!(one, Extension::Schemes(_)));
    assert_eq!(alert(no_schemes), Alert::DecryptError);
}

#[test]
fn a_second_hello_offers_no_ticket_the_first_did_not() {
    let mut parties = Parties::plain();
    assert!(!parties.meet(NOW));
    parties.server.groups = vec![Group::SECP256R1];
    let second = |change: &dyn Fn(&mut ClientHello)| {
        let (mut client, mut server) = parties.ends(NOW);
        server.receive(&client.take_outgoing(), &ctx(NOW)).unwrap();
        client.receive(&server.take_outgoing(), &ctx(NOW)).unwrap();
        let mut hello = hello_of(&mut client);
        change(&mut hello);
        let raw = Message::ClientHello(hello).write(&PAPER).unwrap();
        alert(server.receive(&record(&raw), &ctx(NOW)))
    };
    let other = second(&|hello| offered(hello).identities[0].ticket = vec![1]);
    assert_eq!(other, Alert::IllegalParameter);
    let unbound = second(&|hello| offered(hello).binders[0][0] ^= 1);
    assert_eq!(unbound, Alert::DecryptError);
}

#[test]
fn a_client_takes_no_answer_to_a_ticket_it_did_not_offer() {
    let parties = Parties::plain();
    assert!(!parties.meet(NOW));
    let answered = |change: &dyn Fn(&mut crate::codec::ServerHello)| {
        let mut client = parties.ends(NOW).0;
        let (_, failed) = Puppet::server_with(&mut client, change);
        alert(failed.map_or(Ok(()), Err))
    };
    let second = answered(&|hello| hello.extensions.0.push(Extension::PreSharedKey(1)));
    assert_eq!(second, Alert::IllegalParameter);
    parties.meet(NOW);
    let other_hash = answered(&|hello| {
        hello.suite = Suite::AES_256_GCM_SHA384;
        hello.extensions.0.push(Extension::PreSharedKey(0));
    });
    assert_eq!(other_hash, Alert::IllegalParameter);
    let no_exchange = answered(&|hello| {
        hello.extensions.0[1] = Extension::PreSharedKey(0);
    });
    assert_eq!(no_exchange, Alert::IllegalParameter);
    parties.sessions.clear();
    let unasked = answered(&|hello| hello.extensions.0.push(Extension::PreSharedKey(0)));
    assert_eq!(unasked, Alert::UnsupportedExtension);
}

#[test]
fn a_server_that_takes_a_ticket_it_cannot_open_gets_nowhere() {
    // The server agrees on a key, but does not know the ticket's secret: its records do not decrypt.
    let parties = Parties::plain();
    assert!(!parties.meet(NOW));
    let mut client = parties.ends(NOW).0;
    let (mut puppet, failed) = Puppet::server_with(&mut client, |hello| {
        hello.extensions.0.push(Extension::PreSharedKey(0));
    });
    assert_eq!(failed, None);
    let got = puppet.send(
        &mut client,
        &Message::EncryptedExtensions(Extensions::default()),
    );
    assert_eq!(alert(got), Alert::BadRecordMac);
}

/// A client that offers a ticket and early data, as if from another server; returns the result for the records after
/// its hello.
fn with_early_data(parties: &Parties, records: &[Vec<u8>]) -> (Connection, Result<(), Error>) {
    let (mut client, mut server) = parties.ends(NOW);
    let mut hello = hello_of(&mut client);
    // This server cannot open the ticket.
    offered(&mut hello).identities[0].ticket[0] ^= 1;
    let at = hello.extensions.0.len() - 1;
    hello.extensions.0.insert(at, EARLY_DATA);
    let raw = Message::ClientHello(hello).write(&PAPER).unwrap();
    let bytes = [record(&raw), records.concat()].concat();
    let got = server.receive(&bytes, &ctx(NOW));
    (server, got)
}

const EARLY_DATA: Extension = Extension::Other {
    number: 42,
    body: Vec::new(),
};

/// Early data under a key that the server does not know.
fn early(length: usize) -> Vec<u8> {
    let length_bytes = u16::try_from(length).unwrap().to_be_bytes();
    [&[23, 3, 3], &length_bytes[..], &vec![0x5a; length]].concat()
}

#[test]
fn early_data_is_skipped_up_to_a_limit() {
    for groups in [vec![Group::X25519], vec![Group::SECP256R1]] {
        let mut parties = Parties::plain();
        assert!(!parties.meet(NOW));
        parties.server.groups = groups.clone();
        let records = [early(100), early(8_000), early(0)];
        let (_, got) = with_early_data(&parties, &records);
        assert_eq!(got, Ok(()));
        let (_, got) = with_early_data(&parties, &[early(16_000), early(420)]);
        let over = match groups[0] {
            Group::X25519 => Alert::BadRecordMac,
            _ => Alert::UnexpectedMessage,
        };
        assert_eq!(alert(got), over);
        assert!(parties.sessions.is_empty());
    }
}

#[test]
fn a_handshake_goes_on_after_early_data_and_nothing_is_skipped_later() {
    let parties = Parties::plain();
    let (_, mut server) = parties.ends(NOW);
    let unopened = crate::codec::PskIdentity {
        ticket: vec![1; 40],
        age: 0,
    };
    let offer = OfferedPsks {
        identities: vec![unopened],
        binders: vec![vec![0; 32]],
    };
    let extensions = vec![
        Extension::PskModes(vec![1]),
        EARLY_DATA,
        Extension::PreSharedKeys(offer),
    ];
    let (mut puppet, _) = Puppet::client(&mut server, extensions).unwrap();
    server.receive(&early(500), &ctx(NOW)).unwrap();
    let finished = puppet.finished();
    puppet.send(&mut server, &finished).unwrap();
    assert!(server.is_open());
    assert!(server.take_incoming().is_empty());
    assert_eq!(
        alert(server.receive(&early(500), &ctx(NOW))),
        Alert::BadRecordMac
    );
}

#[test]
fn a_second_hello_has_no_early_data() {
    let mut parties = Parties::plain();
    assert!(!parties.meet(NOW));
    parties.server.groups = vec![Group::SECP256R1];
    let (mut client, mut server) = parties.ends(NOW);
    server.receive(&client.take_outgoing(), &ctx(NOW)).unwrap();
    client.receive(&server.take_outgoing(), &ctx(NOW)).unwrap();
    let mut hello = hello_of(&mut client);
    hello.extensions.0.pop();
    hello.extensions.0.push(EARLY_DATA);
    let raw = Message::ClientHello(hello).write(&PAPER).unwrap();
    let got = server.receive(&record(&raw), &ctx(NOW));
    assert_eq!(alert(got), Alert::IllegalParameter);
}

#[test]
fn the_tickets_a_client_keeps_are_bounded() {
    let small = Parties {
        sessions: Sessions::new(3),
        keys: TicketKeys::new([7; 32]).of_count(4),
        ..Parties::plain()
    };
    assert!(!small.meet(NOW));
    assert_eq!(small.sessions.len(), 3);
    // One server does not displace another's tickets.
    let shared = Sessions::new(100);
    let (mut one, mut other) = (Parties::plain(), Parties::plain());
    one.sessions = shared.clone();
    other.sessions = shared.clone();
    assert!(!other.meet(NOW));
    one.keys = TicketKeys::new([7; 32]).of_count(4);
    assert!(!one.meet(NOW));
    for _ in 0..5 {
        assert!(one.meet(NOW));
    }
    assert_eq!(shared.len(), 10);
    assert!(other.meet(NOW));
    // Expired tickets are removed when the next one is looked up.
    assert!(!one.meet(NOW.plus(86_400)));
    assert_eq!(shared.len(), 4);
}

#[test]
fn a_client_that_would_show_itself_does_not_send_a_certificate_when_it_resumes() {
    let (mut parties, one, other) = Parties::dids();
    parties.server.groups = vec![Group::X25519];
    assert!(!parties.meet(NOW));
    let (mut client, mut server) = parties.ends(NOW);
    server.receive(&client.take_outgoing(), &ctx(NOW)).unwrap();
    let flight = server.take_outgoing();
    let text = |did: &Subject| did.did.as_str().as_bytes().to_vec();
    for name in [text(&one), text(&other)] {
        assert!(!flight.windows(name.len()).any(|part| part == name));
    }
    // ServerHello, change_cipher_spec, and one record of EncryptedExtensions and Finished.
    assert!(flight.len() < 250, "{}", flight.len());
    client.receive(&flight, &ctx(NOW)).unwrap();
    assert!(client.is_open());
}

#[test]
fn a_client_refuses_a_certificate_after_it_resumed() {
    let parties = Parties::plain();
    assert!(!parties.meet(NOW));
    let config = ClientConfig::new(parties.client.clone(), parties.expected.clone()).unwrap();
    for message in [
        Message::Certificate(Default::default()),
        Message::CertificateRequest(crate::codec::CertificateRequest {
            context: Vec::new(),
            extensions: Extensions(vec![Extension::Schemes(vec![crate::Scheme::ED25519])]),
        }),
    ] {
        let session = parties.sessions.take(&config.digest, NOW).unwrap();
        parties.sessions.insert(config.digest, session.clone());
        let mut client = parties.ends(NOW).0;
        let mut puppet = Puppet::resuming_server(&mut client, &session.secret);
        puppet.send_empty_extensions(&mut client).unwrap();
        let got = puppet.send(&mut client, &message);
        assert_eq!(alert(got), Alert::UnexpectedMessage);
    }
}
