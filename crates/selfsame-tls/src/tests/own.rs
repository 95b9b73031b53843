//! Between our own ends, without DIDs: which handshakes are refused, and that the size of pieces makes no difference.

use rcgen::date_time_ymd;

use crate::identity::CertificatePolicy;
use crate::testing::{Authority, Ends, Leaf, NAME, assert_talk, client, ctx, join, server};
use crate::{
    Alert, ClientAuth, ClientConfig, Config, ConfigError, Connection, Error, Group, SigningKey,
    Suite,
};

fn of(leaf: &Leaf) -> Config {
    Config {
        identities: leaf.identities(),
        ..Config::default()
    }
}

fn pair(authority: &Authority, leaf: &Leaf) -> (Connection, Connection) {
    let client = client(Config::default(), authority.server());
    (client, server(of(leaf), ClientAuth::None))
}

/// The alert that one end sent and the other received.
fn alert(ends: Ends) -> Alert {
    match (ends.client, ends.server) {
        (Some(Error::Refused(refusal)), Some(Error::Alerted(got)))
        | (Some(Error::Alerted(got)), Some(Error::Refused(refusal))) => {
            assert_eq!(got, refusal.alert);
            got
        }
        other => panic!("not one refusal: {other:?}"),
    }
}

#[test]
fn a_handshake_goes_through_in_pieces_of_one_byte() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let (mut client, mut server) = pair(&authority, &leaf);
    while !(client.is_open() && server.is_open()) {
        for byte in client.take_outgoing() {
            server.receive(&[byte], &ctx()).unwrap();
        }
        for byte in server.take_outgoing() {
            client.receive(&[byte], &ctx()).unwrap();
        }
    }
    assert_talk(&mut client, &mut server);
}

#[test]
fn what_is_wrong_with_a_certificate_decides_the_alert() {
    let (authority, other) = (Authority::new(), Authority::new());
    let check = |leaf: Leaf| {
        let (mut client, mut server) = pair(&authority, &leaf);
        let ends = join(&mut client, &mut server);
        assert!(!client.is_open() && !server.is_open());
        alert(ends)
    };
    let ed25519 = &rcgen::PKCS_ED25519;
    assert_eq!(check(other.leaf(ed25519)), Alert::UnknownCa);
    let expired = authority.leaf_with(ed25519, |params| {
        params.not_after = date_time_ymd(2020, 1, 1);
    });
    assert_eq!(check(expired), Alert::CertificateExpired);
    let early = authority.leaf_with(ed25519, |params| {
        params.not_before = date_time_ymd(2040, 1, 1);
    });
    assert_eq!(check(early), Alert::CertificateExpired);
    let misnamed = authority.leaf_with(ed25519, |params| {
        params.subject_alt_names =
            vec![rcgen::SanType::DnsName("other.example".try_into().unwrap())];
    });
    assert_eq!(check(misnamed), Alert::BadCertificate);
    let for_clients = authority.leaf_with(ed25519, |params| {
        params.extended_key_usages = vec![rcgen::ExtendedKeyUsagePurpose::ClientAuth];
    });
    assert_eq!(check(for_clients), Alert::BadCertificate);
}

#[test]
fn nothing_in_common_is_a_handshake_failure() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let suites = |suite| Config {
        suites: vec![suite],
        ..of(&leaf)
    };
    let mut one = client(suites(Suite::AES_128_GCM_SHA256), authority.server());
    let mut other = server(suites(Suite::AES_256_GCM_SHA384), ClientAuth::None);
    assert_eq!(alert(join(&mut one, &mut other)), Alert::HandshakeFailure);
    let groups = |group| Config {
        groups: vec![group],
        ..of(&leaf)
    };
    let mut one = client(groups(Group::X25519), authority.server());
    let mut other = server(groups(Group::SECP256R1), ClientAuth::None);
    assert_eq!(alert(join(&mut one, &mut other)), Alert::HandshakeFailure);
}

#[test]
fn a_client_certificate_of_another_authority_is_refused() {
    let (authority, other) = (Authority::new(), Authority::new());
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let mut client = client(of(&other.leaf(&rcgen::PKCS_ED25519)), authority.server());
    let mut server = server(of(&leaf), ClientAuth::Optional(authority.clients()));
    let ends = join(&mut client, &mut server);
    assert_eq!(alert(ends), Alert::UnknownCa);
    assert!(!server.is_open());
}

#[test]
fn a_stream_that_ends_without_close_notify_was_cut_off() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let (mut client, mut server) = pair(&authority, &leaf);
    assert_eq!(join(&mut client, &mut server), Ends::default());
    server.send(b"half a").unwrap();
    let _ = join(&mut client, &mut server);
    assert_eq!(client.receive_end(), Err(Error::Truncated));
    assert_eq!(client.send(b"more"), Err(Error::Truncated));
    assert_eq!(client.take_incoming(), b"half a");

    server.close().unwrap();
    assert!(matches!(server.send(b"more"), Err(Error::Misused(_))));
}

