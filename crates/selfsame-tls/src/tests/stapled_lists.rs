//! Stapled revocation lists: they suffice, or the policy's lists are fetched, or the peer is refused.

use super::ssi::{client_refused, server_refused};
use crate::codec::{Extension, Extensions};
use crate::evidence::{HandshakeNeed, Source};
use crate::identity::{CertificatePolicy, CrlPolicy, Crls, Identities, PeerPolicy};
use crate::testing::{Authority, Ends, Leaf, NAME, NOW, assert_talk, client, join, server};
use crate::{Alert, ClientAuth, Config, Connection};

const LIST: &str = "http://ca.example/1.crl";
const SERIAL: u64 = 42;
/// Longer than the age of the lists of [`Authority::crl`].
const MONTH: u64 = 30 * 86_400;

fn leaf(authority: &Authority) -> Leaf {
    authority.leaf_with(&rcgen::PKCS_ED25519, |params| {
        params.serial_number = Some(SERIAL.into());
    })
}

/// A configuration that staples these lists.
fn shown(leaf: &Leaf, lists: Vec<Vec<u8>>) -> Config {
    let crls = Crls::default();
    crls.set(lists);
    let own = leaf.identities().certificate.unwrap();
    Config {
        identities: Identities {
            certificate: Some(own.with_crls(crls)),
            ssi: None,
        },
        ..Config::default()
    }
}

fn with_lists(policy: CertificatePolicy, max_age: u64) -> PeerPolicy {
    let lists = CrlPolicy {
        uris: vec![LIST.to_owned()],
        required: true,
        max_age,
    };
    PeerPolicy {
        certificates: Some(policy.with_crls(lists).unwrap()),
        identities: None,
    }
}

fn servers(authority: &Authority, max_age: u64) -> PeerPolicy {
    let policy = CertificatePolicy::for_server(NAME, std::slice::from_ref(&authority.der));
    with_lists(policy.unwrap(), max_age)
}

/// The result for a server that staples these lists.
fn met(authority: &Authority, max_age: u64, lists: Vec<Vec<u8>>) -> (Connection, Connection, Ends) {
    let mut client = client(Config::default(), servers(authority, max_age));
    let mut server = server(shown(&leaf(authority), lists), ClientAuth::None);
    let ends = join(&mut client, &mut server);
    (client, server, ends)
}

#[test]
fn a_certificate_that_brings_its_authoritys_list_needs_no_fetch() {
    let authority = Authority::new();
    let (mut client, mut server, ends) = met(&authority, MONTH, vec![authority.crl(&[7])]);
    assert_eq!(ends, Ends::default());
    assert_talk(&mut client, &mut server);
    let [ground] = client.peer().unwrap().grounds.as_slice() else {
        panic!("one thing was found out")
    };
    let issued = selfsame_crypto::x509::this_update(&authority.crl(&[])).unwrap();
    assert_eq!(
        (ground.rule, ground.source),
        ("revocation", Source::Signature)
    );
    assert_eq!(ground.as_of, issued);
    assert!(issued < NOW);
    // The verdict gives the list's age, and the peer may resume only as long as the list is fresh.
    let peer = client.peer().unwrap();
    assert!(peer.until.unwrap() <= issued.plus(MONTH));
    let age = format!("{} s ago", NOW.seconds_since(issued));
    assert!(
        peer.verdict
            .rules
            .iter()
            .any(|rule| rule.detail.ends_with(&age))
    );
}

