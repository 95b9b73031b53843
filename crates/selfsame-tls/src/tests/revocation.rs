//! Revocation of what a peer shows: status lists of credentials, the issuer's current keys, revocation lists.

use std::sync::Arc;

use selfsame_credential::status::{Bits, List, Terms, Width, token_list};
use selfsame_crypto::hash::sha256;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Relationship, Representation, Resolution, key};
use serde_json::{Map, json};

use super::network::Network;
use super::ssi::{Subject, client_refused, fetched, method, only, server_refused, ssi, trusted};
use crate::codec::{Staple, Vc};
use crate::evidence::{Crl, Failure, Found, HandshakeEvidence, HandshakeNeed, NeedAnswer, Source};
use crate::identity::{
    CertificatePolicy, CoseStatus, CoseSubject, CoseVc, CrlPolicy, ExpectedPeer, IdentityPolicy,
    PeerPolicy, SsiIdentity, StaplePolicy, StatusPolicy, TrustedIssuer, staple,
};
use crate::profile::SELFSAME;
use crate::testing::{Authority, Ends, Leaf, NAME, NOW, assert_talk, client, ctx, join, server};
use crate::{Alert, ClientAuth, Config, Connection, Scheme};

pub(super) const URI: &str = "https://issuer.example/status/1";
const INDEX: u64 = 7;

/// An issuer, a holder with a did:key, and the status of the holder's credential.
pub(super) struct World {
    pub(super) issuer: Subject,
    pub(super) holder: Subject,
}

/// How a list is made.
#[derive(Clone)]
pub(super) struct Made {
    pub(super) status: u8,
    issued: UnixTime,
    ttl: Option<u64>,
    until: Option<UnixTime>,
    by: Subject,
    named: Did,
}

impl World {
    pub(super) fn new() -> Self {
        let holder = Subject::new("did:web:placeholder.example");
        Self {
            issuer: Subject::new("did:web:issuer.example"),
            holder: Subject {
                did: key::create(&holder.public),
                ..holder
            },
        }
    }

    pub(super) fn made(&self, status: u8) -> Made {
        Made {
            status,
            issued: NOW.minus(10),
            ttl: None,
            until: None,
            by: self.issuer.clone(),
            named: self.issuer.did.clone(),
        }
    }

    fn vc(&self, status: Option<CoseStatus>) -> Vc {
        let credential = CoseVc {
            subject: CoseSubject::Did(self.holder.did.clone()),
            not_before: Some(NOW.minus(60)),
            expires: NOW.plus(3600),
            types: Vec::new(),
            claims: Map::new(),
            status,
        };
        let draft = credential.draft(&self.issuer.public).unwrap();
        let signature = self
            .issuer
            .key
            .sign(Scheme::ED25519, &draft.signing_bytes());
        Vc::compact(draft.finish(&signature.unwrap()))
    }

    pub(super) fn shown(&self, staples: Vec<Staple>) -> SsiIdentity {
        let listed = CoseStatus::List {
            index: INDEX,
            uri: URI.to_owned(),
        };
        SsiIdentity {
            vc: Some(self.vc(Some(listed))),
            staples: staples.into(),
            ..self.holder.as_did()
        }
    }

    fn policy(&self) -> IdentityPolicy {
        self.policy_by(trusted(&self.issuer))
    }

    pub(super) fn policy_by(&self, issuer: TrustedIssuer) -> IdentityPolicy {
        let expected = ExpectedPeer::Dids([self.holder.did.clone()].into());
        IdentityPolicy::of_credentials(&["key"], vec![issuer], expected)
    }

    /// A client with this policy that has received all the server sends.
    fn met(&self, policy: IdentityPolicy, shown: SsiIdentity) -> (Connection, Connection, Ends) {
        let mut client = client(common(None), only(policy));
        let mut server = server(common(Some(shown)), ClientAuth::None);
        let ends = join(&mut client, &mut server);
        (client, server, ends)
    }

