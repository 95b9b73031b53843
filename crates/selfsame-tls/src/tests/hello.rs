//! Invalid hellos, the first and the second, at both ends.

use super::puppet::{Puppet, first_answer, plain};
use super::ssi::{Subject, only, ssi, trust_did};
use crate::codec::{
    ClientHello, Extension, Extensions, KeyShare, Message, Mode, ServerHello, SsiParameters,
};
use crate::named::Scheme;
use crate::profile::PAPER;
use crate::testing::{Authority, client, ctx, server};
use crate::{Alert, ClientAuth, Config, Connection, Error, Group, Suite};

fn subject() -> Subject {
    Subject::new("did:web:server.example")
}

fn new_client(subject: &Subject) -> Connection {
    let common = Config {
        groups: vec![Group::X25519, Group::SECP256R1],
        ..Config::default()
    };
    client(common, only(trust_did(subject)))
}

fn new_server(subject: &Subject, groups: &[Group]) -> Connection {
    let common = Config {
        identities: ssi(subject.as_did()),
        groups: groups.to_vec(),
        ..Config::default()
    };
    server(common, ClientAuth::None)
}

fn refused(result: Result<(), Error>) -> Alert {
    match result {
        Err(Error::Refused(refusal)) => refusal.alert,
        other => panic!("not refused: {other:?}"),
    }
}

/// A message in one unprotected record.
fn record(message: &Message) -> Vec<u8> {
    let raw = message.write(&PAPER).unwrap();
    let length = u16::try_from(raw.len()).unwrap().to_be_bytes();
    [&[22, 3, 3], &length[..], &raw].concat()
}

fn hello_of(client: &mut Connection) -> ClientHello {
    match plain(&client.take_outgoing()).pop().unwrap() {
        (Message::ClientHello(hello), _) => hello,
        other => panic!("not a hello: {other:?}"),
    }
}

fn edit(extensions: &mut Extensions, change: impl Fn(&mut Extension)) {
    extensions.0.iter_mut().for_each(change);
}

#[test]
fn a_client_takes_no_server_hello_it_did_not_ask_for() {
    let subject = subject();
    let alert = |change: fn(&mut ServerHello)| {
        let mut client = new_client(&subject);
        let (_, failed) = Puppet::server_with(&mut client, change);
        refused(failed.map_or(Ok(()), Err))
    };
    let share = |key: &[u8], group| {
        Extension::KeyShare(KeyShare {
            group,
            key: key.to_vec(),
        })
    };
    assert_eq!(
        alert(|hello| hello.session_id.clear()),
        Alert::IllegalParameter
    );
    assert_eq!(
        alert(|hello| hello.suite = Suite(0x1304)),
        Alert::IllegalParameter
    );
    assert_eq!(
        alert(|hello| hello.legacy_version = 0x0301),
        Alert::IllegalParameter
    );
    let versions =
        |to: fn() -> Extension| move |hello: &mut ServerHello| hello.extensions.0[0] = to();
    let with = |extension: Extension| {
        let mut client = new_client(&subject);
        let change = |hello: &mut ServerHello| hello.extensions.0[1] = extension;
        let (_, failed) = Puppet::server_with(&mut client, change);
        refused(failed.map_or(Ok(()), Err))
    };
    let mut client = new_client(&subject);
    let (_, failed) = Puppet::server_with(&mut client, versions(|| Extension::Version(0x0303)));
    assert_eq!(refused(failed.map_or(Ok(()), Err)), Alert::IllegalParameter);
    assert_eq!(
        alert(|hello| drop(hello.extensions.0.remove(0))),
        Alert::ProtocolVersion
    );
    assert_eq!(
        alert(|hello| drop(hello.extensions.0.remove(1))),
        Alert::MissingExtension
    );
    assert_eq!(
        with(share(&[1; 32], Group::SECP256R1)),
        Alert::IllegalParameter
    );
    assert_eq!(
        with(share(&[1; 31], Group::X25519)),
        Alert::IllegalParameter
    );
    // A point of small order gives an all-zero secret (RFC 8446 §7.4.2).
    assert_eq!(
        with(share(&[0; 32], Group::X25519)),
        Alert::IllegalParameter
    );
    let unknown = Extension::Other {
        number: 0xeeee,
        body: Vec::new(),
    };
    assert_eq!(with(unknown), Alert::UnsupportedExtension);
    let resumed = Extension::Other {
        number: 41,
        body: vec![0, 0],
    };
    assert_eq!(with(resumed), Alert::UnsupportedExtension);
}

