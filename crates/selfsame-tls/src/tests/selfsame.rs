//! The profile `selfsame`: credentials of each format, claims, membership, staples, and the size of a flight.

use std::collections::BTreeSet;

use selfsame_credential::format::{sd_jwt_vc, w3c};
use selfsame_credential::{Format, Signer, sd_jwt};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::{Algorithm, KeyHandle};
use selfsame_did::{Did, key, selfsame};
use serde_json::{Map, Value, json};

use super::network::Network;
use super::own::assert_no_bit_may_change;
use super::puppet::Puppet;
use super::ssi::{
    Registry, Subject, client_refused, drive, method, only, server_refused, ssi, trusted,
};
use crate::codec::{DidMessage, Message, Mode, SsiParameters, Staple, Vc, VcMessage};
use crate::error::ConfigError;
use crate::evidence::HandshakeNeed;
use crate::identity::{
    CoseStatus, CoseSubject, CoseVc, ExpectedPeer, Identities, IdentityPolicy, MEMBERSHIP, Members,
    PeerKind, PeerPolicy, SsiIdentity, StaplePolicy, TrustedIssuer,
};
use crate::profile::{PAPER, Profile, SELFSAME};
use crate::testing::{Authority, Ends, NOW, assert_talk, client, ctx, join, server};
use crate::{
    Alert, ClientAuth, ClientConfig, Config, Connection, Error, Group, Scheme, Suite, VcFormat,
};

/// A subject with a did:key, which need not be resolved.
fn holder() -> Subject {
    let plain = Subject::new("did:web:placeholder.example");
    Subject {
        did: key::create(&plain.public),
        ..plain
    }
}

fn issuer() -> Subject {
    Subject::new("did:web:issuer.example")
}

/// An issuer that may make claims about hosts and services.
fn trusting(issuer: &Subject) -> TrustedIssuer {
    TrustedIssuer {
        types: vec!["VerifiableCredential".to_owned(), "urn:host".to_owned()],
        claims: vec!["dns".to_owned(), "service".to_owned()],
        status_list: None,
        ..trusted(issuer)
    }
}

fn claims() -> Map<String, Value> {
    let claims = json!({"dns": ["a.example", "b.example"], "service": "meter"});
    claims.as_object().unwrap().clone()
}

fn cose(issuer: &Subject, credential: &CoseVc) -> Vc {
    let draft = credential.draft(&issuer.public).unwrap();
    let signature = issuer.key.sign(Scheme::ED25519, &draft.signing_bytes());
    Vc::compact(draft.finish(&signature.unwrap()))
}

fn compact(subject: &Did) -> CoseVc {
    CoseVc {
        subject: CoseSubject::Did(subject.clone()),
        not_before: Some(NOW.minus(60)),
        expires: NOW.plus(3600),
        types: Vec::new(),
        claims: Map::new(),
        status: None,
    }
}

/// A credential of the holder with the usual claims, in this format.
fn credential(issuer: &Subject, holder: &Subject, format: VcFormat) -> Vc {
    let handle = KeyHandle::of(&issuer.public);
    let signer = Signer::with_kid(handle, Algorithm::EdDsa, method(issuer));
    let sign = |input: &[u8]| issuer.key.sign(Scheme::ED25519, input).unwrap();
    let w3c = |name: Format| {
        let issue = w3c::Issue {
            format: name,
            issuer: issuer.did.to_string(),
            subject: Some(holder.did.to_string()),
            types: Vec::new(),
            contexts: Vec::new(),
            claims: claims(),
            id: None,
            valid_from: NOW.minus(60),
            valid_until: Some(NOW.plus(3600)),
            status: None,
            token_status: None,
            cnf: None,
            further: Map::new(),
            signer: signer.clone(),
        };
        let draft = issue.draft().unwrap();
        let signature = sign(draft.signing_input());
        draft.finish(&signature).into_bytes()
    };
    let bytes = match format {
        VcFormat::VC_JWT => w3c(Format::VcJwt),
        VcFormat::JWT_VC_JSON => w3c(Format::JwtVcJson),
        VcFormat::SD_JWT_VC => {
            let mut all = claims();
            all.insert("iss".to_owned(), json!(issuer.did));
            all.insert("vct".to_owned(), json!("urn:host"));
            all.insert("exp".to_owned(), json!(NOW.0 + 3600));
            let issue = sd_jwt_vc::Issue {
                claims: all,
                disclosable: Vec::new(),
                decoys: 0,
                cnf: Some(holder.public.to_jwk()),
                digest: sd_jwt::DigestAlgorithm::Sha256,
                signer: signer.clone(),
                label: "test".to_owned(),
            };
            let draft = issue.draft(&Ctx::new(NOW, [5; 32])).unwrap();
            let signature = sign(draft.signing_input());
            draft.finish(&signature).into_bytes()
        }
        _ => {
            let claims = claims();
            let credential = CoseVc {
                claims,
                ..compact(&holder.did)
            };
            return cose(issuer, &credential);
        }
    };
    Vc { format, bytes }
}

