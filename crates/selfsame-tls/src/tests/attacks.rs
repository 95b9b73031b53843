//! Attacks by a peer or a man in the middle: each is refused with its alert, and no data gets through.

use selfsame_did::{DocumentMetadata, Relationship, Representation, Resolution};

use super::puppet::{Puppet, plain};
use super::ssi::{
    DAY, METHODS, Registry, Subject, client_refused, drive, fetched, method, only, server_refused,
    ssi, trust_did, trust_vc, trusted, vc,
};
use crate::codec::{
    CertificateRequest, CertificateVerify, DidMessage, Extension, Extensions, Message, Mode,
    SsiParameters, Vc,
};
use crate::identity::{ExpectedPeer, IdentityPolicy, PaperContent, PaperVc, PeerPolicy, Side};
use crate::profile::PAPER;
use crate::testing::{Authority, Ends, NOW, client, ctx, server};
use crate::{Alert, ClientAuth, Config, Connection, Error, Limits, Scheme, SigningKey, Slots};

fn people() -> (Subject, Subject, Subject) {
    (
        Subject::new("did:web:issuer.example"),
        Subject::new("did:web:server.example"),
        Subject::new("did:web:mallory.example"),
    )
}

/// The alert with which we refused.
fn refused(result: Result<(), Error>) -> Alert {
    match result {
        Err(Error::Refused(refusal)) => refusal.alert,
        other => panic!("not refused: {other:?}"),
    }
}

fn of(identities: crate::identity::Identities) -> Config {
    Config {
        identities,
        ..Config::default()
    }
}

pub(super) fn did_message(did: &str) -> Message {
    Message::Did(DidMessage {
        method: 226,
        did: did.as_bytes().to_vec(),
        staples: Vec::new(),
    })
}

/// A client that trusts one DID, in the state where it awaits the server's identity.
fn awaiting_did(subject: &Subject) -> (Connection, Puppet) {
    let mut client = client(Config::default(), only(trust_did(subject)));
    let mut puppet = Puppet::server(&mut client);
    puppet.send_empty_extensions(&mut client).unwrap();
    (client, puppet)
}

/// A client that expects a credential, in the state where it awaits the server's identity.
fn awaiting_vc(policy: IdentityPolicy) -> (Connection, Puppet) {
    let mut client = client(Config::default(), only(policy));
    let mut puppet = Puppet::server(&mut client);
    puppet.send_empty_extensions(&mut client).unwrap();
    (client, puppet)
}

/// Changes the client's hello on its way to the server.
fn intercepted(change: impl FnOnce(&mut Vec<Extension>)) -> Ends {
    let authority = Authority::new();
    let (_, subject, _) = people();
    let policy = PeerPolicy {
        identities: Some(trust_did(&subject)),
        ..authority.server()
    };
    let mut identities = authority.leaf(&rcgen::PKCS_ED25519).identities();
    identities.ssi = Some(subject.as_did());
    let mut client = client(Config::default(), policy);
    let mut server = server(of(identities), ClientAuth::None);
    let (hello, _) = plain(&client.take_outgoing()).pop().unwrap();
    let Message::ClientHello(mut hello) = hello else {
        panic!("not a hello")
    };
    change(&mut hello.extensions.0);
    let raw = Message::ClientHello(hello).write(&PAPER).unwrap();
    let length = u16::try_from(raw.len()).unwrap().to_be_bytes();
    let record = [&[22, 3, 1], &length[..], &raw].concat();
    server.receive(&record, &ctx()).unwrap();
    let ends = drive(&mut client, &mut server, &Registry::of(&[&subject]));
    assert!(!client.is_open() && !server.is_open());
    ends
}

