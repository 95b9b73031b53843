//! The profile `draft`: credentials as a certificate type, in both directions, and the fallbacks.

use selfsame_did::key;
use serde_json::Map;

use super::puppet::Puppet;
use super::ssi::{
    Registry, Subject, client_refused, drive, only, server_refused, ssi, trust_did, trusted,
};
use crate::codec::{
    CertificateChain, CertificateEntry, CertificateRequest, Extension, Extensions, Message, Mode,
    Vc,
};
use crate::error::ConfigError;
use crate::identity::{
    CoseSubject, CoseVc, ExpectedPeer, Identities, IdentityPolicy, PeerKind, PeerPolicy,
    SsiIdentity,
};
use crate::profile::DRAFT;
use crate::testing::{Authority, Ends, NOW, assert_talk, client, server};
use crate::{Alert, ClientAuth, ClientConfig, Config, Connection, Error, Group, Scheme, VcFormat};

struct World {
    authority: Authority,
    issuer: Subject,
    server: Subject,
    client: Subject,
}

fn holder() -> Subject {
    let plain = Subject::new("did:web:placeholder.example");
    Subject {
        did: key::create(&plain.public),
        ..plain
    }
}

impl World {
    fn new() -> Self {
        Self {
            authority: Authority::new(),
            issuer: Subject::new("did:web:issuer.example"),
            server: holder(),
            client: holder(),
        }
    }

    fn vc(&self, holder: &Subject) -> Vc {
        let credential = CoseVc {
            subject: CoseSubject::Did(holder.did.clone()),
            not_before: None,
            expires: NOW.plus(60),
            types: Vec::new(),
            claims: Map::new(),
            status: None,
        };
        let draft = credential.draft(&self.issuer.public).unwrap();
        let key = &self.issuer.key;
        let signature = key.sign(Scheme::ED25519, &draft.signing_bytes()).unwrap();
        Vc::compact(draft.finish(&signature))
    }

    fn identity(&self, holder: &Subject) -> SsiIdentity {
        SsiIdentity {
            vc: Some(self.vc(holder)),
            ..holder.as_did()
        }
    }

    fn expecting(&self, holder: &Subject) -> IdentityPolicy {
        let expected = ExpectedPeer::Dids([holder.did.clone()].into());
        IdentityPolicy::of_credentials(&["key", "web"], vec![trusted(&self.issuer)], expected)
    }

    /// A party's identities: a certificate, a credential, both or neither.
    fn identities(&self, holder: &Subject, (x509, vc): (bool, bool)) -> Identities {
        let mut identities = match x509 {
            true => self.authority.leaf(&rcgen::PKCS_ED25519).identities(),
            false => Identities::default(),
        };
        identities.ssi = vc.then(|| self.identity(holder));
        identities
    }

    /// A policy that accepts the holder by a certificate, a credential, or either.
    fn policy(
        &self,
        certificates: PeerPolicy,
        holder: &Subject,
        kinds: (bool, bool),
    ) -> PeerPolicy {
        let (x509, vc) = kinds;
        PeerPolicy {
            certificates: certificates.certificates.filter(|_| x509),
            identities: vc.then(|| self.expecting(holder)),
        }
    }
}

fn speaking(identities: Identities) -> Config {
    Config {
        profile: &DRAFT,
        identities,
        ..Config::default()
    }
}

fn kind(connection: &Connection) -> &'static str {
    match connection.peer().unwrap().kind {
        PeerKind::Anonymous => "anonymous",
        PeerKind::Certificate(_) => "x509",
        PeerKind::Did(_) => "did",
        PeerKind::Credential(_) => "vc",
    }
}

const X509: (bool, bool) = (true, false);
const VC: (bool, bool) = (false, true);
const BOTH: (bool, bool) = (true, true);
const NONE: (bool, bool) = (false, false);

/// What each side shows and accepts, and how each authenticates the other.
type Case = (
    [(bool, bool); 4],
    Result<(&'static str, &'static str), Alert>,
);