const FORMATS: [VcFormat; 4] = [
    VcFormat::VC_JWT,
    VcFormat::JWT_VC_JSON,
    VcFormat::SD_JWT_VC,
    VcFormat::COSE,
];

fn showing(subject: &Subject, vc: Vc) -> SsiIdentity {
    SsiIdentity {
        vc: Some(vc),
        ..subject.as_did()
    }
}

fn own(identities: Identities) -> Config {
    Config {
        profile: &SELFSAME,
        identities,
        ..Config::default()
    }
}

fn dns(value: &str) -> ExpectedPeer {
    ExpectedPeer::Claim {
        name: "dns".to_owned(),
        value: value.to_owned(),
    }
}

fn by_claim(issuer: &Subject, value: &str) -> IdentityPolicy {
    IdentityPolicy::of_credentials(&["key"], vec![trusting(issuer)], dns(value))
}

/// The result of a handshake with a server that shows this.
fn shown_to(policy: PeerPolicy, identity: SsiIdentity) -> (Ends, Connection) {
    let mut client = client(own(Identities::default()), policy);
    let mut server = server(own(ssi(identity)), ClientAuth::None);
    let ends = drive(&mut client, &mut server, &Registry::default());
    if ends == Ends::default() {
        assert_talk(&mut client, &mut server);
    }
    (ends, client)
}

#[test]
fn a_server_is_known_by_a_claim_in_a_credential_of_each_format() {
    let (issuer, holder) = (issuer(), holder());
    for format in FORMATS {
        let identity = showing(&holder, credential(&issuer, &holder, format));
        for host in ["a.example", "B.EXAMPLE"] {
            let policy = only(by_claim(&issuer, host));
            let (ends, client) = shown_to(policy, identity.clone());
            assert_eq!(ends, Ends::default(), "{format:?}");
            let peer = client.peer().unwrap();
            let PeerKind::Credential(credential) = &peer.kind else {
                panic!("no credential")
            };
            assert_eq!(credential.subject, holder.did);
            assert_eq!(credential.vc.format, format);
            assert_eq!(Value::Object(credential.claims.clone()), json!(claims()));
            let names = peer.verdict.rules.iter().map(|rule| &*rule.name);
            let names: Vec<_> = names.collect();
            let (credential, rest) = names.split_at(4);
            let expected = [
                "issuer_trusted",
                "issuer_signature",
                "credential_type",
                "validity",
            ];
            assert_eq!(credential, expected);
            assert_eq!(rest, ["expected_peer", "proof"]);
        }
        let (ends, _) = shown_to(only(by_claim(&issuer, "c.example")), identity.clone());
        assert_eq!(client_refused(ends), Alert::AccessDenied);
        let elsewhere = ExpectedPeer::Claim {
            name: "service".to_owned(),
            value: "METER".to_owned(),
        };
        let policy = IdentityPolicy {
            expected: elsewhere,
            ..by_claim(&issuer, "a.example")
        };
        let (ends, _) = shown_to(only(policy), identity);
        assert_eq!(client_refused(ends), Alert::AccessDenied);
    }
}

#[test]
fn an_issuer_is_believed_only_what_it_may_claim() {
    let (trusted_one, other, holder) = (issuer(), Subject::new("did:web:other.example"), holder());
    let may_not = TrustedIssuer {
        claims: vec!["service".to_owned()],
        ..trusting(&other)
    };
    let issuers = vec![trusting(&trusted_one), may_not.clone()];
    let policy = IdentityPolicy::of_credentials(&["key"], issuers, dns("a.example"));
    for format in FORMATS {
        let identity = showing(&holder, credential(&other, &holder, format));
        let (ends, _) = shown_to(only(policy.clone()), identity);
        assert_eq!(client_refused(ends), Alert::AccessDenied);
    }
    // If no issuer may make the claim, no peer could be accepted.
    let impossible = IdentityPolicy::of_credentials(&["key"], vec![may_not], dns("a.example"));
    let refused = ClientConfig::new(own(Identities::default()), only(impossible));
    assert_eq!(refused.err(), Some(ConfigError::Policy));
}

