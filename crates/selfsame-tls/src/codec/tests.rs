//! Messages written and read back are unchanged, in both directions, and no input panics.

use proptest::prelude::*;

use super::*;
use crate::alert::Alert;
use crate::named::{Group, Scheme, Suite, VcFormat};
use crate::profile::{DRAFT, LINKS, PAPER, Profile, SELFSAME};
use crate::testing::{Vectors, rfc8448};

fn both() -> [&'static Profile; 2] {
    [&PAPER, &LINKS]
}

fn all() -> [&'static Profile; 4] {
    [&PAPER, &LINKS, &SELFSAME, &DRAFT]
}

fn alert(bytes: &[u8]) -> Alert {
    Message::parse(bytes, &PAPER).unwrap_err().alert
}

#[test]
fn the_messages_of_rfc_8448_are_read_and_written_back() {
    let vectors = rfc8448();
    let mut messages = 0;
    for name in vectors.names().filter(|name| {
        name.ends_with("_hello") || name.ends_with("_finished") || name.starts_with("certificate")
    }) {
        let bytes = vectors.get(name);
        let message = Message::parse(bytes, &PAPER).unwrap();
        assert_eq!(message.write(&PAPER).unwrap(), bytes, "{name}");
        messages += 1;
    }
    assert_eq!(messages, 6);
    let Message::ClientHello(hello) = Message::parse(vectors.get("client_hello"), &PAPER).unwrap()
    else {
        panic!("not a hello")
    };
    assert_eq!(
        hello.extensions.key_shares().unwrap()[0].group,
        Group::X25519
    );
    assert_eq!(hello.suites[0], Suite::AES_128_GCM_SHA256);
    assert!(
        hello
            .extensions
            .schemes()
            .unwrap()
            .contains(&Scheme::RSA_PSS_SHA256)
    );
}

#[test]
fn the_identity_messages_have_their_bytes_in_each_profile() {
    let vectors = Vectors::parse(include_str!(
        "../../../../vectors/tls/identity-messages.txt"
    ));
    for profile in both() {
        for (name, message) in identity_messages() {
            let expected = vectors.get(&format!("{}_{name}", profile.name));
            assert_eq!(
                message.write(profile).unwrap(),
                expected,
                "{} {name}",
                profile.name
            );
            assert_eq!(Message::parse(expected, profile).unwrap(), message);
        }
    }
}

#[test]
fn the_parameters_of_the_extension_have_their_bytes_in_each_profile() {
    let vectors = Vectors::parse(include_str!(
        "../../../../vectors/tls/identity-messages.txt"
    ));
    for profile in both() {
        for (name, mode, methods) in [
            ("certificate", Mode::Certificate, vec![]),
            ("did", Mode::Did, vec![1, 3]),
            ("vc", Mode::Vc, vec![1, 3]),
        ] {
            let expected = vectors.get(&format!("{}_parameters_{name}", profile.name));
            let parameters = SsiParameters {
                mode,
                methods,
                formats: Vec::new(),
                staples: Vec::new(),
            };
            let extensions = Extensions(vec![Extension::Ssi(parameters)]);
            let request = Message::SsiRequest(extensions).write(profile).unwrap();
            assert!(request.ends_with(expected), "{} {name}", profile.name);
        }
    }
}

#[test]
fn what_a_did_verify_signs_has_its_bytes_in_each_profile() {
    use crate::identity::{Side, to_sign};
    let vectors = Vectors::parse(include_str!(
        "../../../../vectors/tls/identity-messages.txt"
    ));
    for profile in both() {
        for (name, side) in [("server", Side::Server), ("client", Side::Client)] {
            let expected = vectors.get(&format!("{}_{name}_signs", profile.name));
            assert_eq!(to_sign(Mode::Did, profile, side, &[0xcd; 32]), expected);
            assert_eq!(to_sign(Mode::Vc, profile, side, &[0xcd; 32]), expected);
        }
    }
}