#[test]
fn nothing_is_sent_or_exported_before_the_handshake_is_done() {
    let authority = Authority::new();
    let (mut client, _) = pair(&authority, &authority.leaf(&rcgen::PKCS_ED25519));
    assert!(matches!(client.send(b"early"), Err(Error::Misused(_))));
    assert!(matches!(client.update_keys(true), Err(Error::Misused(_))));
    assert!(client.export("EXPORTER test", b"", &mut [0; 8]).is_err());
    assert!(client.peer().is_none());
}

#[test]
fn a_flood_of_key_updates_ends_the_connection() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let (mut client, mut server) = pair(&authority, &leaf);
    assert_eq!(join(&mut client, &mut server), Ends::default());
    for _ in 0..33 {
        client.update_keys(false).unwrap();
    }
    let ends = join(&mut client, &mut server);
    assert_eq!(alert(ends), Alert::UnexpectedMessage);
}

#[test]
fn a_peer_that_only_listens_may_renew_its_keys_as_often_as_it_is_sent_to() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let (mut client, mut server) = pair(&authority, &leaf);
    assert_eq!(join(&mut client, &mut server), Ends::default());
    for _ in 0..100 {
        server.send(b"news").unwrap();
        client.update_keys(false).unwrap();
        assert_eq!(join(&mut client, &mut server), Ends::default());
        assert_eq!(client.take_incoming(), b"news");
    }
}

#[test]
fn requests_for_new_keys_are_answered_once_while_nothing_is_sent() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let (mut client, mut server) = pair(&authority, &leaf);
    assert_eq!(join(&mut client, &mut server), Ends::default());
    let answers = |client: &mut Connection, server: &mut Connection| {
        let mut sent = 0;
        for _ in 0..3 {
            client.update_keys(true).unwrap();
            server.receive(&client.take_outgoing(), &ctx()).unwrap();
            let answer = server.take_outgoing();
            sent += usize::from(!answer.is_empty());
            client.receive(&answer, &ctx()).unwrap();
        }
        sent
    };
    assert_eq!(answers(&mut client, &mut server), 1);
    assert_talk(&mut client, &mut server);
    assert_eq!(answers(&mut client, &mut server), 1);
    assert_talk(&mut client, &mut server);
}

#[test]
fn settings_that_cannot_work_are_refused_at_once() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let no_suite = Config {
        suites: Vec::new(),
        ..Config::default()
    };
    let refused = |common, policy| ClientConfig::new(common, policy).map(|_| ()).unwrap_err();
    assert_eq!(refused(no_suite, authority.server()), ConfigError::Nothing);
    assert_eq!(
        refused(Config::default(), Default::default()),
        ConfigError::Policy
    );
    // A client that does not say which server it expects.
    assert_eq!(
        refused(Config::default(), authority.clients()),
        ConfigError::Policy
    );
    let no_anchor = CertificatePolicy::for_server(NAME, &[]);
    assert_eq!(no_anchor.map(|_| ()).unwrap_err(), ConfigError::Policy);
    let other = authority.leaf(&rcgen::PKCS_ED25519);
    let key = SigningKey::from_pkcs8(&other.key).unwrap();
    let mismatch = crate::identity::CertificateIdentity::new(&leaf.chain, key);
    assert_eq!(mismatch.map(|_| ()).unwrap_err(), ConfigError::KeyMismatch);
    assert!(SigningKey::from_pkcs8(b"no key").is_err());
}

/// The bits of a byte to flip: all of them where it may be unprotected, one where the whole record is protected.
fn bits(which: usize, at: usize) -> std::ops::Range<usize> {
    match which == 0 || at < PLAIN {
        true => 0..8,
        false => {
            let bit = (at * 5 + which) % 8;
            bit..bit + 1
        }
    }
}

/// The maximum length of a ServerHello here.
const PLAIN: usize = 130;

/// Flips bits in these flights of handshakes begun by `start`, in every `step`th byte, and asserts that none completes.
pub(super) fn assert_no_bit_may_change(
    start: impl Fn() -> (Connection, Connection),
    flights: std::ops::Range<usize>,
    step: usize,
) {
    for which in flights {
        assert_eq!(flipped(start(), 9, (0, 0)), Some(true));
        let mut seen = 0;
        for at in (0..1200).step_by(step) {
            for bit in bits(which, at) {
                let Some(is_open) = flipped(start(), which, (at, bit)) else {
                    continue;
                };
                assert!(!is_open, "flight {which}, byte {at}, bit {bit}");
                seen += 1;
            }
        }
        assert!(seen > 80 / step, "flight {which}: {seen}");
    }
}