#[test]
fn both_sides_show_credentials_of_different_formats() {
    let (issuer, one, other) = (issuer(), holder(), holder());
    for (mine, theirs) in FORMATS.into_iter().zip(FORMATS.into_iter().rev()) {
        let as_client = showing(&one, credential(&issuer, &one, mine));
        let as_server = showing(&other, credential(&issuer, &other, theirs));
        let mut client = client(own(ssi(as_client)), only(by_claim(&issuer, "a.example")));
        let clients = IdentityPolicy::of_credentials(
            &["key", "web"],
            vec![trusting(&issuer)],
            ExpectedPeer::Vouched,
        );
        let mut server = server(own(ssi(as_server)), ClientAuth::Required(only(clients)));
        assert_eq!(join(&mut client, &mut server), Ends::default());
        assert_talk(&mut client, &mut server);
    }
}

#[test]
fn a_credential_is_only_shown_to_who_reads_its_format() {
    let (issuer, holder) = (issuer(), holder());
    let policy = IdentityPolicy {
        formats: vec![VcFormat::VC_JWT],
        ..by_claim(&issuer, "a.example")
    };
    let identity = showing(&holder, credential(&issuer, &holder, VcFormat::COSE));
    let (ends, _) = shown_to(only(policy.clone()), identity.clone());
    assert_eq!(server_refused(ends), Alert::HandshakeFailure);

    // The server falls back to its certificate.
    let authority = Authority::new();
    let mut identities = authority.leaf(&rcgen::PKCS_ED25519).identities();
    identities.ssi = Some(identity.clone());
    let either = PeerPolicy {
        identities: Some(policy),
        ..authority.server()
    };
    let mut client = client(own(Identities::default()), either);
    let mut server = server(own(identities), ClientAuth::None);
    assert_eq!(join(&mut client, &mut server), Ends::default());
    assert!(matches!(
        client.peer().unwrap().kind,
        PeerKind::Certificate(_)
    ));

    // The other profiles have no field for the format.
    let refused = Config {
        profile: &PAPER,
        ..own(ssi(identity))
    };
    let refused = ClientConfig::new(refused, authority.server());
    assert_eq!(refused.err(), Some(ConfigError::Format));
    let policy = IdentityPolicy {
        formats: vec![VcFormat::COSE],
        ..by_claim(&issuer, "a.example")
    };
    let refused = ClientConfig::new(Config::default(), only(policy));
    assert_eq!(refused.err(), Some(ConfigError::Format));
}

#[test]
fn peers_of_different_profiles_fall_back_to_certificates() {
    let (issuer, holder) = (issuer(), holder());
    let authority = Authority::new();
    for (mine, theirs) in [(&PAPER, &SELFSAME), (&SELFSAME, &PAPER)] {
        let of = |profile: &'static Profile, identities| Config {
            profile,
            identities,
            ..Config::default()
        };
        let mut identities = authority.leaf(&rcgen::PKCS_ED25519).identities();
        identities.ssi = Some(holder.as_holder(&issuer));
        let either = PeerPolicy {
            identities: Some(by_claim(&issuer, "a.example")),
            ..authority.server()
        };
        let mut client = client(of(mine, Identities::default()), either);
        let mut server = server(of(theirs, identities), ClientAuth::None);
        assert_eq!(join(&mut client, &mut server), Ends::default());
        assert!(matches!(
            client.peer().unwrap().kind,
            PeerKind::Certificate(_)
        ));
    }
}

/// A client in the state where it awaits the server's identity in this profile.
fn awaiting(policy: &IdentityPolicy) -> (Connection, Puppet) {
    let mut client = client(own(Identities::default()), only(policy.clone()));
    let mut puppet = Puppet::server(&mut client);
    puppet.speak(&SELFSAME);
    puppet.send_empty_extensions(&mut client).unwrap();
    (client, puppet)
}