#[test]
fn a_certificate_that_its_own_list_names_is_refused_as_revoked_at_either_end() {
    let authority = Authority::new();
    let named = || vec![authority.crl(&[SERIAL])];
    let (client_end, mut server_end, ends) = met(&authority, MONTH, named());
    assert!(!client_end.is_open() && server_end.take_incoming().is_empty());
    assert_eq!(client_refused(ends), Alert::CertificateRevoked);

    for (lists, alert) in [
        (vec![authority.crl(&[])], None),
        (named(), Some(Alert::CertificateRevoked)),
    ] {
        let clients = CertificatePolicy::for_clients(std::slice::from_ref(&authority.der));
        let clients = ClientAuth::Required(with_lists(clients.unwrap(), MONTH));
        let mut client = client(shown(&leaf(&authority), lists), authority.server());
        let own = authority.leaf(&rcgen::PKCS_ED25519).identities();
        let own = Config {
            identities: own,
            ..Config::default()
        };
        let mut server = server(own, clients);
        let ends = join(&mut client, &mut server);
        match alert {
            None => assert_talk(&mut client, &mut server),
            Some(alert) => assert_eq!(server_refused(ends), alert),
        }
    }
}

#[test]
fn without_a_stapled_list_that_is_fresh_and_tells_the_policys_list_is_asked_for() {
    let authority = Authority::new();
    let elsewhere = Authority::new();
    for (max_age, lists) in [
        (MONTH, Vec::new()),
        // The list is some days old.
        (86_400, vec![authority.crl(&[])]),
        (MONTH, vec![elsewhere.crl(&[])]),
    ] {
        let (client, _, ends) = met(&authority, max_age, lists);
        assert_eq!(ends, Ends::default());
        assert!(!client.is_open());
        assert_eq!(client.needs(), [HandshakeNeed::Crl(LIST.to_owned())]);
    }
}

#[test]
fn a_stapled_list_that_is_forged_or_malformed_lets_no_peer_in() {
    let authority = Authority::named("an authority");
    let good = authority.crl(&[]);
    let refused = |list: Vec<u8>| {
        let (client, mut server, ends) = met(&authority, MONTH, vec![list]);
        assert!(!client.is_open() && server.take_incoming().is_empty());
        client_refused(ends)
    };
    assert_eq!(refused(Vec::new()), Alert::BadCertificateStatusResponse);
    assert_eq!(refused(vec![0x30, 0]), Alert::BadCertificateStatusResponse);
    // From an authority with the same name and another key.
    let forged = Authority::named("an authority").crl(&[]);
    assert_eq!(refused(forged), Alert::BadCertificateStatusResponse);
    for at in (0..good.len()).step_by(7) {
        let mut flipped = good.clone();
        flipped[at] ^= 1;
        let (client, ..) = met(&authority, MONTH, vec![flipped]);
        assert!(!client.is_open(), "byte {at}");
    }
}

#[test]
fn a_list_that_was_not_requested_is_refused_and_none_is_sent_to_a_peer_that_does_not_read_it() {
    let authority = Authority::new();
    let own = shown(&leaf(&authority), vec![authority.crl(&[])]);
    let mut plain = client(Config::default(), authority.server());
    let mut polite = server(own.clone(), ClientAuth::None);
    assert_eq!(join(&mut plain, &mut polite), Ends::default());
    assert_talk(&mut plain, &mut polite);

    let mut pushing = own;
    let certificate = pushing.identities.certificate.as_mut().unwrap();
    certificate.chain[0].extensions = Extensions(vec![Extension::Crl(authority.crl(&[]))]);
    let mut plain = client(Config::default(), authority.server());
    let mut server = server(pushing, ClientAuth::None);
    let ends = join(&mut plain, &mut server);
    assert_eq!(client_refused(ends), Alert::UnsupportedExtension);
}

#[test]
fn lists_that_are_too_long_to_be_read_are_not_sent() {
    let authority = Authority::new();
    let serials: Vec<u64> = (1000..3000).collect();
    let long = authority.crl(&serials);
    assert!(long.len() > 32 * 1024);
    let (client, _, ends) = met(&authority, MONTH, vec![long]);
    assert_eq!(ends, Ends::default());
    assert_eq!(client.needs(), [HandshakeNeed::Crl(LIST.to_owned())]);
}