/// Server shows, client accepts; client shows, server accepts (`NONE`: it does not ask).
const CASES: [Case; 16] = [
    ([VC, VC, NONE, NONE], Ok(("vc", "anonymous"))),
    ([VC, VC, VC, VC], Ok(("vc", "vc"))),
    ([VC, VC, X509, X509], Ok(("vc", "x509"))),
    ([X509, X509, VC, VC], Ok(("x509", "vc"))),
    ([X509, X509, X509, X509], Ok(("x509", "x509"))),
    // A party with both shows the credential if the other accepts it.
    ([BOTH, BOTH, BOTH, BOTH], Ok(("vc", "vc"))),
    ([BOTH, X509, BOTH, X509], Ok(("x509", "x509"))),
    ([BOTH, VC, BOTH, VC], Ok(("vc", "vc"))),
    ([X509, BOTH, X509, BOTH], Ok(("x509", "x509"))),
    ([VC, BOTH, VC, BOTH], Ok(("vc", "vc"))),
    // Nothing in common.
    ([X509, VC, NONE, NONE], Err(Alert::UnsupportedCertificate)),
    ([VC, X509, NONE, NONE], Err(Alert::HandshakeFailure)),
    ([X509, X509, VC, X509], Err(Alert::UnsupportedCertificate)),
    ([X509, X509, X509, VC], Err(Alert::HandshakeFailure)),
    ([VC, VC, NONE, VC], Err(Alert::UnsupportedCertificate)),
    ([VC, VC, NONE, X509], Err(Alert::CertificateRequired)),
];

fn assert_cases(groups: &[Group]) {
    let world = World::new();
    for (case, expected) in CASES {
        let [server_shows, client_takes, client_shows, server_takes] = case;
        let of_server = world.policy(world.authority.server(), &world.server, client_takes);
        let of_client = world.policy(world.authority.clients(), &world.client, server_takes);
        let clients = match server_takes {
            NONE => ClientAuth::None,
            _ => ClientAuth::Required(of_client),
        };
        let own = world.identities(&world.client, client_shows);
        let mut one = client(speaking(own), of_server);
        let own = world.identities(&world.server, server_shows);
        let common = Config {
            groups: groups.to_vec(),
            ..speaking(own)
        };
        let mut other = server(common, clients);
        let ends = drive(&mut one, &mut other, &Registry::default());
        match expected {
            Ok(kinds) => {
                assert_eq!(ends, Ends::default(), "{case:?}");
                assert_eq!((kind(&one), kind(&other)), kinds, "{case:?}");
                assert_talk(&mut one, &mut other);
            }
            Err(alert) => assert_eq!(server_refused(ends), alert, "{case:?}"),
        }
    }
}

#[test]
fn every_pair_of_what_is_shown_and_taken_agrees_or_fails_as_it_should() {
    assert_cases(&[Group::X25519]);
}

#[test]
fn a_second_hello_says_the_same_of_types() {
    assert_cases(&[Group::SECP256R1]);
}

#[test]
fn a_client_without_a_fitting_did_is_anonymous_where_it_may_be() {
    let world = World::new();
    let web = Subject::new("did:web:client.example");
    let mut one = client(
        speaking(ssi(world.identity(&web))),
        only(world.expecting(&world.server)),
    );
    let clients = IdentityPolicy {
        methods: vec!["key".to_owned()],
        ..world.expecting(&world.client)
    };
    let own = ssi(world.identity(&world.server));
    let mut other = server(speaking(own), ClientAuth::Optional(only(clients)));
    let ends = drive(&mut one, &mut other, &Registry::default());
    assert_eq!(ends, Ends::default());
    assert_eq!(kind(&other), "anonymous");
}