#[test]
fn a_changed_wish_for_an_identity_breaks_the_transcript() {
    let parameters = |extension: &mut Extension, change: fn(&mut SsiParameters)| {
        if let Extension::Ssi(parameters) = extension {
            change(parameters);
        }
    };
    let strip = |all: &mut Vec<Extension>| all.retain(|one| !matches!(one, Extension::Ssi(_)));
    // A man in the middle has no handshake keys, so the client sees only an invalid proof.
    let broken = |ends: Ends| {
        assert!(
            matches!(
                ends.client,
                Some(Error::Refused(refusal))
                    if [Alert::BadRecordMac, Alert::DecryptError].contains(&refusal.alert)
            ),
            "{ends:?}"
        )
    };
    broken(intercepted(strip));
    broken(intercepted(|all| {
        all.iter_mut()
            .for_each(|one| parameters(one, |ssi| ssi.mode = Mode::Vc))
    }));
    broken(intercepted(|all| {
        all.iter_mut()
            .for_each(|one| parameters(one, |ssi| ssi.methods.reverse()))
    }));
    broken(intercepted(|all| {
        all.iter_mut()
            .for_each(|one| parameters(one, |ssi| ssi.methods.truncate(1)))
    }));
}

#[test]
fn a_server_that_shows_another_kind_of_identity_is_refused() {
    let (issuer, subject, _) = people();
    let credential = Message::Vc(Vc::paper(vc(&issuer, &subject.did, DAY)).into());
    let (mut client_of_did, mut puppet) = awaiting_did(&subject);
    let got = puppet.send(&mut client_of_did, &credential);
    assert_eq!(refused(got), Alert::UnexpectedMessage);
    let (mut client_of_vc, mut puppet) = awaiting_vc(trust_vc(&subject, &issuer));
    let got = puppet.send(&mut client_of_vc, &did_message(subject.did.as_str()));
    assert_eq!(refused(got), Alert::UnexpectedMessage);

    for identities in [Default::default(), ssi(subject.as_did())] {
        let mut nobody = client(of(identities), Authority::new().server());
        let mut puppet = Puppet::server(&mut nobody);
        puppet.send_empty_extensions(&mut nobody).unwrap();
        let got = puppet.send(&mut nobody, &credential);
        assert_eq!(refused(got), Alert::UnexpectedMessage);
    }
}

#[test]
fn an_ssi_request_has_to_be_what_the_client_can_answer() {
    let (_, subject, _) = people();
    let request = |mode, methods: &[u8]| {
        Message::SsiRequest(Extensions(vec![
            Extension::Ssi(SsiParameters {
                mode,
                methods: methods.to_vec(),
                ..SsiParameters::default()
            }),
            Extension::Schemes(vec![Scheme::ED25519]),
        ]))
    };
    let asked = |message: &Message| {
        let (mut client, mut puppet) = awaiting_did(&subject);
        puppet.send(&mut client, message)
    };
    let good = request(Mode::Did, &[226]);
    assert_eq!(asked(&good), Ok(()));
    assert_eq!(
        refused(asked(&request(Mode::Vc, &[226]))),
        Alert::IllegalParameter
    );
    assert_eq!(
        refused(asked(&request(Mode::Did, &[226, 1]))),
        Alert::IllegalParameter
    );
    let without = |keep: fn(&Extension) -> bool| {
        let Message::SsiRequest(mut extensions) = good.clone() else {
            panic!("not a request")
        };
        extensions.0.retain(keep);
        Message::SsiRequest(extensions)
    };
    let no_schemes = without(|one| matches!(one, Extension::Ssi(_)));
    assert_eq!(refused(asked(&no_schemes)), Alert::MissingExtension);
    let no_parameters = without(|one| matches!(one, Extension::Schemes(_)));
    assert_eq!(refused(asked(&no_parameters)), Alert::MissingExtension);

    let also = Message::CertificateRequest(CertificateRequest {
        context: Vec::new(),
        extensions: Extensions(vec![Extension::Schemes(vec![Scheme::ED25519])]),
    });
    for (first, second) in [
        (&good, &good),
        (&good, &also),
        (&also, &good),
        (&also, &also),
    ] {
        let (mut client, mut puppet) = awaiting_did(&subject);
        puppet.send(&mut client, first).unwrap();
        assert_eq!(
            refused(puppet.send(&mut client, second)),
            Alert::UnexpectedMessage
        );
    }

    let mut plain = client(Config::default(), Authority::new().server());
    let mut puppet = Puppet::server(&mut plain);
    puppet.send_empty_extensions(&mut plain).unwrap();
    assert_eq!(
        refused(puppet.send(&mut plain, &good)),
        Alert::UnexpectedMessage
    );
}