fn identity_messages() -> [(&'static str, Message); 4] {
    let parameters = SsiParameters {
        mode: Mode::Vc,
        methods: vec![1, 3],
        ..SsiParameters::default()
    };
    let schemes = vec![Scheme::ED25519, Scheme::ECDSA_P256_SHA256];
    let request = Extensions(vec![
        Extension::Ssi(parameters),
        Extension::Schemes(schemes),
    ]);
    let did = DidMessage {
        method: 1,
        did: b"did:ott:00ff".to_vec(),
        staples: Vec::new(),
    };
    let proof = CertificateVerify {
        scheme: Scheme::ED25519,
        signature: vec![0xab; 64],
    };
    [
        ("ssi_request", Message::SsiRequest(request)),
        ("vc", Message::Vc(Vc::paper(b"{}".to_vec()).into())),
        ("did", Message::Did(did)),
        ("did_verify", Message::DidVerify(proof)),
    ]
}

#[test]
fn the_messages_of_our_own_profile_and_the_draft_have_their_bytes() {
    let vectors = Vectors::parse(include_str!(
        "../../../../vectors/tls/identity-messages.txt"
    ));
    let proof = || CertificateVerify {
        scheme: Scheme::ED25519,
        signature: vec![0xab; 64],
    };
    for (name, profile, message) in own_messages().into_iter().chain(draft_messages()).chain([
        (
            "selfsame_did_verify",
            &SELFSAME,
            Message::DidVerify(proof()),
        ),
        (
            "draft_certificate_verify",
            &DRAFT,
            Message::CertificateVerify(proof()),
        ),
    ]) {
        let expected = vectors.get(name);
        assert_eq!(message.write(profile).unwrap(), expected, "{name}");
        assert_eq!(Message::parse(expected, profile).unwrap(), message);
    }
}

fn schemes() -> Extension {
    Extension::Schemes(vec![Scheme::ED25519, Scheme::ECDSA_P256_SHA256])
}

fn compact() -> Vc {
    Vc {
        format: VcFormat::COSE,
        bytes: vec![0x84, 0x40, 0xa0],
    }
}

fn own_messages() -> Vec<(&'static str, &'static Profile, Message)> {
    let staples = || {
        vec![
            Staple {
                kind: 1,
                body: vec![0xaa, 0xbb],
            },
            Staple {
                kind: 64,
                body: Vec::new(),
            },
        ]
    };
    let key: Vec<u8> = [0xed, 1].into_iter().chain(0..32).collect();
    let did = |staples| DidMessage {
        method: 224,
        did: key.clone(),
        staples,
    };
    let of_vc = SsiParameters {
        mode: Mode::Vc,
        methods: vec![224, 226],
        formats: vec![VcFormat::COSE, VcFormat::VC_JWT],
        staples: vec![1, 64],
    };
    let of_did = SsiParameters {
        mode: Mode::Did,
        methods: vec![227],
        ..SsiParameters::default()
    };
    let request = |ssi| Message::SsiRequest(Extensions(vec![Extension::Ssi(ssi), schemes()]));
    let vc = VcMessage {
        vc: compact(),
        staples: staples(),
    };
    [
        ("selfsame_ssi_request", request(of_vc)),
        ("selfsame_ssi_request_did", request(of_did)),
        ("selfsame_vc", Message::Vc(vc)),
        ("selfsame_did", Message::Did(did(Vec::new()))),
        ("selfsame_did_stapled", Message::Did(did(staples()))),
    ]
    .into_iter()
    .map(|(name, message)| (name, &SELFSAME, message))
    .collect()
}

fn draft_messages() -> Vec<(&'static str, &'static Profile, Message)> {
    let chosen = vec![Extension::ServerType(224), Extension::ClientType(224)];
    let request = CertificateRequest {
        context: Vec::new(),
        extensions: Extensions(vec![schemes(), Extension::DidMethods(vec![224, 226])]),
    };
    let entry = CertificateEntry {
        data: compact().bytes,
        extensions: Extensions::default(),
    };
    let certificate = CertificateChain {
        context: Vec::new(),
        entries: vec![entry],
    };
    [
        (
            "draft_encrypted_extensions",
            Message::EncryptedExtensions(Extensions(chosen)),
        ),
        (
            "draft_certificate_request",
            Message::CertificateRequest(request),
        ),
        ("draft_certificate", Message::Certificate(certificate)),
    ]
    .into_iter()
    .map(|(name, message)| (name, &DRAFT, message))
    .collect()
}

#[test]
fn more_staples_than_the_limit_are_not_read() {
    let staples = |count: u8| {
        let kind = |kind| Staple {
            kind,
            body: Vec::new(),
        };
        let message = Message::Did(DidMessage {
            method: 224,
            did: vec![1],
            staples: (0..count).map(kind).collect(),
        });
        let bytes = message.write(&SELFSAME).unwrap();
        Message::parse(&bytes, &SELFSAME).map(|read| read == message)
    };
    assert_eq!(staples(8), Ok(true));
    assert_eq!(staples(9).unwrap_err().alert, Alert::DecodeError);
}

#[test]
fn broken_messages_get_their_alerts() {
    assert_eq!(alert(&[]), Alert::DecodeError);
    assert_eq!(alert(&[20, 0, 0, 2, 0]), Alert::DecodeError);
    assert_eq!(alert(&[20, 0, 0, 0, 0]), Alert::DecodeError);
    assert_eq!(alert(&[99, 0, 0, 0]), Alert::UnexpectedMessage);
    assert_eq!(alert(&[24, 0, 0, 1, 2]), Alert::IllegalParameter);
    assert_eq!(alert(&[24, 0, 0, 2, 0, 0]), Alert::DecodeError);
    // EncryptedExtensions with the same unknown extension twice, with a key share, with ssi_parameters.
    assert_eq!(
        alert(&hex("08 00000a 0008 eeee0000 eeee0000")),
        Alert::IllegalParameter
    );
    assert_eq!(
        alert(&hex("08 000008 0006 0033 0002 001d")),
        Alert::IllegalParameter
    );
    assert_eq!(
        alert(&hex("08 000009 0007 ff3c 0003 020100")),
        Alert::UnsupportedExtension
    );
}

#[test]
fn ssi_parameters_have_methods_exactly_with_a_mode() {
    let request = |body: &str| {
        let body = hex(body);
        let length = u8::try_from(body.len()).unwrap();
        let head = [226, 0, 0, length + 6, 0, length + 4, 0xff, 0x3c, 0, length];
        Message::parse(&[&head[..], &body].concat(), &PAPER)
            .map(|_| ())
            .map_err(|error| error.alert)
    };
    assert_eq!(request("02 01 00"), Ok(()));
    assert_eq!(request("01 02 0001"), Ok(()));
    assert_eq!(request("00 00"), Ok(()));
    assert_eq!(request("00 01 00"), Err(Alert::IllegalParameter));
    assert_eq!(request("01 00"), Err(Alert::DecodeError));
    assert_eq!(request("03 01 00"), Err(Alert::IllegalParameter));
    assert_eq!(request("02 02 00"), Err(Alert::DecodeError));
    assert_eq!(request("02 01 00 00"), Err(Alert::DecodeError));
}

#[test]
fn a_request_context_in_a_handshake_is_refused() {
    let with_context = [31, 0, 0, 4, 1, 7, 0, 0];
    let refused = Message::parse(&with_context, &LINKS).unwrap_err();
    assert_eq!(refused.alert, Alert::IllegalParameter);
}

#[test]
fn what_is_too_long_for_its_length_is_not_written() {
    let vc = Message::Vc(Vc::paper(vec![0; 65_536]).into());
    assert_eq!(vc.write(&PAPER).unwrap_err().alert, Alert::InternalError);
    assert!(
        Message::Vc(Vc::paper(vec![0; 65_535]).into())
            .write(&PAPER)
            .is_ok()
    );
}

#[test]
fn a_revocation_list_stands_in_the_entry_of_its_certificate_and_nowhere_else() {
    let entry = CertificateEntry {
        data: vec![1, 2],
        extensions: Extensions(vec![Extension::Crl(vec![3, 4, 5])]),
    };
    let certificate = Message::Certificate(CertificateChain {
        context: Vec::new(),
        entries: vec![entry],
    });
    let raw = hex("0b 000012 00 00000e 000002 0102 0007 ff54 0003 030405");
    for profile in all() {
        assert_eq!(certificate.write(profile).unwrap(), raw);
        assert_eq!(Message::parse(&raw, profile).unwrap(), certificate);
    }
    let asks = Message::CertificateRequest(CertificateRequest {
        context: Vec::new(),
        extensions: Extensions(vec![Extension::ReadsCrls]),
    });
    let raw = hex("0d 000007 00 0004 ff54 0000");
    assert_eq!(asks.write(&PAPER).unwrap(), raw);
    assert_eq!(Message::parse(&raw, &PAPER).unwrap(), asks);
    // In a request the extension must be empty; in EncryptedExtensions it is not allowed.
    assert_eq!(
        alert(&hex("0d 000008 00 0005 ff54 0001 00")),
        Alert::DecodeError
    );
    assert_eq!(
        alert(&hex("08 000006 0004 ff54 0000")),
        Alert::IllegalParameter
    );
}

fn hex(text: &str) -> Vec<u8> {
    selfsame_crypto::encoding::hex_decode(&text.replace(' ', "")).unwrap()
}

fn bytes(range: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), range)
}