#[test]
fn a_client_is_asked_again_once_and_for_something_it_has() {
    let subject = subject();
    let ask = |client: &mut Connection, more: Vec<Extension>| {
        let (hello, _) = plain(&client.take_outgoing()).pop().unwrap();
        let Message::ClientHello(hello) = hello else {
            panic!("not a hello")
        };
        let extensions = [vec![Extension::Version(0x0304)], more].concat();
        let suite = Suite::AES_128_GCM_SHA256;
        let mut retry = ServerHello::new(None, suite, Extensions(extensions));
        retry.session_id = hello.session_id;
        client.receive(&record(&Message::ServerHello(retry)), &ctx())
    };
    let asked = |more| ask(&mut new_client(&subject), more);
    assert_eq!(refused(asked(Vec::new())), Alert::IllegalParameter);
    let group = |group| vec![Extension::RetryGroup(group)];
    assert_eq!(
        refused(asked(group(Group::X25519))),
        Alert::IllegalParameter
    );
    assert_eq!(
        refused(asked(group(Group(0x0019)))),
        Alert::IllegalParameter
    );

    let mut client = new_client(&subject);
    let first = hello_of(&mut new_client(&subject));
    let wish = vec![
        Extension::RetryGroup(Group::SECP256R1),
        Extension::Cookie(b"crumbs".to_vec()),
    ];
    ask(&mut client, wish).unwrap();
    let sent = client.take_outgoing();
    assert_eq!(sent[..6], [20, 3, 3, 0, 1, 1]);
    let Message::ClientHello(second) = plain(&sent).pop().unwrap().0 else {
        panic!("not a hello")
    };
    assert_eq!(
        second.extensions.key_shares().unwrap()[0].group,
        Group::SECP256R1
    );
    assert_eq!(second.extensions.ssi(), first.extensions.ssi());
    let cookie = Extension::Cookie(b"crumbs".to_vec());
    assert!(second.extensions.0.contains(&cookie));
    let extensions = vec![
        Extension::Version(0x0304),
        Extension::RetryGroup(Group::X25519),
    ];
    let answer = |random, suite| {
        let mut answer = ServerHello::new(random, suite, Extensions(extensions.clone()));
        answer.session_id.clone_from(&second.session_id);
        record(&Message::ServerHello(answer))
    };
    let again = answer(None, Suite::AES_128_GCM_SHA256);
    assert_eq!(
        refused(client.receive(&again, &ctx())),
        Alert::UnexpectedMessage
    );
}

/// The server's alert for a changed first hello.
fn answer_to(subject: &Subject, change: &dyn Fn(&mut ClientHello)) -> Alert {
    let mut hello = hello_of(&mut new_client(subject));
    change(&mut hello);
    let mut server = new_server(subject, &[Group::X25519]);
    refused(server.receive(&record(&Message::ClientHello(hello)), &ctx()))
}

#[test]
fn a_server_takes_no_hello_that_lacks_what_tls_1_3_needs() {
    let subject = subject();
    let alert = |change: &dyn Fn(&mut ClientHello)| answer_to(&subject, change);
    let without = |unwanted: fn(&Extension) -> bool| {
        alert(&|hello| hello.extensions.0.retain(|extension| !unwanted(extension)))
    };
    assert_eq!(
        without(|one| matches!(one, Extension::Versions(_))),
        Alert::ProtocolVersion
    );
    assert_eq!(
        without(|one| matches!(one, Extension::Groups(_))),
        Alert::MissingExtension
    );
    assert_eq!(
        without(|one| matches!(one, Extension::Schemes(_))),
        Alert::MissingExtension
    );
    assert_eq!(
        without(|one| matches!(one, Extension::KeyShares(_))),
        Alert::MissingExtension
    );
    assert_eq!(
        alert(&|hello| hello.compression = vec![0, 1]),
        Alert::IllegalParameter
    );
    assert_eq!(
        alert(&|hello| hello.legacy_version = 0x0302),
        Alert::IllegalParameter
    );
    assert_eq!(
        alert(&|hello| hello.suites = vec![Suite(0xc02f)]),
        Alert::HandshakeFailure
    );
}