#[test]
fn ssi_parameters_elsewhere_are_refused() {
    let (_, subject, _) = people();
    let parameters = Extension::Ssi(SsiParameters {
        mode: Mode::Did,
        methods: vec![226],
        ..SsiParameters::default()
    });
    let elsewhere = Extensions(vec![parameters.clone()]);
    let mut one = client(Config::default(), only(trust_did(&subject)));
    let (_, failed) = Puppet::server_with(&mut one, |hello| hello.extensions.0.push(parameters));
    assert_eq!(
        refused(failed.map_or(Ok(()), Err)),
        Alert::UnsupportedExtension
    );
    let mut one = client(Config::default(), only(trust_did(&subject)));
    let mut puppet = Puppet::server(&mut one);
    let got = puppet.send(&mut one, &Message::EncryptedExtensions(elsewhere.clone()));
    assert_eq!(refused(got), Alert::UnsupportedExtension);
    let (mut one, mut puppet) = awaiting_did(&subject);
    let request = CertificateRequest {
        context: Vec::new(),
        extensions: elsewhere,
    };
    let got = puppet.send(&mut one, &Message::CertificateRequest(request));
    assert_eq!(refused(got), Alert::UnsupportedExtension);
}

#[test]
fn a_did_has_to_be_one_of_its_method_that_is_expected() {
    let (_, subject, mallory) = people();
    let shown = |message: Message| {
        let (mut client, mut puppet) = awaiting_did(&subject);
        puppet.send(&mut client, &message)
    };
    let bytes = |did: &[u8]| {
        Message::Did(DidMessage {
            method: 226,
            did: did.to_vec(),
            staples: Vec::new(),
        })
    };
    assert_eq!(refused(shown(bytes(b""))), Alert::IllegalParameter);
    assert_eq!(refused(shown(bytes(b"did:web:"))), Alert::IllegalParameter);
    assert_eq!(
        refused(shown(bytes(&[0xff, 0xfe]))),
        Alert::IllegalParameter
    );
    assert_eq!(
        refused(shown(bytes(&[b'a'; 65_000]))),
        Alert::IllegalParameter
    );
    assert_eq!(
        refused(shown(did_message("did:cheqd:mainnet:1"))),
        Alert::UnsupportedCertificate
    );
    assert_eq!(
        refused(shown(did_message(mallory.did.as_str()))),
        Alert::AccessDenied
    );
    let other_code = Message::Did(DidMessage {
        method: 224,
        did: subject.did.as_str().as_bytes().to_vec(),
        staples: Vec::new(),
    });
    assert_eq!(refused(shown(other_code)), Alert::IllegalParameter);
}

/// Sends the server's DID, this proof and a valid Finished; returns the client's alert once it has resolved the DID.
fn proved(
    subject: &Subject,
    registry: &Registry,
    make: impl FnOnce(&Puppet) -> CertificateVerify,
) -> Alert {
    let (mut client, mut puppet) = awaiting_did(subject);
    puppet
        .send(&mut client, &did_message(subject.did.as_str()))
        .unwrap();
    let proof = make(&puppet);
    let outcome = puppet
        .send(&mut client, &Message::DidVerify(proof))
        .and_then(|()| {
            let finished = puppet.finished();
            puppet.send(&mut client, &finished)?;
            assert!(!client.is_open(), "open before its evidence");
            assert_eq!(client.needs().len(), 1);
            client.provide(&registry.evidence(client.needs()), &ctx())
        });
    assert!(!client.is_open());
    refused(outcome)
}