fn share() -> impl Strategy<Value = KeyShare> {
    (any::<u16>(), bytes(1..40)).prop_map(|(group, key)| KeyShare {
        group: Group(group),
        key,
    })
}

fn hello_extension() -> impl Strategy<Value = Extension> {
    let numbers = || prop::collection::vec(any::<u16>(), 1..6);
    prop_oneof![
        "[a-z0-9.-]{1,40}".prop_map(|name| Extension::ServerName(Some(name))),
        numbers().prop_map(|all| Extension::Groups(all.into_iter().map(Group).collect())),
        numbers().prop_map(|all| Extension::Schemes(all.into_iter().map(Scheme).collect())),
        numbers().prop_map(Extension::Versions),
        prop::collection::vec(bytes(1..9), 1..4).prop_map(Extension::Protocols),
        prop::collection::vec(share(), 0..3).prop_map(Extension::KeyShares),
        bytes(1..60).prop_map(Extension::Cookie),
        Just(Extension::ReadsCrls),
        bytes(1..4).prop_map(Extension::PskModes),
        bytes(1..4).prop_map(|methods| Extension::Ssi(SsiParameters {
            mode: Mode::Did,
            methods,
            ..SsiParameters::default()
        })),
        (1000_u16..2000, bytes(0..20)).prop_map(|(number, body)| Extension::Other { number, body }),
    ]
}