    /// The result of a client with this policy for this list.
    fn with_list(&self, policy: IdentityPolicy, found: Found<Arc<List>>) -> Result<(), Alert> {
        let (mut client, mut server, ends) = self.met(policy, self.shown(Vec::new()));
        assert_eq!(ends, Ends::default());
        assert_eq!(client.needs(), [HandshakeNeed::StatusList(URI.to_owned())]);
        let evidence = HandshakeEvidence::from(NeedAnswer::StatusList(URI.to_owned(), found));
        let provided = client.provide(&evidence, &ctx());
        concluded(&mut client, &mut server, provided.err())
    }
}

/// An accepted peer can exchange data; a refused peer got the alert and no data.
fn concluded(
    client: &mut Connection,
    server: &mut Connection,
    error: Option<crate::Error>,
) -> Result<(), Alert> {
    let mut ends = join(client, server);
    ends.client = error.or(ends.client);
    if ends == Ends::default() {
        assert_talk(client, server);
        return Ok(());
    }
    assert!(!client.is_open() && client.peer().is_none());
    assert!(server.take_incoming().is_empty());
    Err(client_refused(ends))
}

fn common(identity: Option<SsiIdentity>) -> Config {
    Config {
        profile: &SELFSAME,
        identities: identity.map(ssi).unwrap_or_default(),
        ..Config::default()
    }
}

fn bits(status: u8) -> Bits {
    let mut bits = Bits::new(Width::Two, 1000).unwrap();
    bits.set(INDEX, status).unwrap();
    bits
}

fn token(made: &Made) -> String {
    let header = json!({"alg": "EdDSA", "kid": method(&made.by)});
    let terms = Terms {
        uri: URI,
        issuer: made.named.as_str(),
        header: header.as_object().unwrap(),
        issued_at: made.issued,
        expires_at: made.until,
        ttl: made.ttl,
    };
    let unsigned = token_list::encode(&bits(made.status), &terms).unwrap();
    let signature = made.by.key.sign(Scheme::ED25519, unsigned.signing_input());
    unsigned.finish(&signature.unwrap())
}

pub(super) fn listed(made: &Made) -> Found<Arc<List>> {
    let list = List::parse(URI, None, token(made).as_bytes(), made.issued).unwrap();
    Found::new(Arc::new(list), NOW.minus(10), Source::Signature)
}

#[test]
fn a_credential_is_let_in_while_its_list_says_it_is_valid_and_no_longer() {
    let world = World::new();
    let judged = |status| world.with_list(world.policy(), listed(&world.made(status)));
    assert_eq!(judged(0), Ok(()));
    assert_eq!(judged(1), Err(Alert::CertificateRevoked));
    assert_eq!(judged(2), Err(Alert::CertificateRevoked));
    assert_eq!(judged(3), Err(Alert::CertificateUnknown));
}

#[test]
fn the_verdict_says_how_old_the_list_is_and_whose() {
    let world = World::new();
    let (mut client, mut server, _) = world.met(world.policy(), world.shown(Vec::new()));
    let answer = NeedAnswer::StatusList(URI.to_owned(), listed(&world.made(0)));
    client.provide(&answer.into(), &ctx()).unwrap();
    assert_eq!(concluded(&mut client, &mut server, None), Ok(()));
    let peer = client.peer().unwrap();
    let ground = peer.grounds[0];
    assert_eq!((ground.rule, ground.source), ("status", Source::Signature));
    assert_eq!(ground.as_of, NOW.minus(10));
    assert_eq!(peer.verdict.as_of, Some(NOW.minus(10).0));
    // The peer may resume as long as the list is fresh.
    assert_eq!(peer.until, Some(NOW.minus(10).plus(900)));
}