#[test]
fn a_server_takes_no_hello_whose_extensions_do_not_fit_together() {
    let subject = subject();
    let alert = |change: &dyn Fn(&mut ClientHello)| answer_to(&subject, change);
    let changed = |change: fn(&mut Extension)| alert(&|hello| edit(&mut hello.extensions, change));
    let older = changed(|one| {
        if let Extension::Versions(versions) = one {
            *versions = vec![0x0303];
        }
    });
    assert_eq!(older, Alert::ProtocolVersion);
    let twice = changed(|one| {
        if let Extension::KeyShares(shares) = one {
            shares.push(shares[0].clone());
        }
    });
    assert_eq!(twice, Alert::IllegalParameter);
    let unnamed = changed(|one| {
        if let Extension::Groups(groups) = one {
            *groups = vec![Group::SECP256R1];
        }
    });
    assert_eq!(unnamed, Alert::IllegalParameter);
    let no_point = changed(|one| {
        if let Extension::KeyShares(shares) = one {
            shares[0].key = vec![0; 32];
        }
    });
    assert_eq!(no_point, Alert::IllegalParameter);
    let early = Extension::Other {
        number: 42,
        body: Vec::new(),
    };
    assert_eq!(
        alert(&|hello| hello.extensions.0.push(early.clone())),
        Alert::IllegalParameter
    );
    let parameters = SsiParameters {
        mode: Mode::Vc,
        methods: vec![1],
        ..SsiParameters::default()
    };
    let second = Extension::Ssi(parameters);
    assert_eq!(
        alert(&|hello| hello.extensions.0.push(second.clone())),
        Alert::IllegalParameter
    );
}

#[test]
fn a_second_hello_is_the_first_but_for_its_key_share() {
    let subject = subject();
    let alert = |change: &dyn Fn(&mut ClientHello)| {
        let mut client = new_client(&subject);
        let mut server = new_server(&subject, &[Group::SECP256R1]);
        server.receive(&client.take_outgoing(), &ctx()).unwrap();
        client.receive(&server.take_outgoing(), &ctx()).unwrap();
        let mut hello = hello_of(&mut client);
        change(&mut hello);
        server.receive(&record(&Message::ClientHello(hello)), &ctx())
    };
    assert_eq!(alert(&|_| {}), Ok(()));
    let refused = |change: &dyn Fn(&mut ClientHello)| refused(alert(change));
    let strip = |hello: &mut ClientHello| {
        hello
            .extensions
            .0
            .retain(|one| !matches!(one, Extension::Ssi(_)));
    };
    assert_eq!(refused(&strip), Alert::IllegalParameter);
    let change = |hello: &mut ClientHello| {
        edit(&mut hello.extensions, |one| {
            if let Extension::Ssi(parameters) = one {
                parameters.mode = Mode::Vc;
            }
        });
    };
    assert_eq!(refused(&change), Alert::IllegalParameter);
    assert_eq!(
        refused(&|hello| hello.random[0] ^= 1),
        Alert::IllegalParameter
    );
    assert_eq!(
        refused(&|hello| hello.suites.reverse()),
        Alert::IllegalParameter
    );
    assert_eq!(
        refused(&|hello| hello.session_id.clear()),
        Alert::IllegalParameter
    );
    assert_eq!(alert(&|hello| hello.extensions.0.reverse()), Ok(()));
    let other_share = |hello: &mut ClientHello| {
        edit(&mut hello.extensions, |one| {
            if let Extension::KeyShares(shares) = one {
                shares[0].group = Group::X25519;
            }
        });
    };
    assert_eq!(refused(&other_share), Alert::IllegalParameter);
}

#[test]
fn a_change_cipher_spec_is_dropped_as_often_as_is_sensible_and_not_before_a_hello() {
    let subject = subject();
    let ccs = [20, 3, 3, 0, 1, 1];
    let mut server = new_server(&subject, &[Group::X25519]);
    assert_eq!(
        refused(server.receive(&ccs, &ctx())),
        Alert::UnexpectedMessage
    );

    let authority = Authority::new();
    let mut client = client(Config::default(), authority.server());
    for _ in 0..32 {
        client.receive(&ccs, &ctx()).unwrap();
    }
    assert_eq!(
        refused(client.receive(&ccs, &ctx())),
        Alert::UnexpectedMessage
    );
}

#[test]
fn a_second_hello_keeps_its_share_where_only_a_cookie_is_asked_for() {
    let mut client = new_client(&subject());
    let first = hello_of(&mut client);
    let extensions = vec![
        Extension::Version(0x0304),
        Extension::Cookie(b"crumbs".to_vec()),
    ];
    let mut retry = ServerHello::new(None, Suite::AES_128_GCM_SHA256, Extensions(extensions));
    retry.session_id.clone_from(&first.session_id);
    let retry = record(&Message::ServerHello(retry));
    client.receive(&retry, &ctx()).unwrap();
    let second = hello_of(&mut client);
    assert_eq!(
        second.extensions.key_shares(),
        first.extensions.key_shares()
    );
}

