//! With rustls at the other end, in memory, in both directions.

use std::io::{Read, Write};
use std::sync::Arc;

use ::rustls as peer;
use peer::crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs};
use peer::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use peer::{RootCertStore, SupportedCipherSuite};

use super::resumption::Known;
use super::ssi::{METHODS, Subject};
use crate::identity::{Identities, IdentityPolicy, PeerKind, PeerPolicy};
use crate::resumption::{EarlyData, Sessions, StrikeRegister, TicketKeys};
use crate::testing::{Authority, Leaf, NAME, NOW, client, ctx, server};
use crate::{
    Alert, ClientAuth, ClientConfig, Config, Connection, Error, Group, ServerConfig, Suite,
};

const SUITES: [(Suite, SupportedCipherSuite); 3] = [
    (
        Suite::AES_128_GCM_SHA256,
        aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256,
    ),
    (
        Suite::AES_256_GCM_SHA384,
        aws_lc_rs::cipher_suite::TLS13_AES_256_GCM_SHA384,
    ),
    (
        Suite::CHACHA20_POLY1305_SHA256,
        aws_lc_rs::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
    ),
];

const GROUPS: [(Group, &dyn SupportedKxGroup); 4] = [
    (Group::X25519, aws_lc_rs::kx_group::X25519),
    (Group::SECP256R1, aws_lc_rs::kx_group::SECP256R1),
    (Group::X25519_MLKEM768, aws_lc_rs::kx_group::X25519MLKEM768),
    (Group::SECP384R1, aws_lc_rs::kx_group::SECP384R1),
];

fn provider(
    suites: &[SupportedCipherSuite],
    groups: &[&'static dyn SupportedKxGroup],
) -> Arc<CryptoProvider> {
    Arc::new(CryptoProvider {
        cipher_suites: suites.to_vec(),
        kx_groups: groups.to_vec(),
        ..aws_lc_rs::default_provider()
    })
}

fn all() -> Arc<CryptoProvider> {
    provider(
        &SUITES.map(|(_, suite)| suite),
        &GROUPS.map(|(_, group)| group),
    )
}

fn roots(authority: &Authority) -> Arc<RootCertStore> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from(authority.der.clone()))
        .unwrap();
    Arc::new(roots)
}

fn identity(leaf: &Leaf) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    let chain = leaf.chain.iter().cloned().map(CertificateDer::from);
    let key = PrivatePkcs8KeyDer::from(leaf.key.clone());
    (chain.collect(), PrivateKeyDer::from(key))
}

fn their_server(
    leaf: &Leaf,
    provider: Arc<CryptoProvider>,
    clients: Option<&Authority>,
) -> peer::ServerConfig {
    let builder = peer::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&peer::version::TLS13])
        .unwrap();
    let (chain, key) = identity(leaf);
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let verifier = peer::server::WebPkiClientVerifier::builder_with_provider(
                roots(authority),
                provider,
            );
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    builder.with_single_cert(chain, key).unwrap()
}

fn their_client(
    authority: &Authority,
    provider: Arc<CryptoProvider>,
    leaf: Option<&Leaf>,
) -> peer::ClientConfig {
    let builder = peer::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&peer::version::TLS13])
        .unwrap()
        .with_root_certificates(roots(authority));
    match leaf {
        None => builder.with_no_client_auth(),
        Some(leaf) => {
            let (chain, key) = identity(leaf);
            builder.with_client_auth_cert(chain, key).unwrap()
        }
    }
}

fn start_server(config: peer::ServerConfig) -> peer::Connection {
    peer::ServerConnection::new(Arc::new(config))
        .unwrap()
        .into()
}

fn start_client(config: peer::ClientConfig) -> peer::Connection {
    let name = ServerName::try_from(NAME).unwrap();
    let client = peer::ClientConnection::new(Arc::new(config), name);
    client.unwrap().into()
}

/// Carries bytes both ways until neither end has any.
fn join(
    ours: &mut Connection,
    theirs: &mut peer::Connection,
) -> (Option<Error>, Option<peer::Error>) {
    let (mut our_error, mut their_error) = (None, None);
    loop {
        let up = ours.take_outgoing();
        let mut down = Vec::new();
        while theirs.wants_write() {
            theirs.write_tls(&mut down).unwrap();
        }
        if up.is_empty() && down.is_empty() {
            return (our_error, their_error);
        }
        let mut rest = up.as_slice();
        while !rest.is_empty() && their_error.is_none() {
            theirs.read_tls(&mut rest).unwrap();
            their_error = theirs.process_new_packets().err();
        }
        our_error = our_error.or(ours.receive(&down, &ctx()).err());
    }
}