#[test]
fn a_list_that_is_missing_too_old_or_not_by_the_issuer_lets_no_peer_in() {
    let world = World::new();
    let unknown = Err(Alert::CertificateUnknown);
    for failure in [Failure::Unavailable, Failure::TimedOut] {
        let found = Found::failed(failure, NOW);
        assert_eq!(world.with_list(world.policy(), found), unknown);
    }
    let old = Found {
        as_of: NOW.minus(901),
        ..listed(&world.made(0))
    };
    assert_eq!(world.with_list(world.policy(), old.clone()), unknown);
    let mut patient = world.policy();
    patient.status.max_age = 901;
    assert_eq!(world.with_list(patient.clone(), old.clone()), Ok(()));
    // The list's own limits apply in addition to the policy's.
    let over = Made {
        ttl: Some(840),
        ..world.made(0)
    };
    let over = Found {
        as_of: NOW.minus(901),
        ..listed(&over)
    };
    assert_eq!(world.with_list(patient, over), unknown);
    let expired = Made {
        issued: NOW.minus(500),
        until: Some(NOW.minus(100)),
        ..world.made(0)
    };
    assert_eq!(world.with_list(world.policy(), listed(&expired)), unknown);
    let mallory = Subject::new("did:web:mallory.example");
    for (by, named) in [
        (&mallory, &world.issuer),
        (&world.issuer, &mallory),
        (&mallory, &mallory),
    ] {
        let foreign = Made {
            by: by.clone(),
            named: named.did.clone(),
            ..world.made(0)
        };
        assert_eq!(world.with_list(world.policy(), listed(&foreign)), unknown);
    }
}

#[test]
fn a_list_that_never_comes_is_waited_for_within_limits() {
    let world = World::new();
    let (mut client, mut server, _) = world.met(world.policy(), world.shown(Vec::new()));
    assert!(client.check_patience(&ctx()).is_ok());
    let later = selfsame_crypto::ctx::Ctx::new(NOW.plus(10), [1; 32]);
    let given_up = client.check_patience(&later).err();
    let unknown = Err(Alert::CertificateUnknown);
    assert_eq!(concluded(&mut client, &mut server, given_up), unknown);
}

#[test]
fn a_credential_without_a_status_is_refused_where_one_is_asked_for() {
    let world = World::new();
    let shown = SsiIdentity {
        vc: Some(world.vc(None)),
        ..world.holder.as_did()
    };
    let (mut client, mut server, ends) = world.met(world.policy(), shown.clone());
    assert_eq!(ends, Ends::default());
    assert_talk(&mut client, &mut server);
    let strict = IdentityPolicy {
        status: StatusPolicy {
            required: true,
            ..StatusPolicy::default()
        },
        ..world.policy()
    };
    let (_, _, ends) = world.met(strict, shown);
    assert_eq!(client_refused(ends), Alert::CertificateUnknown);
}

#[test]
fn a_client_whose_credential_is_revoked_is_refused_by_the_server() {
    let world = World::new();
    let host = World::new();
    let plain = SsiIdentity {
        vc: Some(host.vc(None)),
        ..host.holder.as_did()
    };
    let mut client = client(common(Some(world.shown(Vec::new()))), only(host.policy()));
    let mut server = server(
        common(Some(plain)),
        ClientAuth::Required(only(world.policy())),
    );
    assert_eq!(join(&mut client, &mut server), Ends::default());
    client.send(b"early").unwrap();
    let answer = NeedAnswer::StatusList(URI.to_owned(), listed(&world.made(1)));
    let refused = server.provide(&answer.into(), &ctx()).err();
    assert!(!server.is_open() && server.take_incoming().is_empty());
    let mut ends = join(&mut client, &mut server);
    ends.server = refused;
    assert_eq!(server_refused(ends), Alert::CertificateRevoked);
}

/// A policy that reads stapled status lists, and staples of this network's state.
fn stapled(world: &World, network: &Network, required: bool) -> IdentityPolicy {
    let staples = StaplePolicy {
        required,
        ..StaplePolicy::new(network.ledger())
    };
    world.policy().with_staples(staples)
}

fn list_staple(made: &Made) -> Staple {
    staple::status_list(URI, token(made).as_bytes()).unwrap()
}

