//! The ten cells: server by certificate, credential or DID, client by nothing, certificate, credential or DID, each
//! with and without a second hello, and the fallbacks.

use selfsame_crypto::ctx::Ctx;
use selfsame_did::Did;

use super::ssi::{
    METHODS, Registry, Subject, client_refused, drive, only, server_refused, ssi, trust_did,
    trust_vc, trusted,
};
use crate::codec::Mode;
use crate::evidence::HandshakeNeed;
use crate::identity::{ExpectedPeer, Identities, IdentityPolicy, PeerKind, PeerPolicy};
use crate::profile::SELFSAME;
use crate::testing::{Authority, Ends, NOW, assert_talk, client, ctx, join, server};
use crate::{Alert, ClientAuth, Config, Connection, Group};

/// Both parties with every kind of identity.
struct World {
    authority: Authority,
    issuer: Subject,
    server: Subject,
    client: Subject,
    server_chain: Identities,
    client_chain: Identities,
}

impl World {
    fn new(kind: &'static rcgen::SignatureAlgorithm) -> Self {
        let authority = Authority::new();
        Self {
            issuer: Subject::of_kind("did:web:issuer.example", kind),
            server: Subject::of_kind("did:web:server.example", kind),
            client: Subject::of_kind("did:web:client.example", kind),
            server_chain: authority.leaf(&rcgen::PKCS_ED25519).identities(),
            client_chain: authority.leaf(&rcgen::PKCS_ED25519).identities(),
            authority,
        }
    }

    fn registry(&self) -> Registry {
        Registry::of(&[&self.server, &self.client])
    }

    fn identities(&self, chain: &Identities, subject: &Subject, mode: Option<Mode>) -> Identities {
        match mode {
            None => Identities::default(),
            Some(Mode::Certificate) => chain.clone(),
            Some(Mode::Did) => ssi(subject.as_did()),
            Some(Mode::Vc) => ssi(subject.as_holder(&self.issuer)),
        }
    }

    fn policy(&self, certificates: PeerPolicy, subject: &Subject, mode: Mode) -> PeerPolicy {
        match mode {
            Mode::Certificate => certificates,
            Mode::Did => only(trust_did(subject)),
            Mode::Vc => only(trust_vc(subject, &self.issuer)),
        }
    }

    /// The two ends of a cell.
    fn cell(&self, (by_server, by_client): Cell, common: &Config) -> (Connection, Connection) {
        let expected = self.policy(self.authority.server(), &self.server, by_server);
        let clients = match by_client {
            None => ClientAuth::None,
            Some(mode) => {
                ClientAuth::Required(self.policy(self.authority.clients(), &self.client, mode))
            }
        };
        let identities = self.identities(&self.client_chain, &self.client, by_client);
        let client = client(
            Config {
                identities,
                profile: common.profile,
                ..Config::default()
            },
            expected,
        );
        let identities = self.identities(&self.server_chain, &self.server, Some(by_server));
        let common = Config {
            identities,
            ..common.clone()
        };
        (client, server(common, clients))
    }
}

type Cell = (Mode, Option<Mode>);

const CELLS: [Cell; 10] = [
    (Mode::Certificate, None),
    (Mode::Certificate, Some(Mode::Certificate)),
    (Mode::Certificate, Some(Mode::Vc)),
    (Mode::Certificate, Some(Mode::Did)),
    (Mode::Vc, None),
    (Mode::Vc, Some(Mode::Certificate)),
    (Mode::Vc, Some(Mode::Vc)),
    (Mode::Did, None),
    (Mode::Did, Some(Mode::Certificate)),
    (Mode::Did, Some(Mode::Did)),
];

fn mode_of(connection: &Connection) -> Option<Mode> {
    let peer = connection.peer().unwrap();
    assert!(
        peer.verdict
            .rules
            .iter()
            .all(|rule| rule.passed == Some(true))
    );
    match &peer.kind {
        PeerKind::Anonymous => None,
        PeerKind::Certificate(_) => Some(Mode::Certificate),
        PeerKind::Did(_) => Some(Mode::Did),
        PeerKind::Credential(_) => Some(Mode::Vc),
    }
}

fn assert_cells(kind: &'static rcgen::SignatureAlgorithm, common: &Config) {
    let world = World::new(kind);
    for cell in CELLS {
        let (mut client, mut server) = world.cell(cell, common);
        let ends = drive(&mut client, &mut server, &world.registry());
        assert_eq!(ends, Ends::default(), "{cell:?}");
        assert_talk(&mut client, &mut server);
        assert_eq!((mode_of(&client), mode_of(&server)), (Some(cell.0), cell.1));
        if cell == (Mode::Vc, Some(Mode::Vc)) {
            let PeerKind::Credential(credential) = &server.peer().unwrap().kind else {
                panic!("no credential")
            };
            let named = (&credential.subject, &credential.issuer);
            assert_eq!(named, (&world.client.did, &world.issuer.did));
        }
    }
}