#[test]
fn only_the_dids_own_key_over_this_very_handshake_proves_it() {
    let (_, subject, mallory) = people();
    let registry = Registry::of(&[&subject, &mallory]);
    let proved = |make: fn(&Puppet, &Subject, &Subject) -> CertificateVerify| {
        proved(&subject, &registry, |puppet| {
            make(puppet, &subject, &mallory)
        })
    };
    let wrong_key = proved(|puppet, _, mallory| puppet.proof(&mallory.key, Mode::Did));
    assert_eq!(wrong_key, Alert::DecryptError);
    let as_client = proved(|puppet, own, _| puppet.proof_as(&own.key, (Mode::Did, Side::Client)));
    assert_eq!(as_client, Alert::DecryptError);
    let as_certificate = proved(|puppet, own, _| puppet.proof(&own.key, Mode::Certificate));
    assert_eq!(as_certificate, Alert::DecryptError);
    let replayed = proved(|_, own, _| {
        let (_, other) = awaiting_did(own);
        other.proof(&own.key, Mode::Did)
    });
    assert_eq!(replayed, Alert::DecryptError);
    let relabelled = proved(|puppet, own, _| CertificateVerify {
        scheme: Scheme::ECDSA_P256_SHA256,
        ..puppet.proof(&own.key, Mode::Did)
    });
    assert_eq!(relabelled, Alert::DecryptError);
    let sha1 = proved(|puppet, own, _| CertificateVerify {
        scheme: Scheme(0x0201),
        ..puppet.proof(&own.key, Mode::Did)
    });
    assert_eq!(sha1, Alert::IllegalParameter);
}

#[test]
fn what_was_resolved_has_to_be_fresh_of_this_did_and_for_authentication() {
    let (_, subject, mallory) = people();
    let with = |resolution| {
        let registry = Registry(vec![(subject.did.clone(), resolution)]);
        proved(&subject, &registry, |puppet| {
            puppet.proof(&subject.key, Mode::Did)
        })
    };
    let found = |document| fetched(Resolution::found(document, Representation::default()));
    assert_eq!(with(fetched(mallory.resolution())), Alert::BadCertificate);
    let deactivated = Resolution::deactivated(DocumentMetadata::default());
    assert_eq!(with(fetched(deactivated)), Alert::CertificateRevoked);
    let assertion_only = subject.document_for(Relationship::AssertionMethod);
    assert_eq!(with(found(assertion_only)), Alert::DecryptError);
    let rotated = Subject {
        key: subject.key.clone(),
        ..Subject::new(subject.did.as_str())
    };
    assert_eq!(with(fetched(rotated.resolution())), Alert::DecryptError);
    let mut stale = fetched(subject.resolution());
    stale.as_of = NOW.minus(301);
    assert_eq!(with(stale), Alert::CertificateUnknown);
    let nothing = proved(&subject, &Registry::default(), |puppet| {
        puppet.proof(&subject.key, Mode::Did)
    });
    assert_eq!(nothing, Alert::CertificateUnknown);
}

/// The client's result for a credential.
fn shown(policy: &IdentityPolicy, vc: &[u8]) -> Result<(), Error> {
    let (mut client, mut puppet) = awaiting_vc(policy.clone());
    puppet.send(&mut client, &Message::Vc(Vc::paper(vc.to_vec()).into()))
}