#[test]
fn the_draft_knows_no_bare_dids_and_one_format() {
    let world = World::new();
    let refused = |common: Config, policy: PeerPolicy| ClientConfig::new(common, policy).err();
    let bare = only(trust_did(&world.server));
    let nobody = || speaking(Identities::default());
    assert_eq!(refused(nobody(), bare), Some(ConfigError::Policy));
    let without_vc = speaking(ssi(world.client.as_did()));
    let taken = || only(world.expecting(&world.server));
    assert_eq!(refused(without_vc, taken()), Some(ConfigError::Format));
    let paper = speaking(ssi(world.client.as_holder(&world.issuer)));
    assert_eq!(refused(paper, taken()), Some(ConfigError::Format));
    let only_jwt = only(IdentityPolicy {
        formats: vec![VcFormat::VC_JWT],
        ..world.expecting(&world.server)
    });
    assert_eq!(refused(nobody(), only_jwt), Some(ConfigError::Format));
}

#[test]
fn who_shows_the_credential_of_another_is_refused() {
    let world = World::new();
    let thief = SsiIdentity {
        key: world.client.key.clone(),
        ..world.identity(&world.server)
    };
    let taken = only(world.expecting(&world.server));
    let mut one = client(speaking(Identities::default()), taken);
    let mut other = server(speaking(ssi(thief)), ClientAuth::None);
    let ends = drive(&mut one, &mut other, &Registry::default());
    assert_eq!(client_refused(ends), Alert::DecryptError);
}

/// A client in the state where it awaits the server's choice; it accepts credentials, and can show one.
fn awaiting(world: &World) -> (Connection, Puppet) {
    let own = speaking(world.identities(&world.client, VC));
    let mut client = client(own, only(world.expecting(&world.server)));
    let mut puppet = Puppet::server(&mut client);
    puppet.speak(&DRAFT);
    (client, puppet)
}

/// The alert for the last of these messages; those before it are accepted.
fn refused(world: &World, messages: &[Message]) -> Alert {
    let (mut client, mut puppet) = awaiting(world);
    let (last, before) = messages.split_last().unwrap();
    for message in before {
        puppet.send(&mut client, message).unwrap();
    }
    match puppet.send(&mut client, last) {
        Err(Error::Refused(refusal)) => refusal.alert,
        other => panic!("not refused: {other:?}"),
    }
}

fn chosen(extensions: Vec<Extension>) -> Message {
    Message::EncryptedExtensions(Extensions(extensions))
}

fn shown(entries: &[&[u8]]) -> Message {
    let entry = |data: &&[u8]| CertificateEntry {
        data: data.to_vec(),
        extensions: Extensions::default(),
    };
    Message::Certificate(CertificateChain {
        context: Vec::new(),
        entries: entries.iter().map(entry).collect(),
    })
}

fn asking(extensions: Vec<Extension>) -> Message {
    Message::CertificateRequest(CertificateRequest {
        context: Vec::new(),
        extensions: Extensions(extensions),
    })
}

#[test]
fn a_choice_that_was_not_offered_is_refused() {
    let world = World::new();
    let alert = |extension| refused(&world, &[chosen(vec![extension])]);
    assert_eq!(alert(Extension::ServerType(0)), Alert::IllegalParameter);
    assert_eq!(alert(Extension::ServerType(2)), Alert::IllegalParameter);
    assert_eq!(alert(Extension::ClientType(0)), Alert::IllegalParameter);
    let methods = Extension::DidMethods(vec![224]);
    assert_eq!(alert(methods), Alert::UnsupportedExtension);

    // A client that offers no certificate type must not get one.
    let authority = Authority::new();
    for extension in [Extension::ServerType(224), Extension::ClientType(224)] {
        let common = speaking(Identities::default());
        let mut plain = client(common, authority.server());
        let mut puppet = Puppet::server(&mut plain);
        puppet.speak(&DRAFT);
        let got = puppet.send(&mut plain, &chosen(vec![extension]));
        let Err(Error::Refused(refusal)) = got else {
            panic!("not refused: {got:?}")
        };
        assert_eq!(refusal.alert, Alert::UnsupportedExtension);
    }
}