fn said(policy: &IdentityPolicy, message: &Message) -> Result<(), Alert> {
    let (mut client, mut puppet) = awaiting(policy);
    let said = puppet.send(&mut client, message);
    said.map_err(|error| match error {
        Error::Refused(refusal) => refusal.alert,
        other => panic!("not refused: {other:?}"),
    })
}

#[test]
fn what_comes_in_our_own_messages_has_to_be_what_was_asked_for() {
    let (issuer, holder) = (issuer(), holder());
    let policy = by_claim(&issuer, "a.example");
    let good = credential(&issuer, &holder, VcFormat::COSE);
    let vc = |vc: &Vc| said(&policy, &Message::Vc(vc.clone().into()));
    assert_eq!(vc(&good), Ok(()));
    let unknown = Vc {
        format: VcFormat(77),
        ..good.clone()
    };
    assert_eq!(vc(&unknown), Err(Alert::UnsupportedCertificate));
    let as_jwt = Vc {
        format: VcFormat::VC_JWT,
        ..good.clone()
    };
    assert_eq!(vc(&as_jwt), Err(Alert::BadCertificate));
    let empty = Vc {
        bytes: Vec::new(),
        ..good.clone()
    };
    assert_eq!(vc(&empty), Err(Alert::BadCertificate));
    let of_web = cose(&issuer, &compact(&Did::parse("did:web:a.example").unwrap()));
    assert_eq!(vc(&of_web), Err(Alert::UnsupportedCertificate));
    let staple = Staple {
        kind: 99,
        body: vec![1, 2, 3],
    };
    let stapled = Message::Vc(VcMessage {
        vc: good,
        staples: vec![staple.clone()],
    });
    assert_eq!(said(&policy, &stapled), Err(Alert::IllegalParameter));

    let of_did = IdentityPolicy::of_dids(&["key"], [holder.did.clone()]);
    let did = DidMessage::new(&holder.did, Vec::new(), &SELFSAME).unwrap();
    let shown = |did: DidMessage| said(&of_did, &Message::Did(did));
    assert_eq!(shown(did.clone()), Ok(()));
    let stapled = DidMessage {
        staples: vec![staple],
        ..did.clone()
    };
    assert_eq!(shown(stapled), Err(Alert::IllegalParameter));
    let as_text = DidMessage {
        did: holder.did.as_str().as_bytes().to_vec(),
        ..did.clone()
    };
    assert_eq!(shown(as_text), Err(Alert::AccessDenied));
    let short = DidMessage {
        did: did.did[..10].to_vec(),
        ..did.clone()
    };
    assert_eq!(shown(short), Err(Alert::AccessDenied));
    let of_other_method = DidMessage {
        method: 227,
        ..did.clone()
    };
    assert_eq!(shown(of_other_method), Err(Alert::IllegalParameter));
    let unknown = DidMessage { method: 7, ..did };
    assert_eq!(shown(unknown), Err(Alert::IllegalParameter));
}

#[test]
fn a_credential_of_another_holder_is_not_proved_by_a_key_of_ones_own() {
    let (issuer, holder, mallory) = (issuer(), holder(), holder());
    for format in FORMATS {
        let stolen = SsiIdentity {
            key: mallory.key.clone(),
            ..showing(&holder, credential(&issuer, &holder, format))
        };
        let (ends, _) = shown_to(only(by_claim(&issuer, "a.example")), stolen);
        assert_eq!(client_refused(ends), Alert::DecryptError, "{format:?}");
        // Signed by mallory under the issuer's name.
        let forger = Subject {
            did: issuer.did.clone(),
            ..mallory.clone()
        };
        let forged = showing(&mallory, credential(&forger, &mallory, format));
        let (ends, _) = shown_to(only(by_claim(&issuer, "a.example")), forged);
        let alert = client_refused(ends);
        // A compact credential identifies its issuer only by the key.
        let expected = match format {
            VcFormat::COSE => Alert::UnknownCa,
            _ => Alert::BadCertificate,
        };
        assert_eq!(alert, expected, "{format:?}");
    }
}