#[test]
fn a_credential_has_to_be_of_a_trusted_issuer_about_the_expected_peer_and_in_time() {
    let (issuer, subject, mallory) = people();
    let policy = trust_vc(&subject, &issuer);
    let good = vc(&issuer, &subject.did, DAY);
    assert_eq!(shown(&policy, &good), Ok(()));
    let alert = |vc: &[u8]| refused(shown(&policy, vc));
    assert_eq!(alert(&vc(&issuer, &mallory.did, DAY)), Alert::AccessDenied);
    assert_eq!(alert(&vc(&mallory, &subject.did, DAY)), Alert::UnknownCa);
    assert_eq!(alert(&vc(&subject, &subject.did, DAY)), Alert::UnknownCa);
    let past = (NOW.minus(7200), NOW.minus(3600));
    assert_eq!(
        alert(&vc(&issuer, &subject.did, past)),
        Alert::CertificateExpired
    );
    let future = (NOW.plus(3600), NOW.plus(7200));
    assert_eq!(
        alert(&vc(&issuer, &subject.did, future)),
        Alert::CertificateExpired
    );

    let signed = |issuer_name: &str, key: &SigningKey, method: &str| {
        let content = PaperContent {
            id: "urn:1",
            issuer: issuer_name,
            subject: subject.did.as_str(),
            issued: DAY.0,
            expires: DAY.1,
        };
        PaperVc::new(content).sign(key, method).unwrap()
    };
    let (name, id) = (issuer.did.as_str(), method(&issuer));
    assert_eq!(
        alert(&signed(name, &mallory.key, &id)),
        Alert::BadCertificate
    );
    assert_eq!(
        alert(&signed(name, &mallory.key, &method(&mallory))),
        Alert::UnknownCa
    );
    assert_eq!(
        alert(&signed(mallory.did.as_str(), &issuer.key, &id)),
        Alert::UnknownCa
    );
    let of_cheqd = selfsame_did::Did::parse("did:cheqd:mainnet:1").unwrap();
    assert_eq!(
        alert(&vc(&issuer, &of_cheqd, DAY)),
        Alert::UnsupportedCertificate
    );

    // A trusted issuer cannot sign for another.
    let expected = ExpectedPeer::Dids([subject.did.clone()].into());
    let both = IdentityPolicy::of_credentials(
        METHODS,
        vec![trusted(&issuer), trusted(&mallory)],
        expected,
    );
    let crossed = signed(name, &mallory.key, &method(&mallory));
    assert_eq!(refused(shown(&both, &crossed)), Alert::UnknownCa);
}

#[test]
fn a_credential_has_one_form_and_a_size() {
    let (issuer, subject, _) = people();
    let policy = trust_vc(&subject, &issuer);
    let good = String::from_utf8(vc(&issuer, &subject.did, DAY)).unwrap();
    let alert = |text: &str| refused(shown(&policy, text.as_bytes()));
    for changed in [
        String::new(),
        "{}".to_owned(),
        good.replace('\t', " "),
        format!("{good}\n"),
        good.replace("\"id\":\t\"https", "\"id\": \"https"),
        good.replacen("{\n", "{\n\t\"id\":\t\"urn:2\",\n", 1),
        good.replacen("{\n", "{\n\t\"more\":\t1,\n", 1),
        good.replace("credentials/1", "credentials/2"),
        good.replace("Ed25519VerificationKey2023", "RsaVerificationKey2023"),
        good.replace("Ed25519VerificationKey2023", "none"),
        "[".repeat(10_000),
        format!("{{\"id\":\t1{}}}", "0".repeat(5000)),
    ] {
        assert_ne!(changed, good);
        assert_eq!(alert(&changed), Alert::BadCertificate, "{changed:.80}");
    }
    for at in 0..good.len() {
        assert_eq!(alert(&good[..at]), Alert::BadCertificate);
    }
    let small = IdentityPolicy {
        max_vc: good.len() - 1,
        ..policy.clone()
    };
    assert_eq!(
        refused(shown(&small, good.as_bytes())),
        Alert::BadCertificate
    );
}