#[test]
fn a_request_for_a_credential_names_methods_that_were_offered() {
    let world = World::new();
    let choice = || chosen(vec![Extension::ServerType(224), Extension::ClientType(224)]);
    let schemes = || Extension::Schemes(vec![Scheme::ED25519]);
    let alert = |extensions| refused(&world, &[choice(), asking(extensions)]);
    assert_eq!(alert(vec![schemes()]), Alert::MissingExtension);
    let methods = |codes: &[u16]| Extension::DidMethods(codes.to_vec());
    assert_eq!(alert(vec![methods(&[224])]), Alert::MissingExtension);
    let foreign = vec![schemes(), methods(&[224, 227])];
    assert_eq!(alert(foreign), Alert::IllegalParameter);
    assert_eq!(alert(vec![schemes(), methods(&[])]), Alert::DecodeError);
    let (mut client, mut puppet) = awaiting(&world);
    puppet.send(&mut client, &choice()).unwrap();
    let good = asking(vec![schemes(), methods(&[224])]);
    assert_eq!(puppet.send(&mut client, &good), Ok(()));
}

#[test]
fn a_certificate_of_the_type_holds_one_credential() {
    let world = World::new();
    let choice = || chosen(vec![Extension::ServerType(224)]);
    let vc = world.vc(&world.server).bytes;
    let alert = |message| refused(&world, &[choice(), message]);
    assert_eq!(alert(shown(&[])), Alert::DecodeError);
    assert_eq!(alert(shown(&[&vc, &vc])), Alert::DecodeError);
    assert_eq!(alert(shown(&[b"x"])), Alert::BadCertificate);
    // If no type is chosen, it is read as an X.509 certificate, which this client does not accept.
    let unchosen = refused(&world, &[chosen(vec![]), shown(&[&vc])]);
    assert_eq!(unchosen, Alert::InsufficientSecurity);
    // The proof is a CertificateVerify over the draft's strings; this profile does not have the paper's messages.
    let (mut client, mut puppet) = awaiting(&world);
    puppet.send(&mut client, &choice()).unwrap();
    puppet.send(&mut client, &shown(&[&vc])).unwrap();
    let proof = puppet.proof(&world.server.key, Mode::Certificate);
    let proof = Message::CertificateVerify(proof);
    assert_eq!(puppet.send(&mut client, &proof), Ok(()));
    for kind in 224..=231_u8 {
        let parsed = Message::parse(&[kind, 0, 0, 0], &DRAFT);
        assert_eq!(parsed.unwrap_err().alert, Alert::UnexpectedMessage);
    }
    assert!(
        Message::Vc(world.vc(&world.server).into())
            .write(&DRAFT)
            .is_err()
    );
}

#[test]
fn a_hello_that_takes_credentials_names_did_methods() {
    let world = World::new();
    let alert = |extensions| {
        let own = speaking(world.identities(&world.server, BOTH));
        let mut server = server(own, ClientAuth::None);
        Puppet::client_speaking(&DRAFT, &mut server, extensions)
            .map(|_| ())
            .map_err(|error| match error {
                Error::Refused(refusal) => refusal.alert,
                other => panic!("not refused: {other:?}"),
            })
    };
    let types = |types: &[u8]| Extension::ServerTypes(types.to_vec());
    let methods = || Extension::DidMethods(vec![224]);
    assert_eq!(alert(vec![types(&[224])]), Err(Alert::MissingExtension));
    assert_eq!(alert(vec![types(&[224]), methods()]), Ok(()));
    assert_eq!(alert(vec![types(&[9])]), Err(Alert::UnsupportedCertificate));
    assert_eq!(alert(vec![types(&[9, 0])]), Ok(()));
    assert_eq!(alert(vec![types(&[])]), Err(Alert::DecodeError));
    assert_eq!(alert(Vec::new()), Ok(()));
}