#[test]
fn a_member_of_a_trusted_set_shows_its_place() {
    let (one, other, stranger) = (holder(), holder(), holder());
    let dids: BTreeSet<Did> = [one.did.clone(), other.did.clone()].into();
    let (members, staples) = Members::of(&dids);
    let stapled = |subject: &Subject, staple: Option<&Staple>| SsiIdentity {
        staples: staple.into_iter().cloned().collect(),
        ..subject.as_did()
    };
    let policy = || only(IdentityPolicy::of_members(&["key"], members));
    let alert = |identity| client_refused(shown_to(policy(), identity).0);
    for member in [&one, &other] {
        let (ends, client) = shown_to(policy(), stapled(member, staples.get(&member.did)));
        assert_eq!(ends, Ends::default());
        assert_eq!(
            client.peer().unwrap().kind,
            PeerKind::Did(member.did.clone())
        );
    }
    assert_eq!(alert(stapled(&one, None)), Alert::AccessDenied);
    let of_other = staples.get(&other.did);
    assert_eq!(alert(stapled(&one, of_other)), Alert::AccessDenied);
    assert_eq!(alert(stapled(&stranger, of_other)), Alert::AccessDenied);
    // A client that does not ask for the staple does not get it.
    let plain = only(IdentityPolicy::of_dids(&["key"], [one.did.clone()]));
    let (ends, _) = shown_to(plain, stapled(&one, staples.get(&one.did)));
    assert_eq!(ends, Ends::default());
    // The paper's messages cannot carry it.
    let refused = ClientConfig::new(Config::default(), policy());
    assert_eq!(refused.err(), Some(ConfigError::Policy));
    assert!(staples.values().all(|staple| staple.kind == MEMBERSHIP));
}

#[test]
fn what_is_asked_for_in_our_own_profile_is_well_formed() {
    let parsed = |body: &[u8]| {
        let length = u8::try_from(body.len()).unwrap();
        let head = [230, 0, 0, length + 6, 0, length + 4, 0xff, 0x53, 0, length];
        Message::parse(&[&head[..], body].concat(), &SELFSAME)
            .map(|_| ())
            .map_err(|error| error.alert)
    };
    assert_eq!(parsed(&[2, 1, 224, 1, 4, 0]), Ok(()));
    assert_eq!(parsed(&[1, 1, 224, 0, 1, 64]), Ok(()));
    assert_eq!(parsed(&[0, 0, 0, 0]), Ok(()));
    assert_eq!(parsed(&[2, 1, 224, 0, 0]), Err(Alert::DecodeError));
    assert_eq!(parsed(&[1, 1, 224, 1, 4, 0]), Err(Alert::IllegalParameter));
    assert_eq!(parsed(&[0, 0, 0, 1, 64]), Err(Alert::IllegalParameter));
    assert_eq!(parsed(&[2, 1, 224]), Err(Alert::DecodeError));
    let parameters = SsiParameters {
        mode: Mode::Vc,
        methods: vec![224],
        formats: vec![VcFormat::COSE, VcFormat(200)],
        staples: vec![1, 2],
    };
    assert!(parameters.reads(VcFormat::COSE, &SELFSAME));
    assert!(!parameters.reads(VcFormat::COSE, &PAPER));
}

#[test]
fn what_a_profile_cannot_carry_is_not_written() {
    let vc = Vc {
        format: VcFormat::COSE,
        bytes: vec![1],
    };
    let other_format = Message::Vc(vc.into());
    assert!(other_format.write(&SELFSAME).is_ok());
    assert!(other_format.write(&PAPER).is_err());
    let staples = vec![Staple {
        kind: 1,
        body: Vec::new(),
    }];
    let vc = Vc::paper(vec![1]);
    let stapled = Message::Vc(VcMessage { vc, staples });
    assert!(stapled.write(&SELFSAME).is_ok());
    assert!(stapled.write(&PAPER).is_err());
}

/// The size of a server's flight in bytes: all it sends in answer to the first hello, with an Ed25519 key, without the
/// compatibility mode for middleboxes.
fn flight(identity: SsiIdentity, policy: IdentityPolicy) -> usize {
    let without_disguise = |identities| Config {
        middleboxes: false,
        suites: vec![Suite::AES_128_GCM_SHA256],
        groups: vec![Group::X25519],
        ..own(identities)
    };
    let mut client = client(without_disguise(Identities::default()), only(policy));
    let mut server = server(without_disguise(ssi(identity)), ClientAuth::None);
    server.receive(&client.take_outgoing(), &ctx()).unwrap();
    let flight = server.take_outgoing();
    client.receive(&flight, &ctx()).unwrap();
    // It may only wait for a status list.
    let waits = matches!(client.needs(), [HandshakeNeed::StatusList(_)]);
    assert!(client.is_open() || waits, "the flight is whole");
    flight.len()
}