#[test]
fn a_stapled_list_is_not_fetched_and_a_bad_one_does_not_count() {
    let (world, network) = (World::new(), Network::new());
    let met = |made: &Made| {
        let policy = stapled(&world, &network, false);
        let (mut client, mut server, ends) =
            world.met(policy, world.shown(vec![list_staple(made)]));
        let needs = client.needs().to_vec();
        let concluded = match (needs.is_empty(), ends == Ends::default()) {
            (true, true) => {
                assert_talk(&mut client, &mut server);
                Ok(())
            }
            (true, false) => Err(client_refused(ends)),
            (false, _) => Ok(()),
        };
        (concluded, !needs.is_empty())
    };
    assert_eq!(met(&world.made(0)), (Ok(()), false));
    assert_eq!(met(&world.made(1)).0, Err(Alert::CertificateRevoked));
    assert_eq!(met(&world.made(2)).0, Err(Alert::CertificateRevoked));
    // If the list is old or not valid now, the issuer is asked.
    let old = Made {
        issued: NOW.minus(901),
        ..world.made(0)
    };
    assert_eq!(met(&old), (Ok(()), true));
    let expired = Made {
        issued: NOW.minus(500),
        until: Some(NOW.minus(100)),
        ..world.made(0)
    };
    assert_eq!(met(&expired), (Ok(()), true));
    let forged = Made {
        by: Subject::new("did:web:mallory.example"),
        ..world.made(0)
    };
    assert_eq!(met(&forged).0, Err(Alert::BadCertificateStatusResponse));
}

#[test]
fn every_flipped_bit_of_a_stapled_list_is_refused_or_the_list_is_asked_for() {
    let (world, network) = (World::new(), Network::new());
    let good = list_staple(&world.made(0));
    for byte in 0..good.body.len() {
        let mut bad = good.clone();
        bad.body[byte] ^= 1 << (byte % 8);
        let policy = stapled(&world, &network, false);
        let (client, _, ends) = world.met(policy, world.shown(vec![bad]));
        assert!(!client.is_open(), "byte {byte}");
        if client.needs().is_empty() {
            let alert = client_refused(ends);
            assert_eq!(alert, Alert::BadCertificateStatusResponse, "byte {byte}");
        }
    }
}

#[test]
fn a_list_that_its_issuer_anchored_last_is_as_fresh_as_the_checkpoint() {
    let mut network = Network::new();
    let (issuer, holder) = (network.citizen(), network.citizen());
    let world = World {
        issuer: issuer.subject.clone(),
        holder: holder.subject.clone(),
    };
    let mut trusted = trusted(&world.issuer);
    trusted.keys[0].0 = format!("{}#key-1", world.issuer.did);
    let expected = ExpectedPeer::Dids([world.holder.did.clone()].into());
    let policy = IdentityPolicy::of_credentials(&["selfsame"], vec![trusted], expected);
    // The list was issued long ago and has not changed since.
    let made = Made {
        issued: NOW.minus(80_000),
        ..world.made(0)
    };
    network.anchor(&issuer, URI, sha256(bits(0).as_bytes()));
    network.rest_until(NOW.minus(30));
    let staples = |network: &Network| {
        let anchors = vec![(world.issuer.did.clone(), URI.to_owned())];
        let mut staples = network.staples_with(&world.holder.did, anchors);
        staples.push(list_staple(&made));
        world.shown(staples)
    };
    let reads = |network: &Network| policy.clone().with_staples(network.required());
    let (mut client, mut server, ends) = world.met(reads(&network), staples(&network));
    assert_eq!(ends, Ends::default());
    assert_talk(&mut client, &mut server);
    let grounds = &client.peer().unwrap().grounds;
    assert!(
        grounds
            .iter()
            .all(|ground| ground.source == Source::Registry)
    );
    assert!(grounds.iter().all(|ground| ground.as_of == NOW.minus(30)));

    // The issuer has since published another list, which may change this credential's status.
    network.rest_until(NOW.minus(20));
    network.anchor(&issuer, URI, sha256(bits(1).as_bytes()));
    let (client, _, ends) = world.met(reads(&network), staples(&network));
    assert_eq!(ends, Ends::default());
    assert_eq!(client.needs(), [HandshakeNeed::StatusList(URI.to_owned())]);
}