#[test]
fn all_ten_cells_go_through_with_each_kind_of_key() {
    for kind in [
        &rcgen::PKCS_ED25519,
        &rcgen::PKCS_ECDSA_P256_SHA256,
        &rcgen::PKCS_RSA_SHA256,
    ] {
        assert_cells(kind, &Config::default());
    }
}

#[test]
fn all_ten_cells_go_through_after_a_second_hello() {
    let common = Config {
        groups: vec![Group::SECP256R1],
        ..Config::default()
    };
    assert_cells(&rcgen::PKCS_ED25519, &common);
}

#[test]
fn all_ten_cells_go_through_in_our_own_profile() {
    for groups in [vec![Group::X25519], vec![Group::SECP256R1]] {
        let common = Config {
            profile: &SELFSAME,
            groups,
            ..Config::default()
        };
        assert_cells(&rcgen::PKCS_ED25519, &common);
    }
}

#[test]
fn a_did_that_holds_its_key_needs_no_evidence() {
    let plain = Subject::new("did:web:placeholder.example");
    let subject = Subject {
        did: selfsame_did::key::create(&plain.public),
        ..plain
    };
    let mut client = client(Config::default(), only(trust_did(&subject)));
    let common = Config {
        identities: ssi(subject.as_did()),
        ..Config::default()
    };
    let mut server = server(common, ClientAuth::None);
    assert_eq!(join(&mut client, &mut server), Ends::default());
    assert!(client.needs().is_empty());
    assert_talk(&mut client, &mut server);
    assert_eq!(client.peer().unwrap().kind, PeerKind::Did(subject.did));
}

#[test]
fn the_one_did_a_client_expects_is_asked_for_while_the_server_is_still_at_work() {
    let world = World::new(&rcgen::PKCS_ED25519);
    let wanted = HandshakeNeed::Did(world.server.did.clone());
    for policy in [
        trust_did(&world.server),
        trust_vc(&world.server, &world.issuer),
    ] {
        let shown = match policy.mode {
            Mode::Vc => world.server.as_holder(&world.issuer),
            _ => world.server.as_did(),
        };
        let mut client = client(Config::default(), only(policy));
        assert_eq!(client.needs(), std::slice::from_ref(&wanted));
        // Nothing waits for the evidence yet, so the limit does not apply.
        let much_later = Ctx::new(NOW.plus(3_600), [0; 32]);
        assert_eq!(client.check_patience(&much_later), Ok(()));
        let evidence = world.registry().evidence(client.needs());
        client.provide(&evidence, &ctx()).unwrap();
        assert!(client.needs().is_empty());
        let common = Config {
            identities: ssi(shown),
            ..Config::default()
        };
        let mut server = server(common, ClientAuth::None);
        assert_eq!(join(&mut client, &mut server), Ends::default());
        assert_talk(&mut client, &mut server);
    }
}

#[test]
fn a_client_that_may_meet_several_or_somebody_with_a_certificate_asks_once_it_knows_whom() {
    let world = World::new(&rcgen::PKCS_ED25519);
    let several = [world.server.did.clone(), world.client.did.clone()];
    let several = only(IdentityPolicy::of_dids(METHODS, several));
    let either = PeerPolicy {
        identities: Some(trust_did(&world.server)),
        ..world.authority.server()
    };
    let issuers = vec![trusted(&world.issuer)];
    let vouched = ExpectedPeer::Claim {
        name: "dns".to_owned(),
        value: "server.example".to_owned(),
    };
    let mut vouched = IdentityPolicy::of_credentials(METHODS, issuers, vouched);
    for issuer in &mut vouched.issuers {
        issuer.claims.push("dns".to_owned());
    }
    for policy in [several, either, only(vouched)] {
        assert!(client(Config::default(), policy).needs().is_empty());
    }
}

#[test]
fn a_server_without_an_identity_of_the_kind_falls_back_to_its_certificate() {
    let world = World::new(&rcgen::PKCS_ED25519);
    let both = |identities: IdentityPolicy| PeerPolicy {
        identities: Some(identities),
        ..world.authority.server()
    };
    let foreign = Identities {
        ssi: Some(Subject::new("did:cheqd:mainnet:4de98f61-53e6-4c21-8d1f-c0ae5a2a1d9c").as_did()),
        ..world.server_chain.clone()
    };
    let without_vc = Identities {
        ssi: Some(world.server.as_did()),
        ..world.server_chain.clone()
    };
    for (identities, policy) in [
        (world.server_chain.clone(), trust_did(&world.server)),
        (foreign, trust_did(&world.server)),
        (without_vc, trust_vc(&world.server, &world.issuer)),
    ] {
        let mut one = client(Config::default(), both(policy.clone()));
        let common = Config {
            identities: identities.clone(),
            ..Config::default()
        };
        let mut other = server(common.clone(), ClientAuth::None);
        let ends = drive(&mut one, &mut other, &world.registry());
        assert_eq!(ends, Ends::default());
        assert_eq!(mode_of(&one), Some(Mode::Certificate));

        // A client that requires an identity accepts no certificate.
        let mut one = client(Config::default(), only(policy));
        let mut other = server(common, ClientAuth::None);
        let ends = drive(&mut one, &mut other, &world.registry());
        assert_eq!(client_refused(ends), Alert::InsufficientSecurity);
    }
}