#[test]
fn certificates_signed_with_rsa_of_either_padding_are_asked_for() {
    let authority = Authority::new();
    let hello = hello_of(&mut client(Config::default(), authority.server()));
    let schemes = hello.extensions.find(|extension| match extension {
        Extension::CertificateSchemes(schemes) => Some(schemes.clone()),
        _ => None,
    });
    let schemes = schemes.unwrap();
    for scheme in [Scheme::RSA_PKCS1_SHA256, Scheme::RSA_PSS_SHA256] {
        assert!(schemes.contains(&scheme), "{scheme:?}");
    }
    let in_handshake = hello.extensions.schemes().unwrap();
    assert!(!in_handshake.contains(&Scheme::RSA_PKCS1_SHA256));
    // A client that accepts no certificate does not send the extension.
    let hello = hello_of(&mut new_client(&subject()));
    let says = |one: &Extension| matches!(one, Extension::CertificateSchemes(_));
    assert!(!hello.extensions.0.iter().any(says));
}

/// The group of the share in a server's answer, and whether it asks for a second hello.
fn answered(server: &mut Connection) -> (Option<Group>, bool) {
    let (answer, _) = first_answer(&server.take_outgoing());
    let group = answer.extensions.find(|extension| match extension {
        Extension::KeyShare(share) => Some(share.group),
        Extension::RetryGroup(group) => Some(*group),
        _ => None,
    });
    (group, answer.is_retry())
}

#[test]
fn a_hello_has_a_share_of_the_hybrid_group_and_of_the_one_within_it() {
    let subject = subject();
    let trusting = || only(trust_did(&subject));
    let hello = |groups: &[Group]| {
        let common = Config {
            groups: groups.to_vec(),
            ..Config::default()
        };
        hello_of(&mut client(common, trusting()))
    };
    let shared = |hello: &ClientHello| -> Vec<Group> {
        let shares = hello.extensions.key_shares().unwrap().iter();
        shares.map(|share| share.group).collect()
    };
    let (hybrid, within) = (Group::X25519_MLKEM768, Group::X25519);
    let usual = hello(&Config::default().groups);
    assert_eq!(shared(&usual), [hybrid, within]);
    // The classical share is part of the hybrid's share, after ML-KEM's key.
    let shares = usual.extensions.key_shares().unwrap();
    assert!(shares[0].key.ends_with(&shares[1].key));
    assert_eq!(shared(&hello(&[hybrid, Group::SECP256R1])), [hybrid]);
    assert_eq!(shared(&hello(&[within, hybrid])), [within]);

    let taken = |groups: &[Group]| {
        let mut server = new_server(&subject, groups);
        let mut client = client(Config::default(), trusting());
        server.receive(&client.take_outgoing(), &ctx()).unwrap();
        answered(&mut server)
    };
    assert_eq!(taken(&[within, hybrid]), (Some(hybrid), false));
    assert_eq!(taken(&[within]), (Some(within), false));
    assert_eq!(taken(&[Group::SECP256R1]), (Some(Group::SECP256R1), true));
}

#[test]
fn a_server_asks_for_the_hybrid_group_where_it_has_to_ask() {
    let subject = subject();
    let mut server = new_server(&subject, &[Group::SECP256R1, Group::X25519_MLKEM768]);
    let common = Config {
        groups: vec![Group::X25519, Group::SECP256R1, Group::X25519_MLKEM768],
        ..Config::default()
    };
    let mut client = client(common, only(trust_did(&subject)));
    let first = client.take_outgoing();
    server.receive(&first, &ctx()).unwrap();
    let retry = server.take_outgoing();
    client.receive(&retry, &ctx()).unwrap();
    let second = client.take_outgoing();
    let Message::ClientHello(hello) = plain(&second).pop().unwrap().0 else {
        panic!("not a hello")
    };
    // One share, without a second one of the classical component (RFC 8446 §4.2.8).
    let shares = hello.extensions.key_shares().unwrap();
    assert_eq!(shares.len(), 1);
    server.receive(&second, &ctx()).unwrap();
    assert_eq!(answered(&mut server), (Some(Group::X25519_MLKEM768), false));
}

#[test]
fn a_hello_may_have_a_thousand_extensions_and_not_many_more() {
    let subject = subject();
    let answer = |more: u16| {
        let mut hello = hello_of(&mut new_client(&subject));
        let known = hello.extensions.0.len();
        let unknown = (0x1000..).map(|number| Extension::Other {
            number,
            body: Vec::new(),
        });
        let more = usize::from(more) - known;
        hello.extensions.0.extend(unknown.take(more));
        let mut server = new_server(&subject, &[Group::X25519]);
        server.receive(&record(&Message::ClientHello(hello)), &ctx())
    };
    assert_eq!(answer(1024), Ok(()));
    assert_eq!(refused(answer(1025)), Alert::DecodeError);
}