/// Carries a handshake's flights one after another, starting with the client's hello; flips a bit of flight `which`.
/// Returns whether both ends opened; `None` if the flight has no such byte or the byte is ignored.
fn flipped(
    (mut client, mut server): (Connection, Connection),
    which: usize,
    (at, bit): (usize, usize),
) -> Option<bool> {
    for flight in 0..6 {
        let is_up = flight % 2 == 0;
        let (from, to) = match is_up {
            true => (&mut client, &mut server),
            false => (&mut server, &mut client),
        };
        let mut bytes = from.take_outgoing();
        if flight == which {
            *bytes.get_mut(at)? ^= 1 << bit;
            if is_version(at, &bytes) {
                return None;
            }
        }
        if !bytes.is_empty() {
            let _ = to.receive(&bytes, &ctx());
        }
    }
    Some(client.is_open() && server.is_open())
}

#[test]
fn every_changed_bit_of_every_flight_ends_the_handshake() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let start = |groups: &[Group]| {
        let asked = ClientAuth::Required(authority.clients());
        let common = Config {
            groups: groups.to_vec(),
            ..of(&leaf)
        };
        let short = Config {
            groups: vec![Group::X25519, Group::SECP256R1],
            ..of(&leaf)
        };
        (client(short, authority.server()), server(common, asked))
    };
    let (once, again) = ([Group::X25519], [Group::SECP256R1]);
    // The hello, the server's flight, the client's flight; then also with a second hello in between.
    for (groups, flights, step) in [(&once, 0..3, 1), (&again, 0..5, 4)] {
        assert_no_bit_may_change(|| start(groups), flights, step);
    }
}

/// Whether the byte is in a record's version, which is ignored.
fn is_version(at: usize, records: &[u8]) -> bool {
    let mut start = 0;
    while start + 5 <= records.len() {
        if (start + 1..start + 3).contains(&at) {
            return true;
        }
        start += 5 + usize::from(u16::from_be_bytes([records[start + 3], records[start + 4]]));
    }
    false
}

/// The reason why a client that trusts `authority` refuses this chain.
fn reason(authority: &Authority, leaf: &Leaf) -> &'static str {
    let (mut client, mut server) = pair(authority, leaf);
    match join(&mut client, &mut server).client {
        Some(Error::Refused(refusal)) => refusal.reason,
        other => panic!("not refused: {other:?}"),
    }
}

#[test]
fn a_refused_certificate_is_told_apart_by_what_is_wrong_with_it() {
    let (authority, other) = (Authority::new(), Authority::new());
    let made = |change: &dyn Fn(&mut rcgen::CertificateParams)| {
        authority.leaf_with(&rcgen::PKCS_ED25519, |params| change(params))
    };
    let stranger = other.leaf(&rcgen::PKCS_ED25519);
    let elsewhere = rcgen::SanType::DnsName("other.example".try_into().unwrap());
    let for_clients = rcgen::ExtendedKeyUsagePurpose::ClientAuth;
    let encipher = rcgen::KeyUsagePurpose::KeyEncipherment;
    let leaves = [
        (stranger, "leads to no trust anchor"),
        (
            made(&|params| params.not_after = date_time_ymd(2020, 1, 1)),
            "has expired",
        ),
        (
            made(&|params| params.not_before = date_time_ymd(2040, 1, 1)),
            "not valid yet",
        ),
        (
            made(&|params| params.subject_alt_names = vec![elsewhere.clone()]),
            "not for the expected name",
        ),
        (
            made(&|params| params.extended_key_usages = vec![for_clients.clone()]),
            "extended key usage",
        ),
        (
            made(&|params| params.key_usages = vec![encipher]),
            "must not sign handshakes",
        ),
        (
            made(&|params| {
                params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
            }),
            "an authority's",
        ),
    ];
    for (leaf, told) in leaves {
        let reason = reason(&authority, &leaf);
        assert!(reason.contains(told), "{told}: {reason}");
    }
}

#[test]
fn a_client_with_nothing_in_common_is_refused_before_any_key_is_agreed() {
    let authority = Authority::new();
    let leaf = authority.leaf(&rcgen::PKCS_ED25519);
    let speaks = |name: &[u8], config: Config| Config {
        protocols: vec![name.to_vec()],
        ..config
    };
    let mut client = client(speaks(b"h2", Config::default()), authority.server());
    let mut server = server(speaks(b"mqtt", of(&leaf)), ClientAuth::None);
    let refused = server.receive(&client.take_outgoing(), &ctx()).unwrap_err();
    let Error::Refused(refusal) = refused else {
        panic!("not refused: {refused}");
    };
    assert_eq!(refusal.alert, Alert::NoApplicationProtocol);
    // One unencrypted alert and nothing else.
    let told = server.take_outgoing();
    assert_eq!(told, [21, 3, 3, 0, 2, 2, 120]);
    let heard = client.receive(&told, &ctx()).unwrap_err();
    assert_eq!(heard, Error::Alerted(Alert::NoApplicationProtocol));
}