fn assert_talk(ours: &mut Connection, theirs: &mut peer::Connection) {
    assert_eq!(join(ours, theirs), (None, None));
    assert!(ours.is_open() && !theirs.is_handshaking());
    let data: Vec<u8> = (0..40_000_u32).flat_map(u32::to_be_bytes).collect();
    ours.send(&data).unwrap();
    let mut got = Vec::new();
    let mut pending = ours.take_outgoing();
    while !pending.is_empty() {
        let mut part = pending.as_slice();
        let taken = theirs.read_tls(&mut part).unwrap();
        pending.drain(..taken);
        theirs.process_new_packets().unwrap();
        let _ = theirs.reader().read_to_end(&mut got);
    }
    assert_eq!(got, data);
    theirs.writer().write_all(b"from them").unwrap();
    assert_eq!(join(ours, theirs), (None, None));
    assert_eq!(ours.take_incoming(), b"from them");

    let (mut mine, mut other) = ([0; 48], [0; 48]);
    ours.export("EXPORTER test", b"context", &mut mine).unwrap();
    theirs
        .export_keying_material(&mut other, b"EXPORTER test", Some(b"context"))
        .unwrap();
    assert_eq!(mine, other);
}

#[test]
fn our_client_speaks_every_suite_and_group_with_their_server() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    for (suite, their_suite) in SUITES {
        for (group, their_group) in GROUPS {
            let common = Config {
                suites: vec![suite],
                groups: vec![group],
                ..Config::default()
            };
            let mut ours = client(common, authority.server());
            let provider = provider(&[their_suite], &[their_group]);
            let mut theirs = start_server(their_server(&leaf, provider, None));
            assert_talk(&mut ours, &mut theirs);
            assert_eq!(ours.parameters(), Some((suite, group)));
        }
    }
}

#[test]
fn our_server_speaks_every_suite_and_group_with_their_client() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ECDSA_P256_SHA256);
    for (suite, their_suite) in SUITES {
        for (group, their_group) in GROUPS {
            let common = Config {
                identities: leaf.identities(),
                ..Config::default()
            };
            let mut ours = server(common, ClientAuth::None);
            let provider = provider(&[their_suite], &[their_group]);
            let mut theirs = start_client(their_client(&authority, provider, None));
            assert_talk(&mut ours, &mut theirs);
            assert_eq!(ours.parameters(), Some((suite, group)));
        }
    }
}

#[test]
fn a_hello_is_sent_again_for_another_group_in_both_directions() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ECDSA_P384_SHA384);
    let p256 = provider(&[SUITES[1].1], &[GROUPS[1].1]);
    let mut ours = client(Config::default(), authority.server());
    let mut theirs = start_server(their_server(&leaf, p256, None));
    assert_talk(&mut ours, &mut theirs);
    assert_eq!(ours.parameters(), Some((SUITES[1].0, Group::SECP256R1)));
    assert_eq!(
        theirs.handshake_kind(),
        Some(peer::HandshakeKind::FullWithHelloRetryRequest)
    );

    let common = Config {
        identities: leaf.identities(),
        groups: vec![Group::SECP256R1],
        ..Config::default()
    };
    let mut ours = server(common, ClientAuth::None);
    let mut theirs = start_client(their_client(&authority, all(), None));
    assert_talk(&mut ours, &mut theirs);
    assert_eq!(
        theirs.handshake_kind(),
        Some(peer::HandshakeKind::FullWithHelloRetryRequest)
    );
}