#[test]
fn an_issuers_keys_are_those_its_did_has_now() {
    let world = World::new();
    let by_did = TrustedIssuer::new(world.issuer.did.clone(), Vec::new());
    let ask = |resolution: Option<Resolution>| {
        let (mut client, server, ends) =
            world.met(world.policy_by(by_did.clone()), world.shown(Vec::new()));
        assert_eq!(ends, Ends::default());
        // Nothing is fetched because of a credential until its issuer's signature is verified.
        assert_eq!(
            client.needs(),
            [HandshakeNeed::Did(world.issuer.did.clone())]
        );
        let found = match resolution {
            Some(resolution) => fetched(resolution),
            None => Found::failed(Failure::Unavailable, NOW),
        };
        let answer = NeedAnswer::Did(world.issuer.did.clone(), found);
        let error = client.provide(&answer.into(), &ctx()).err();
        (client, server, error)
    };
    let document = |subject: &Subject, relationship| {
        let document = subject.document_for(relationship);
        Resolution::found(document, Representation::default())
    };
    let good = document(&world.issuer, Relationship::AssertionMethod);
    let (mut client, mut server, error) = ask(Some(good.clone()));
    assert_eq!(error, None);
    assert_eq!(client.needs(), [HandshakeNeed::StatusList(URI.to_owned())]);
    let answer = NeedAnswer::StatusList(URI.to_owned(), listed(&world.made(0)));
    let error = client.provide(&answer.into(), &ctx()).err();
    assert_eq!(concluded(&mut client, &mut server, error), Ok(()));

    let refused = |resolution| {
        let (mut client, mut server, error) = ask(resolution);
        concluded(&mut client, &mut server, error)
    };
    assert_eq!(refused(None), Err(Alert::CertificateUnknown));
    // A key for another purpose, and a key from before a rotation.
    let other_use = document(&world.issuer, Relationship::Authentication);
    assert_eq!(refused(Some(other_use)), Err(Alert::UnknownCa));
    let rotated = Subject {
        did: world.issuer.did.clone(),
        ..Subject::new("did:web:placeholder.example")
    };
    let rotated = document(&rotated, Relationship::AssertionMethod);
    assert_eq!(refused(Some(rotated)), Err(Alert::UnknownCa));
    // A resolver that returns another DID's document.
    let mallory = Subject::new("did:web:mallory.example");
    let lie = document(&mallory, Relationship::AssertionMethod);
    assert_eq!(refused(Some(lie)), Err(Alert::CertificateUnknown));
    let gone = Resolution::deactivated(good.document_metadata);
    assert_eq!(refused(Some(gone)), Err(Alert::CertificateUnknown));
}

#[test]
fn a_holders_did_and_the_status_of_its_credential_are_asked_for_at_once() {
    let holder = Subject::new("did:web:holder.example");
    let world = World {
        holder: holder.clone(),
        ..World::new()
    };
    let policy = IdentityPolicy {
        methods: vec!["web".to_owned()],
        ..world.policy()
    };
    let (mut client, mut server, _) = world.met(policy, world.shown(Vec::new()));
    let wanted = [
        HandshakeNeed::Did(holder.did.clone()),
        HandshakeNeed::StatusList(URI.to_owned()),
    ];
    assert_eq!(client.needs(), wanted);
    // The answers arrive one after the other, in either order.
    let status = NeedAnswer::StatusList(URI.to_owned(), listed(&world.made(0)));
    client.provide(&status.into(), &ctx()).unwrap();
    assert_eq!(client.needs(), [HandshakeNeed::Did(holder.did.clone())]);
    assert!(!client.is_open());
    let did = NeedAnswer::Did(holder.did.clone(), fetched(holder.resolution()));
    client.provide(&did.into(), &ctx()).unwrap();
    assert_eq!(concluded(&mut client, &mut server, None), Ok(()));
}

#[test]
fn a_resolvers_word_counts_only_where_the_policy_says_so() {
    let holder = Subject::new("did:web:holder.example");
    for (takes_word, result) in [(true, Ok(())), (false, Err(Alert::CertificateUnknown))] {
        let policy = IdentityPolicy {
            takes_word,
            ..IdentityPolicy::of_dids(&["web"], [holder.did.clone()])
        };
        let mut client = client(common(None), only(policy));
        let mut server = server(common(Some(holder.as_did())), ClientAuth::None);
        assert_eq!(join(&mut client, &mut server), Ends::default());
        let told = Found::new(Arc::new(holder.resolution()), NOW, Source::Word);
        let answer = NeedAnswer::Did(holder.did.clone(), told);
        let error = client.provide(&answer.into(), &ctx()).err();
        assert_eq!(concluded(&mut client, &mut server, error), result);
    }
}