/// The size of a record's header, then with the overhead of protection.
const RECORD: usize = 5;
const PROTECTED: usize = RECORD + 1 + 16;
const HEADER: usize = 4;
/// Version, random, empty session id, suite, compression; then supported_versions and a share of X25519.
const SERVER_HELLO: usize = HEADER + 2 + 32 + 1 + 2 + 1 + 2 + 6 + (4 + 2 + 2 + 32);
const ENCRYPTED_EXTENSIONS: usize = HEADER + 2;
const DID_VERIFY: usize = HEADER + 2 + 2 + 64;
const FINISHED: usize = HEADER + 32;
const REST: usize =
    RECORD + SERVER_HELLO + PROTECTED + ENCRYPTED_EXTENSIONS + DID_VERIFY + FINISHED;

#[test]
fn a_flight_with_a_did_is_as_small_as_its_parts() {
    let holder = holder();
    let policy = IdentityPolicy::of_dids(&["key"], [holder.did.clone()]);
    // The method's code, the codec of the key, the key, no staples.
    let message = HEADER + 1 + 2 + (2 + 32) + 2;
    let bytes = flight(holder.as_did(), policy);
    assert_eq!(bytes, REST + message);
    assert_eq!(bytes, 274);
}

#[test]
fn a_flight_with_a_credential_is_as_small_as_its_parts() {
    let (issuer, holder) = (issuer(), holder());
    let credential = CoseVc {
        status: Some(CoseStatus::Index(1_000_000)),
        ..compact(&holder.did)
    };
    let trusted = TrustedIssuer {
        status_list: Some("https://issuer.example/status/1".to_owned()),
        ..trusting(&issuer)
    };
    let expected = ExpectedPeer::Dids([holder.did.clone()].into());
    let policy = IdentityPolicy::of_credentials(&["key"], vec![trusted], expected);
    let protected = 1 + (1 + 2 + 2 + 8);
    let claims = 1 + (1 + 2 + 1 + 34) + (1 + 5) + (1 + 5) + (5 + 5);
    let vc = 1 + protected + 1 + (2 + claims) + (2 + 64);
    // The format's byte, the credential, no staples.
    let message = HEADER + 1 + 2 + vc + 2;
    let identity = showing(&holder, cose(&issuer, &credential));
    let bytes = flight(identity, policy);
    assert_eq!(bytes, REST + message);
    assert_eq!(bytes, 385);
}

#[test]
fn a_did_of_the_registry_takes_even_less() {
    let plain = holder();
    let network = selfsame::Network::of_genesis(b"a network");
    let did = selfsame::create(&network, &plain.public);
    let message = DidMessage::new(&did, Vec::new(), &SELFSAME).unwrap();
    let bytes = Message::Did(message).write(&SELFSAME).unwrap();
    assert_eq!(bytes.len(), HEADER + 1 + 2 + (10 + 16) + 2);
}

#[test]
fn only_a_client_that_wants_it_is_disguised_for_middleboxes() {
    let holder = holder();
    for middleboxes in [false, true] {
        let of = |identities| Config {
            middleboxes,
            ..own(identities)
        };
        let policy = only(IdentityPolicy::of_dids(&["key"], [holder.did.clone()]));
        let mut client = client(of(Identities::default()), policy);
        let mut server = server(of(ssi(holder.as_did())), ClientAuth::None);
        let hello = client.take_outgoing();
        server.receive(&hello, &ctx()).unwrap();
        let answer = server.take_outgoing();
        // The session id's length comes after both headers, version and random.
        assert_eq!(hello[5 + 4 + 2 + 32], if middleboxes { 32 } else { 0 });
        let after_hello = 5 + usize::from(u16::from_be_bytes([answer[3], answer[4]]));
        assert_eq!(answer[after_hello] == 20, middleboxes);
        client.receive(&answer, &ctx()).unwrap();
        let finish = client.take_outgoing();
        assert_eq!(finish[0] == 20, middleboxes);
        server.receive(&finish, &ctx()).unwrap();
        assert_talk(&mut client, &mut server);
    }
}