#[test]
fn the_hybrid_group_is_agreed_where_both_have_it_and_needs_no_second_hello_where_not() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let common = Config {
        identities: leaf.identities(),
        ..Config::default()
    };
    let [within, _, hybrid, _] = GROUPS;
    for (group, theirs) in [
        (hybrid.0, &[hybrid.1, within.1][..]),
        (within.0, &[within.1]),
    ] {
        let provider = provider(&[SUITES[0].1], theirs);
        let mut ours = client(Config::default(), authority.server());
        let mut theirs = start_server(their_server(&leaf, Arc::clone(&provider), None));
        assert_talk(&mut ours, &mut theirs);
        assert_eq!(ours.parameters().unwrap().1, group);
        assert_eq!(theirs.handshake_kind(), Some(peer::HandshakeKind::Full));

        let mut ours = server(common.clone(), ClientAuth::None);
        let mut theirs = start_client(their_client(&authority, provider, None));
        assert_talk(&mut ours, &mut theirs);
        assert_eq!(ours.parameters().unwrap().1, group);
        assert_eq!(theirs.handshake_kind(), Some(peer::HandshakeKind::Full));
    }
}

#[test]
fn clients_prove_who_they_are_by_every_kind_of_key() {
    let authority = Authority::new();
    for algorithm in [
        &rcgen::PKCS_ED25519,
        &rcgen::PKCS_ECDSA_P256_SHA256,
        &rcgen::PKCS_ECDSA_P384_SHA384,
        &rcgen::PKCS_RSA_SHA256,
    ] {
        let leaf = authority.leaf(algorithm);
        let common = Config {
            identities: leaf.identities(),
            ..Config::default()
        };
        let mut ours = client(common.clone(), authority.server());
        let mut theirs = start_server(their_server(&leaf, all(), Some(&authority)));
        assert_talk(&mut ours, &mut theirs);
        assert_eq!(
            theirs.peer_certificates().unwrap()[0].as_ref(),
            leaf.chain[0]
        );

        let mut ours = server(common, ClientAuth::Required(authority.clients()));
        let mut theirs = start_client(their_client(&authority, all(), Some(&leaf)));
        assert_talk(&mut ours, &mut theirs);
        let peer = ours.peer().unwrap();
        assert_eq!(peer.kind, PeerKind::Certificate(leaf.chain.clone()));
    }
}

#[test]
fn a_client_without_a_certificate_is_refused_or_anonymous() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let common = Config {
        identities: leaf.identities(),
        ..Config::default()
    };
    let mut ours = server(common.clone(), ClientAuth::Required(authority.clients()));
    let mut theirs = start_client(their_client(&authority, all(), None));
    let (our_error, their_error) = join(&mut ours, &mut theirs);
    assert!(
        matches!(our_error, Some(Error::Refused(refusal)) if refusal.alert == Alert::CertificateRequired)
    );
    let said = peer::AlertDescription::CertificateRequired;
    assert_eq!(their_error, Some(peer::Error::AlertReceived(said)));

    let mut ours = server(common, ClientAuth::Optional(authority.clients()));
    let mut theirs = start_client(their_client(&authority, all(), None));
    assert_talk(&mut ours, &mut theirs);
    assert_eq!(ours.peer().unwrap().kind, PeerKind::Anonymous);
}

#[test]
fn dids_fall_back_to_certificates_with_them_in_both_directions() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let own = Subject::new("did:web:own.example");
    let either = |policy: PeerPolicy| PeerPolicy {
        identities: Some(IdentityPolicy::of_dids(METHODS, [own.did.clone()])),
        ..policy
    };
    let both = Config {
        identities: Identities {
            ssi: Some(own.as_did()),
            ..leaf.identities()
        },
        ..Config::default()
    };
    let mut ours = client(both.clone(), either(authority.server()));
    let mut theirs = start_server(their_server(&leaf, all(), Some(&authority)));
    assert_talk(&mut ours, &mut theirs);
    let certified = PeerKind::Certificate(leaf.chain.clone());
    assert_eq!(ours.peer().unwrap().kind, certified);
    let shown = theirs.peer_certificates().unwrap();
    assert_eq!(shown[0].as_ref(), leaf.chain[0]);

    let required = PeerPolicy {
        certificates: None,
        ..either(authority.server())
    };
    let mut ours = client(both.clone(), required);
    let mut theirs = start_server(their_server(&leaf, all(), None));
    let (refused, _) = join(&mut ours, &mut theirs);
    assert!(
        matches!(refused, Some(Error::Refused(refusal)) if refusal.alert == Alert::InsufficientSecurity)
    );

    let mut ours = server(both, ClientAuth::Required(either(authority.clients())));
    let mut theirs = start_client(their_client(&authority, all(), Some(&leaf)));
    assert_talk(&mut ours, &mut theirs);
    assert_eq!(ours.peer().unwrap().kind, certified);
}