#[test]
fn a_credential_of_another_does_not_help_who_has_not_its_key() {
    let (issuer, subject, mallory) = people();
    let thief = Subject {
        key: mallory.key.clone(),
        ..subject.clone()
    };
    let registry = Registry::of(&[&subject, &mallory]);
    let policy = only(trust_vc(&subject, &issuer));
    let mut one = client(Config::default(), policy.clone());
    let mut other = server(of(ssi(thief.as_holder(&issuer))), ClientAuth::None);
    let ends = drive(&mut one, &mut other, &registry);
    assert_eq!(client_refused(ends), Alert::DecryptError);

    let own = of(ssi(thief.as_holder(&issuer)));
    let mut one = client(own, policy.clone());
    let mut other = server(
        of(ssi(subject.as_holder(&issuer))),
        ClientAuth::Required(policy),
    );
    let ends = drive(&mut one, &mut other, &registry);
    assert_eq!(server_refused(ends), Alert::DecryptError);
    assert!(!other.is_open());
    assert!(other.take_incoming().is_empty());
}

#[test]
fn a_handshake_waits_for_evidence_with_limits_of_time_places_and_data() {
    let (_, subject, _) = people();
    let slots = Slots::new(1);
    let limits = Limits {
        suspended: slots.clone(),
        waiting: 1000,
        ..Limits::default()
    };
    let start = || {
        let config = Config {
            limits: limits.clone(),
            ..Config::default()
        };
        let mut one = client(config, only(trust_did(&subject)));
        let mut puppet = Puppet::server(&mut one);
        puppet.send_empty_extensions(&mut one).unwrap();
        (one, puppet)
    };
    let wait = |one: &mut Connection, puppet: &mut Puppet| {
        puppet.send(one, &did_message(subject.did.as_str()))?;
        let proof = puppet.proof(&subject.key, Mode::Did);
        puppet.send(one, &Message::DidVerify(proof))?;
        let finished = puppet.finished();
        puppet.send(one, &finished)
    };
    let (mut first, mut puppet) = start();
    wait(&mut first, &mut puppet).unwrap();
    assert_eq!(slots.taken(), 1);
    let (mut second, mut other) = start();
    assert_eq!(refused(wait(&mut second, &mut other)), Alert::InternalError);
    assert_eq!(slots.taken(), 1);

    puppet.open();
    puppet.send_data(&mut first, &[0; 500]).unwrap();
    assert!(first.take_incoming().is_empty());
    assert_eq!(
        refused(puppet.send_data(&mut first, &[0; 500])),
        Alert::UnexpectedMessage
    );
    assert_eq!(slots.taken(), 0);

    let (mut third, mut puppet) = start();
    wait(&mut third, &mut puppet).unwrap();
    let later = |seconds| selfsame_crypto::ctx::Ctx::new(NOW.plus(seconds), [0; 32]);
    assert_eq!(third.check_patience(&later(9)), Ok(()));
    assert_eq!(
        refused(third.check_patience(&later(10))),
        Alert::CertificateUnknown
    );
    assert_eq!(slots.taken(), 0);
}

/// Every message, each well-formed.
pub(super) fn every_message() -> Vec<Message> {
    let (_, subject, _) = people();
    let schemes = || Extensions(vec![Extension::Schemes(vec![Scheme::ED25519])]);
    let proof = || CertificateVerify {
        scheme: Scheme::ED25519,
        signature: vec![1; 64],
    };
    let mut plain_client = client(Config::default(), only(trust_did(&subject)));
    let (hello, _) = plain(&plain_client.take_outgoing()).pop().unwrap();
    let mut request = schemes();
    request.0.push(Extension::Ssi(SsiParameters {
        mode: Mode::Did,
        methods: vec![226],
        ..SsiParameters::default()
    }));
    vec![
        hello,
        Message::ServerHello(crate::codec::ServerHello::new(
            Some([1; 32]),
            crate::Suite::AES_128_GCM_SHA256,
            Extensions(vec![Extension::Version(0x0304)]),
        )),
        Message::NewSessionTicket(crate::codec::Ticket {
            lifetime: 1,
            age_add: 2,
            nonce: vec![3],
            ticket: vec![4],
            extensions: Extensions::default(),
        }),
        Message::EndOfEarlyData,
        Message::EncryptedExtensions(Extensions::default()),
        Message::Certificate(Default::default()),
        Message::CertificateRequest(CertificateRequest {
            context: Vec::new(),
            extensions: schemes(),
        }),
        Message::CertificateVerify(proof()),
        Message::Finished(vec![0; 32]),
        Message::KeyUpdate(false),
        Message::SsiRequest(request),
        Message::Vc(Vc::paper(b"{}".to_vec()).into()),
        did_message(subject.did.as_str()),
        Message::DidVerify(proof()),
    ]
}