fn hello() -> impl Strategy<Value = Message> {
    let extensions = prop::collection::vec(hello_extension(), 0..8).prop_map(|mut all| {
        let mut seen = Vec::new();
        all.retain(|extension| {
            let number = extension.number(&PAPER);
            let is_new = !seen.contains(&number);
            seen.push(number);
            is_new
        });
        Extensions(all)
    });
    let suites = prop::collection::vec(any::<u16>().prop_map(Suite), 1..5);
    (any::<[u8; 32]>(), bytes(0..33), suites, extensions).prop_map(
        |(random, session_id, suites, extensions)| {
            let hello = ClientHello::new(random, suites, extensions);
            Message::ClientHello(ClientHello {
                session_id,
                ..hello
            })
        },
    )
}

fn message() -> impl Strategy<Value = Message> {
    let entry = (bytes(1..80), prop::option::of(bytes(0..40)));
    let entry = entry.prop_map(|(data, crl)| CertificateEntry {
        data,
        extensions: Extensions(crl.into_iter().map(Extension::Crl).collect()),
    });
    let certificate = (bytes(0..9), prop::collection::vec(entry, 0..4));
    let ticket = (any::<u32>(), any::<u32>(), bytes(0..9), bytes(1..90));
    let proof = || {
        (any::<u16>(), bytes(0..90)).prop_map(|(scheme, signature)| CertificateVerify {
            scheme: Scheme(scheme),
            signature,
        })
    };
    prop_oneof![
        hello(),
        certificate.prop_map(|(context, entries)| Message::Certificate(CertificateChain {
            context,
            entries
        })),
        ticket.prop_map(|(lifetime, age_add, nonce, ticket)| {
            let early = Some(Extension::MaxEarlyData(lifetime)).filter(|_| age_add % 2 == 0);
            Message::NewSessionTicket(Ticket {
                lifetime,
                age_add,
                nonce,
                ticket,
                extensions: Extensions(early.into_iter().collect()),
            })
        }),
        proof().prop_map(Message::CertificateVerify),
        proof().prop_map(Message::DidVerify),
        bytes(0..64).prop_map(Message::Finished),
        any::<bool>().prop_map(Message::KeyUpdate),
        Just(Message::EndOfEarlyData),
        bytes(0..300).prop_map(|vc| Message::Vc(Vc::paper(vc).into())),
        (any::<u8>(), bytes(0..90)).prop_map(|(method, did)| Message::Did(DidMessage {
            method,
            did,
            staples: Vec::new()
        })),
    ]
}