const CRL: &str = "http://ca.example/1.crl";

fn leaf(authority: &Authority) -> Leaf {
    authority.leaf_with(&rcgen::PKCS_ED25519, |params| {
        params.serial_number = Some(42.into());
    })
}

/// The result of a client with this policy for the server's certificate, given this answer about revocation.
fn with_crl(
    (authority, leaf): (&Authority, &Leaf),
    (required, max_age): (bool, u64),
    found: Found<Arc<Crl>>,
) -> Result<Vec<crate::identity::Ground>, Alert> {
    let anchors = [authority.der.clone()];
    let policy = CertificatePolicy::for_server(NAME, &anchors).unwrap();
    let policy = policy.with_crls(CrlPolicy {
        uris: vec![CRL.to_owned()],
        required,
        max_age,
    });
    let policy = PeerPolicy {
        certificates: Some(policy.unwrap()),
        identities: None,
    };
    let own = Config {
        identities: leaf.identities(),
        ..Config::default()
    };
    let mut client = client(Config::default(), policy);
    let mut server = server(own, ClientAuth::None);
    assert_eq!(join(&mut client, &mut server), Ends::default());
    assert!(!client.is_open());
    assert_eq!(client.needs(), [HandshakeNeed::Crl(CRL.to_owned())]);
    let answer = NeedAnswer::Crl(CRL.to_owned(), found);
    let error = client.provide(&answer.into(), &ctx()).err();
    concluded(&mut client, &mut server, error)?;
    Ok(client.peer().unwrap().grounds.clone())
}

pub(super) fn crl(der: &[u8]) -> Found<Arc<Crl>> {
    let list = Arc::new(Crl::parse(der).unwrap());
    Found::new(list, NOW.minus(100), Source::Signature)
}

#[test]
fn a_certificate_on_its_authoritys_list_is_refused_whether_lists_are_required_or_not() {
    let authority = Authority::new();
    let leaf = leaf(&authority);
    let of = (&authority, &leaf);
    for required in [true, false] {
        let grounds = with_crl(of, (required, 100), crl(&authority.crl(&[41, 43])));
        let [ground] = grounds.unwrap()[..] else {
            panic!("one thing was found out")
        };
        assert_eq!((ground.rule, ground.as_of), ("revocation", NOW.minus(100)));
        let revoked = with_crl(of, (required, 100), crl(&authority.crl(&[41, 42])));
        assert_eq!(revoked, Err(Alert::CertificateRevoked));
    }
}

#[test]
fn without_a_fresh_list_of_the_authority_a_certificate_is_refused_where_lists_are_required() {
    let (authority, other) = (Authority::new(), Authority::new());
    let leaf = leaf(&authority);
    let of = (&authority, &leaf);
    let good = || crl(&authority.crl(&[]));
    let missing = || Found::failed(Failure::TimedOut, NOW);
    let expired = Found {
        as_of: NOW.minus(101),
        ..good()
    };
    let unknown = Err(Alert::CertificateUnknown);
    assert_eq!(with_crl(of, (true, 100), missing()), unknown);
    assert_eq!(with_crl(of, (true, 100), expired.clone()), unknown);
    assert_eq!(with_crl(of, (true, 100), crl(&other.crl(&[]))), unknown);
    for found in [missing(), expired, crl(&other.crl(&[42]))] {
        assert_eq!(with_crl(of, (false, 100), found).map(|_| ()), Ok(()));
    }
}

#[test]
fn a_list_that_its_authority_did_not_sign_lets_no_peer_in() {
    let authority = Authority::new();
    let leaf = leaf(&authority);
    let mut forged = authority.crl(&[]);
    let last = forged.len() - 1;
    forged[last] ^= 1;
    for required in [true, false] {
        let taken = with_crl((&authority, &leaf), (required, 100), crl(&forged));
        assert_eq!(taken, Err(Alert::CertificateUnknown));
    }
    assert!(Crl::parse(b"not a list").is_none());
    assert!(
        CertificatePolicy::for_clients(std::slice::from_ref(&authority.der))
            .unwrap()
            .with_crls(CrlPolicy {
                uris: Vec::new(),
                required: true,
                max_age: 100,
            })
            .is_err()
    );
}