#[test]
fn keys_are_updated_by_either_side_and_both_ends_close() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let common = Config {
        protocols: vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        ..Config::default()
    };
    let mut ours = client(common, authority.server());
    let mut config = their_server(&leaf, all(), None);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let mut theirs = start_server(config);
    assert_talk(&mut ours, &mut theirs);
    assert_eq!(ours.protocol(), Some(&b"http/1.1"[..]));
    for _ in 0..3 {
        ours.update_keys(true).unwrap();
        assert_talk(&mut ours, &mut theirs);
        theirs.refresh_traffic_keys().unwrap();
        assert_talk(&mut ours, &mut theirs);
    }
    theirs.send_close_notify();
    assert_eq!(join(&mut ours, &mut theirs), (None, None));
    assert!(ours.has_peer_closed());
    ours.send(b"last words").unwrap();
    ours.close().unwrap();
    assert_eq!(join(&mut ours, &mut theirs), (None, None));
    let mut got = Vec::new();
    theirs.reader().read_to_end(&mut got).unwrap();
    assert_eq!(got, b"last words");
    assert_eq!(ours.receive_end(), Ok(()));
}

#[test]
fn no_common_protocol_ends_the_handshake() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let common = Config {
        identities: leaf.identities(),
        protocols: vec![b"h2".to_vec()],
        ..Config::default()
    };
    let mut ours = server(common, ClientAuth::None);
    let mut config = their_client(&authority, all(), None);
    config.alpn_protocols = vec![b"other".to_vec()];
    let mut theirs = start_client(config);
    let (our_error, _) = join(&mut ours, &mut theirs);
    assert!(
        matches!(our_error, Some(Error::Refused(refusal)) if refusal.alert == Alert::NoApplicationProtocol)
    );
}

#[test]
fn a_server_of_tls_1_2_is_refused() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ECDSA_P256_SHA256);
    let (chain, key) = identity(&leaf);
    let theirs = peer::ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_protocol_versions(&[&peer::version::TLS12])
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let mut ours = client(Config::default(), authority.server());
    let (our_error, _) = join(&mut ours, &mut start_server(theirs));
    assert_eq!(our_error, Some(Error::Alerted(Alert::ProtocolVersion)));
}

/// Our client with a ticket store.
fn client_with(authority: &Authority, sessions: &Sessions) -> Connection {
    let config = ClientConfig::new(Config::default(), authority.server()).unwrap();
    let config = config.with_sessions(sessions.clone());
    Connection::client(&Arc::new(config), &ctx()).unwrap()
}

#[test]
fn tickets_of_their_server_are_taken_up_with_and_without_a_second_hello() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    for (suite, their_suite) in SUITES {
        for groups in [&GROUPS[..1], &GROUPS[1..2]] {
            let provider = provider(&[their_suite], &[groups[0].1]);
            let theirs = Arc::new(their_server(&leaf, provider, None));
            let sessions = Sessions::new(8);
            for round in 0..3 {
                let mut ours = client_with(&authority, &sessions);
                let server = peer::ServerConnection::new(Arc::clone(&theirs));
                let mut server = server.unwrap().into();
                assert_talk(&mut ours, &mut server);
                assert_eq!(ours.parameters().unwrap().0, suite);
                let resumed = server.handshake_kind() == Some(peer::HandshakeKind::Resumed)
                    || groups[0].0 != Group::X25519 && ours.peer().unwrap().resumed.is_some();
                assert_eq!(resumed, round > 0, "{suite:?}, round {round}");
                assert_eq!(ours.peer().unwrap().resumed.is_some(), round > 0);
            }
        }
    }
}