#[test]
fn every_changed_bit_of_a_handshake_by_credentials_ends_it() {
    let (issuer, host, guest) = (issuer(), holder(), holder());
    let shown = |who: &Subject| Config {
        profile: &SELFSAME,
        identities: ssi(SsiIdentity {
            vc: Some(cose(&issuer, &compact(&who.did))),
            ..who.as_did()
        }),
        groups: vec![Group::X25519],
        ..Config::default()
    };
    let expected = |who: &Subject| {
        let expected = ExpectedPeer::Dids([who.did.clone()].into());
        let issuers = vec![trusting(&issuer)];
        only(IdentityPolicy::of_credentials(&["key"], issuers, expected))
    };
    let start = || {
        let asked = ClientAuth::Required(expected(&guest));
        (
            client(shown(&guest), expected(&host)),
            server(shown(&host), asked),
        )
    };
    assert_no_bit_may_change(start, 0..3, 1);
}

#[test]
fn a_credential_that_names_a_stranger_is_refused_before_anything_is_looked_up() {
    let (issuer, holder) = (issuer(), holder());
    let stranger = Subject::new("did:web:stranger.example");
    let mut unknown = trusting(&issuer);
    unknown.keys.clear();
    let policy = IdentityPolicy::of_credentials(&["key"], vec![unknown], dns("a.example"));
    for format in [VcFormat::VC_JWT, VcFormat::SD_JWT_VC] {
        let identity = showing(&holder, credential(&stranger, &holder, format));
        let (ends, _) = shown_to(only(policy.clone()), identity);
        assert_eq!(client_refused(ends), Alert::UnknownCa);
        // For the issuer's own credential, its keys are looked up, in vain here.
        let identity = showing(&holder, credential(&issuer, &holder, format));
        let (ends, _) = shown_to(only(policy.clone()), identity);
        assert_eq!(client_refused(ends), Alert::CertificateUnknown);
    }
}

/// The alert with which a client refuses a server that shows this credential and these staples, where staples of the
/// network are accepted.
fn stapled_to(network: &Network, trusted: TrustedIssuer, identity: SsiIdentity) -> Alert {
    let expected = ExpectedPeer::Dids([identity.did.clone()].into());
    let policy = IdentityPolicy::of_credentials(&["key"], vec![trusted], expected);
    let policy = policy.with_staples(StaplePolicy::new(network.ledger()));
    client_refused(shown_to(only(policy), identity).0)
}

#[test]
fn what_is_stapled_is_judged_once_the_issuer_is_found_to_have_signed_the_credential() {
    let (issuer, holder) = (issuer(), holder());
    let mut network = Network::new();
    let citizen = network.citizen();
    let mut staples = network.staples(&citizen.subject.did);
    // It cannot be parsed as a staple.
    staples[0].body.pop();
    let genuine = cose(&issuer, &compact(&holder.did));
    let mut forged = genuine.clone();
    *forged.bytes.last_mut().unwrap() ^= 1;
    for (vc, alert) in [
        (genuine, Alert::BadCertificateStatusResponse),
        (forged, Alert::BadCertificate),
    ] {
        let identity = SsiIdentity {
            staples: staples.clone().into(),
            ..showing(&holder, vc)
        };
        assert_eq!(stapled_to(&network, trusting(&issuer), identity), alert);
    }
}

#[test]
fn of_who_may_have_no_credential_one_checkpoint_is_judged_and_no_more() {
    let (issuer, holder) = (issuer(), holder());
    let mut network = Network::new();
    let citizen = network.citizen();
    network.rest_until(NOW.minus(60));
    let one = network.staples(&citizen.subject.did);
    let vc = cose(&issuer, &compact(&holder.did));
    // The staples do not contain the issuer's keys, so they are looked up, in vain.
    for (count, alert) in [
        (1, Alert::BadCertificateStatusResponse),
        (2, Alert::CertificateUnknown),
    ] {
        let forged = |staple: &Staple| {
            let mut staple = staple.clone();
            *staple.body.last_mut().unwrap() ^= 1;
            staple
        };
        let staples: Vec<_> = one.iter().cycle().take(count).map(forged).collect();
        let identity = SsiIdentity {
            staples: staples.into(),
            ..showing(&holder, vc.clone())
        };
        let mut unknown = trusting(&issuer);
        unknown.keys.clear();
        assert_eq!(stapled_to(&network, unknown, identity), alert);
    }
}