#[test]
fn a_message_across_a_change_of_keys_or_too_long_is_refused() {
    let (_, subject, _) = people();
    let (mut one, mut puppet) = awaiting_did(&subject);
    assert_eq!(
        refused(puppet.send_raw(&mut one, &[224, 0xff, 0xff, 0xff])),
        Alert::DecodeError
    );

    let (mut one, mut puppet) = awaiting_did(&subject);
    puppet
        .send(&mut one, &did_message(subject.did.as_str()))
        .unwrap();
    let proof = puppet.proof(&subject.key, Mode::Did);
    puppet.send(&mut one, &Message::DidVerify(proof)).unwrap();
    let mut raw = puppet.finished().write(&PAPER).unwrap();
    raw.extend_from_slice(&[24, 0]);
    assert_eq!(
        refused(puppet.send_raw(&mut one, &raw)),
        Alert::UnexpectedMessage
    );

    let (mut one, mut puppet) = awaiting_did(&subject);
    puppet.send_raw(&mut one, &[224, 0, 0]).unwrap();
    assert_eq!(
        refused(puppet.send_data(&mut one, b"data")),
        Alert::UnexpectedMessage
    );
}

#[test]
fn a_flight_goes_through_in_records_of_one_byte_and_in_one_record() {
    let (_, subject, _) = people();
    for piece in [1, 7, 20_000] {
        let mut one = client(Config::default(), only(trust_did(&subject)));
        let mut puppet = Puppet::server(&mut one);
        let extensions = Message::EncryptedExtensions(Extensions::default());
        let mut flight = Vec::new();
        let did = did_message(subject.did.as_str());
        for message in [extensions, did] {
            let raw = message.write(&PAPER).unwrap();
            puppet.progress.transcript.add(&raw);
            flight.extend(raw);
        }
        let proof = Message::DidVerify(puppet.proof(&subject.key, Mode::Did));
        let raw = proof.write(&PAPER).unwrap();
        puppet.progress.transcript.add(&raw);
        flight.extend(raw);
        flight.extend(puppet.finished().write(&PAPER).unwrap());
        for part in flight.chunks(piece) {
            puppet.send_raw(&mut one, part).unwrap();
        }
        assert!(!one.is_open());
        let evidence = Registry::of(&[&subject]).evidence(one.needs());
        one.provide(&evidence, &ctx()).unwrap();
        assert!(one.is_open());
    }
}

#[test]
fn a_key_of_one_kind_makes_no_proof_of_another() {
    let (issuer, _, _) = people();
    let subject = Subject::of_kind("did:web:server.example", &rcgen::PKCS_RSA_SHA256);
    let registry = Registry::of(&[&subject]);
    for scheme in [
        Scheme::ED25519,
        Scheme::ECDSA_P256_SHA256,
        Scheme::RSA_PSS_SHA384,
    ] {
        let alert = proved(&subject, &registry, |puppet| CertificateVerify {
            scheme,
            ..puppet.proof(&subject.key, Mode::Did)
        });
        assert_eq!(alert, Alert::DecryptError);
    }
    // PKCS #1 v1.5 is only allowed in certificates.
    let alert = proved(&subject, &registry, |puppet| CertificateVerify {
        scheme: Scheme(0x0401),
        ..puppet.proof(&issuer.key, Mode::Did)
    });
    assert_eq!(alert, Alert::IllegalParameter);
}