#[test]
fn their_client_takes_up_tickets_of_our_server() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    for (_, their_suite) in SUITES {
        let common = Config {
            identities: leaf.identities(),
            ..Config::default()
        };
        let clients = ClientAuth::Required(authority.clients());
        let config = ServerConfig::new(common, clients).unwrap();
        let config = Arc::new(config.with_tickets(TicketKeys::new([1; 32])));
        let provider = provider(&[their_suite], &[GROUPS[0].1]);
        let theirs = Arc::new(their_client(&authority, provider, Some(&leaf)));
        for round in 0..3 {
            let mut ours = Connection::server(&config, &ctx());
            let name = ServerName::try_from(NAME).unwrap();
            let client = peer::ClientConnection::new(Arc::clone(&theirs), name);
            let mut client = client.unwrap().into();
            assert_talk(&mut ours, &mut client);
            let resumed = client.handshake_kind() == Some(peer::HandshakeKind::Resumed);
            assert_eq!(resumed, round > 0);
            let us = ours.peer().unwrap();
            assert_eq!(us.resumed.is_some(), round > 0);
            assert_eq!(us.kind, PeerKind::Certificate(leaf.chain.clone()));
        }
    }
}

#[test]
fn their_server_takes_our_early_data() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    for (_, their_suite) in SUITES {
        let mut theirs = their_server(&leaf, provider(&[their_suite], &[GROUPS[0].1]), None);
        theirs.max_early_data_size = 1000;
        let theirs = Arc::new(theirs);
        let common = Config {
            revalidate: Some(Arc::new(Known::default())),
            ..Config::default()
        };
        let config = ClientConfig::new(common, authority.server()).unwrap();
        let config = config.with_sessions(Sessions::new(8)).with_early_data();
        let config = Arc::new(config);
        for is_early in [false, true, true] {
            let mut ours = Connection::client(&config, &ctx()).unwrap();
            let sent = ours.send_early(&[7; 1001]).unwrap();
            assert_eq!(sent, if is_early { 1000 } else { 0 });
            let server = peer::ServerConnection::new(Arc::clone(&theirs));
            let mut server = server.unwrap().into();
            assert_eq!(join(&mut ours, &mut server), (None, None));
            let mut early = Vec::new();
            if let peer::Connection::Server(server) = &mut server
                && let Some(mut data) = server.early_data()
            {
                data.read_to_end(&mut early).unwrap();
            }
            assert_eq!(early, vec![7; sent]);
            assert_eq!(ours.is_early_data_taken(), is_early);
            assert_talk(&mut ours, &mut server);
        }
    }
}

#[test]
fn our_server_takes_their_early_data_once() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    for (_, their_suite) in SUITES {
        let common = Config {
            identities: leaf.identities(),
            ..Config::default()
        };
        let strikes = Arc::new(StrikeRegister::new(2, NOW.minus(1000)));
        let config = ServerConfig::new(common, ClientAuth::None).unwrap();
        let config = config.with_tickets(TicketKeys::new([1; 32]));
        let config = Arc::new(config.with_early_data(EarlyData::new(strikes)));
        let provider = provider(&[their_suite], &[GROUPS[0].1]);
        let mut theirs = their_client(&authority, provider, None);
        theirs.enable_early_data = true;
        let theirs = Arc::new(theirs);
        // The strike register has room for two hellos.
        for (offers, takes) in [(false, false), (true, true), (true, true), (true, false)] {
            let mut ours = Connection::server(&config, &ctx());
            let name = ServerName::try_from(NAME).unwrap();
            let mut client = peer::ClientConnection::new(Arc::clone(&theirs), name).unwrap();
            let early = client.early_data();
            assert_eq!(early.is_some(), offers);
            if let Some(mut early) = early {
                assert_eq!(early.write(&[7; 500]).unwrap(), 500);
            }
            let mut client = client.into();
            assert_eq!(join(&mut ours, &mut client), (None, None));
            let expected = if takes { vec![7; 500] } else { Vec::new() };
            assert_eq!(ours.take_early_data(), expected);
            let is_accepted = match &client {
                peer::Connection::Client(client) => client.is_early_data_accepted(),
                peer::Connection::Server(_) => false,
            };
            assert_eq!(is_accepted, takes);
            assert_talk(&mut ours, &mut client);
        }
    }
}

#[test]
fn padded_records_are_read_by_them() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    for (suite, _) in SUITES {
        let common = |padding| Config {
            identities: leaf.identities(),
            suites: vec![suite],
            padding,
            ..Config::default()
        };
        let mut ours = client(common(1000), authority.server());
        assert_talk(
            &mut ours,
            &mut start_server(their_server(&leaf, all(), None)),
        );
        let mut ours = server(common(u16::MAX), ClientAuth::None);
        assert_talk(
            &mut ours,
            &mut start_client(their_client(&authority, all(), None)),
        );
    }
}