#[test]
fn a_server_that_has_only_a_did_refuses_who_does_not_know_dids() {
    let world = World::new(&rcgen::PKCS_ED25519);
    let mut client = client(Config::default(), world.authority.server());
    let common = Config {
        identities: ssi(world.server.as_did()),
        ..Config::default()
    };
    let mut server = server(common, ClientAuth::None);
    let ends = drive(&mut client, &mut server, &world.registry());
    assert_eq!(server_refused(ends), Alert::HandshakeFailure);
}

#[test]
fn a_server_asks_for_a_certificate_where_it_cannot_ask_for_a_did() {
    let world = World::new(&rcgen::PKCS_ED25519);
    let clients = PeerPolicy {
        identities: Some(trust_did(&world.client)),
        ..world.authority.clients()
    };
    let common = Config {
        identities: world.server_chain.clone(),
        ..Config::default()
    };
    let own = Config {
        identities: world.client_chain.clone(),
        ..Config::default()
    };
    let mut client = client(own, world.authority.server());
    let mut server = server(common, ClientAuth::Required(clients));
    assert_eq!(
        drive(&mut client, &mut server, &world.registry()),
        Ends::default()
    );
    assert_eq!(mode_of(&server), Some(Mode::Certificate));
}

#[test]
fn every_holder_an_issuer_vouches_for_is_let_in_if_the_server_says_so() {
    let world = World::new(&rcgen::PKCS_ED25519);
    let vouched = IdentityPolicy::of_credentials(
        METHODS,
        vec![trusted(&world.issuer)],
        ExpectedPeer::Vouched,
    );
    let own = Config {
        identities: ssi(world.client.as_holder(&world.issuer)),
        ..Config::default()
    };
    let mut one = client(own, only(trust_vc(&world.server, &world.issuer)));
    let common = Config {
        identities: ssi(world.server.as_holder(&world.issuer)),
        ..Config::default()
    };
    let mut other = server(common, ClientAuth::Required(only(vouched.clone())));
    assert_eq!(
        drive(&mut one, &mut other, &world.registry()),
        Ends::default()
    );
    assert_eq!(mode_of(&other), Some(Mode::Vc));
    // A client with only this expectation would accept each holder as its server.
    assert!(crate::ClientConfig::new(Config::default(), only(vouched)).is_err());
}

#[test]
fn a_policy_that_no_peer_can_meet_is_refused() {
    let refused = |policy| crate::ClientConfig::new(Config::default(), only(policy)).is_err();
    let issuer = Subject::new("did:web:issuer.example");
    let no_did: [Did; 0] = [];
    assert!(refused(IdentityPolicy::of_dids(METHODS, no_did)));
    assert!(refused(IdentityPolicy::of_dids(&[], [issuer.did.clone()])));
    assert!(refused(IdentityPolicy::of_dids(
        &["unheard"],
        [issuer.did.clone()]
    )));
    let expected = ExpectedPeer::Dids([issuer.did.clone()].into());
    assert!(refused(IdentityPolicy::of_credentials(
        METHODS,
        Vec::new(),
        expected
    )));
}

#[test]
fn both_profiles_speak_with_themselves_and_not_with_each_other() {
    use crate::profile::LINKS;
    let issuer = Subject::new("did:web:issuer.example");
    let subject = Subject::new("did:ott:00112233445566778899aabbccddeeff");
    let policy = |profile| {
        let expected = ExpectedPeer::Dids([subject.did.clone()].into());
        let methods: &[&str] = if profile == &LINKS { &["ott"] } else { METHODS };
        only(IdentityPolicy::of_credentials(
            methods,
            vec![trusted(&issuer)],
            expected,
        ))
    };
    let common = Config {
        profile: &LINKS,
        identities: ssi(subject.as_holder(&issuer)),
        ..Config::default()
    };
    let links = Config {
        profile: &LINKS,
        ..Config::default()
    };
    let registry = Registry::of(&[&subject]);
    let mut one = client(links, policy(&LINKS));
    let mut other = server(common.clone(), ClientAuth::None);
    assert_eq!(drive(&mut one, &mut other, &registry), Ends::default());
    assert_talk(&mut one, &mut other);

    let mut one = client(Config::default(), policy(&crate::profile::PAPER));
    let mut other = server(common, ClientAuth::None);
    let ends = drive(&mut one, &mut other, &registry);
    assert_eq!(server_refused(ends), Alert::HandshakeFailure);
}