/// VC and DID as only profile `selfsame` has them.
fn own_message() -> impl Strategy<Value = Message> {
    let staples = || {
        let staple = (any::<u8>(), bytes(0..40)).prop_map(|(kind, body)| Staple { kind, body });
        prop::collection::vec(staple, 0..8)
    };
    prop_oneof![
        (any::<u8>(), bytes(0..200), staples()).prop_map(|(format, bytes, staples)| {
            let format = VcFormat(format);
            let vc = Vc { format, bytes };
            Message::Vc(VcMessage { vc, staples })
        }),
        (any::<u8>(), bytes(0..90), staples()).prop_map(|(method, did, staples)| {
            Message::Did(DidMessage {
                method,
                did,
                staples,
            })
        }),
    ]
}

proptest! {
    #[test]
    fn what_is_written_reads_back(message in message()) {
        for profile in both() {
            let bytes = message.write(profile).unwrap();
            prop_assert_eq!(Message::parse(&bytes, profile).unwrap(), message.clone());
        }
    }

    #[test]
    fn what_is_stapled_and_in_any_format_reads_back(message in own_message(), cut in any::<prop::sample::Index>()) {
        let bytes = message.write(&SELFSAME).unwrap();
        prop_assert_eq!(Message::parse(&bytes, &SELFSAME).unwrap(), message);
        prop_assert!(Message::parse(&bytes[..cut.index(bytes.len())], &SELFSAME).is_err());
    }

    #[test]
    fn a_message_cut_off_anywhere_is_refused(message in message(), cut in any::<prop::sample::Index>()) {
        let bytes = message.write(&PAPER).unwrap();
        let cut = &bytes[..cut.index(bytes.len())];
        prop_assert!(Message::parse(cut, &PAPER).is_err());
    }

    #[test]
    fn arbitrary_bytes_do_not_panic_and_have_one_form(kind in any::<u8>(), body in bytes(0..200)) {
        let length = u8::try_from(body.len()).unwrap();
        let bytes = [&[kind, 0, 0, length], &body[..]].concat();
        for profile in all() {
            if let Ok(message) = Message::parse(&bytes, profile) {
                prop_assert_eq!(message.write(profile).unwrap(), bytes.clone());
            }
        }
    }

    #[test]
    fn a_changed_hello_has_one_form(hello in hello(), at in any::<prop::sample::Index>(), to in any::<u8>()) {
        let mut bytes = hello.write(&PAPER).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = to;
        if let Ok(message) = Message::parse(&bytes, &PAPER) {
            prop_assert_eq!(message.write(&PAPER).unwrap(), bytes);
        }
    }
}
