//! Stapled registry reads: they suffice, or the peer is refused, or the registry is asked instead.

use selfsame_did::{Did, Options};
use selfsame_proof::cbor::CborItem as _;
use selfsame_proof::read::Bundle;

use super::network::{Citizen, Network};
use super::ssi::{Registry, client_refused, drive, fetched, only, server_refused, ssi};
use crate::codec::Staple;
use crate::evidence::{HandshakeNeed, Source};
use crate::identity::staple::Reads;
use crate::identity::{IdentityPolicy, SsiIdentity, StaplePolicy, Stapling, staple};
use crate::profile::SELFSAME;
use crate::testing::{Ends, NOW, assert_talk, client, join, server};
use crate::{Alert, ClientAuth, Config, Connection};

fn common(identity: Option<SsiIdentity>) -> Config {
    Config {
        profile: &SELFSAME,
        identities: identity.map(ssi).unwrap_or_default(),
        ..Config::default()
    }
}

/// A policy that trusts this citizen, with this policy for staples.
fn trust(citizen: &Citizen, stapled: StaplePolicy) -> IdentityPolicy {
    let policy = IdentityPolicy::of_dids(&["selfsame"], [citizen.subject.did.clone()]);
    policy.with_staples(stapled)
}

/// A client that trusts the citizen, and a server that shows this identity.
fn ends(shown: SsiIdentity, citizen: &Citizen, stapled: StaplePolicy) -> (Connection, Connection) {
    (
        client(common(None), only(trust(citizen, stapled))),
        server(common(Some(shown)), ClientAuth::None),
    )
}

/// The alert for a server that shows this identity, if staples are required.
fn refused(shown: SsiIdentity, citizen: &Citizen, stapled: StaplePolicy) -> Alert {
    let (mut client, mut server) = ends(shown, citizen, stapled);
    let ended = join(&mut client, &mut server);
    assert!(!client.is_open() && server.take_incoming().is_empty());
    client_refused(ended)
}

/// A network with a citizen, a minute after registration.
fn settled() -> (Network, Citizen) {
    let mut network = Network::new();
    let citizen = network.citizen();
    network.rest_until(NOW.minus(60));
    (network, citizen)
}

#[test]
fn who_staples_what_the_registry_says_of_it_is_let_in_without_asking_anybody() {
    let (mut network, one) = settled();
    let other = network.citizen();
    let (shown, asked) = (
        one.with(network.staples(&one.subject.did)),
        other.with(network.staples(&other.subject.did)),
    );
    let mut client = client(common(Some(asked)), only(trust(&one, network.required())));
    let clients = ClientAuth::Required(only(trust(&other, network.required())));
    let mut server = server(common(Some(shown)), clients);
    assert_eq!(join(&mut client, &mut server), Ends::default());
    assert_talk(&mut client, &mut server);
    for end in [&client, &server] {
        let peer = end.peer().unwrap();
        let [ground] = peer.grounds.as_slice() else {
            panic!("one thing was found out")
        };
        assert_eq!(
            (ground.rule, ground.source),
            ("resolution", Source::Registry)
        );
        assert_eq!(ground.as_of, NOW.minus(60));
        assert_eq!(peer.verdict.as_of, Some(NOW.minus(60).0));
        let rules = &peer.verdict.rules;
        assert!(rules.iter().any(|rule| rule.detail.ends_with("60 s ago")));
    }
}

#[test]
fn a_staple_with_the_key_of_now_makes_a_rotation_known_at_once() {
    let (mut network, mut citizen) = settled();
    let old = citizen.subject.clone();
    let before = network.staples(&old.did);
    network.rotate(&mut citizen);
    let after = network.staples(&old.did);
    let (mut client, mut server) = ends(citizen.with(after.clone()), &citizen, network.required());
    assert_eq!(join(&mut client, &mut server), Ends::default());
    assert!(client.is_open());

    // The new document does not contain the old key.
    let with_old_key = |staples: Vec<Staple>| SsiIdentity {
        staples: staples.into(),
        ..old.as_did()
    };
    let shown = with_old_key(after.clone());
    assert_eq!(
        refused(shown, &citizen, network.required()),
        Alert::DecryptError
    );
    // The old document is not accepted if the new one was seen, however fresh it is.
    let stapled = network.required();
    let (mut client, mut server) = ends(citizen.with(after), &citizen, stapled.clone());
    assert_eq!(join(&mut client, &mut server), Ends::default());
    let shown = with_old_key(before);
    assert_eq!(refused(shown, &citizen, stapled), Alert::CertificateUnknown);
}

#[test]
fn a_deactivated_did_is_refused_as_revoked() {
    let (mut network, mut citizen) = settled();
    network.deactivate(&mut citizen);
    let shown = citizen.with(network.staples(&citizen.subject.did));
    let stapled = network.required();
    assert_eq!(refused(shown, &citizen, stapled), Alert::CertificateRevoked);
}

#[test]
fn a_client_whose_did_is_deactivated_is_refused_by_the_server() {
    let (mut network, mut citizen) = settled();
    let host = network.citizen();
    network.deactivate(&mut citizen);
    let shown = citizen.with(network.staples(&citizen.subject.did));
    let hosted = host.with(network.staples(&host.subject.did));
    let mut client = client(common(Some(shown)), only(trust(&host, network.required())));
    let clients = ClientAuth::Required(only(trust(&citizen, network.required())));
    let mut server = server(common(Some(hosted)), clients);
    let ended = join(&mut client, &mut server);
    assert!(!server.is_open());
    assert_eq!(server_refused(ended), Alert::CertificateRevoked);
}

#[test]
fn a_did_that_the_registry_does_not_know_is_refused() {
    let (network, _) = settled();
    let mut elsewhere = Network::new();
    let stranger = elsewhere.citizen();
    // The same identifier, written as a DID of this network.
    let id = stranger.subject.did.method_id().split_once(':').unwrap().1;
    let did = format!("did:selfsame:{}:{id}", network.machine.network());
    let did = Did::parse(&did).unwrap();
    let shown = SsiIdentity {
        did: did.clone(),
        staples: network.staples(&did).into(),
        ..stranger.subject.as_did()
    };
    let policy = IdentityPolicy::of_dids(&["selfsame"], [did]);
    let policy = policy.with_staples(network.required());
    let mut client = client(common(None), only(policy));
    let mut server = server(common(Some(shown)), ClientAuth::None);
    let ended = join(&mut client, &mut server);
    assert_eq!(client_refused(ended), Alert::CertificateUnknown);
}

#[test]
fn a_staple_of_another_did_is_refused_even_where_none_is_required() {
    let (mut network, citizen) = settled();
    let other = network.citizen();
    for stapled in [network.required(), StaplePolicy::new(network.ledger())] {
        let shown = citizen.with(network.staples(&other.subject.did));
        let alert = refused(shown, &citizen, stapled);
        assert_eq!(alert, Alert::BadCertificateStatusResponse);
    }
}

#[test]
fn a_stale_staple_is_refused_where_staples_are_required_and_asked_after_elsewhere() {
    let (mut network, citizen) = settled();
    let mut stapled = network.required();
    stapled.max_age = 60;
    let staples = network.staples(&citizen.subject.did);
    let (mut client, mut server) = ends(citizen.with(staples.clone()), &citizen, stapled.clone());
    assert_eq!(join(&mut client, &mut server), Ends::default());
    assert!(client.is_open());

    stapled.max_age = 59;
    let shown = citizen.with(staples.clone());
    let alert = refused(shown, &citizen, stapled.clone());
    assert_eq!(alert, Alert::CertificateUnknown);

    stapled.required = false;
    let (mut client, mut server) = ends(citizen.with(staples), &citizen, stapled);
    assert_eq!(join(&mut client, &mut server), Ends::default());
    assert_eq!(
        client.needs(),
        [HandshakeNeed::Did(citizen.subject.did.clone())]
    );
    network.rest_until(NOW);
    let registry = Registry::of(&[&citizen.subject]);
    assert_eq!(drive(&mut client, &mut server, &registry), Ends::default());
    assert_eq!(client.peer().unwrap().grounds[0].source, Source::Host);
}

#[test]
fn a_staple_from_before_what_was_seen_is_a_rollback() {
    let (mut network, citizen) = settled();
    let old = network.staples(&citizen.subject.did);
    network.rest_until(NOW);
    let new = network.staples(&citizen.subject.did);
    let mut stapled = network.required();
    stapled.behind = 60;
    let (mut client, mut server) = ends(citizen.with(new), &citizen, stapled.clone());
    assert_eq!(join(&mut client, &mut server), Ends::default());
    let shown = citizen.with(old.clone());
    let alert = refused(shown, &citizen, stapled.clone());
    assert_eq!(alert, Alert::CertificateUnknown);
    // An honest peer may be slightly behind.
    stapled.behind = 61;
    let (mut client, mut server) = ends(citizen.with(old), &citizen, stapled);
    assert_eq!(join(&mut client, &mut server), Ends::default());
    assert!(client.is_open());
}

#[test]
fn without_a_staple_the_registry_is_asked_unless_one_is_required() {
    let (network, citizen) = settled();
    let shown = citizen.with(Vec::new());
    let alert = refused(shown.clone(), &citizen, network.required());
    assert_eq!(alert, Alert::CertificateUnknown);
    let (mut client, mut server) = ends(shown, &citizen, StaplePolicy::new(network.ledger()));
    assert_eq!(join(&mut client, &mut server), Ends::default());
    assert_eq!(
        client.needs(),
        [HandshakeNeed::Did(citizen.subject.did.clone())]
    );
    let machine = &network.machine;
    let resolution = machine.resolve(network.state(), &citizen.subject.did, &Options::default());
    let registry = Registry(vec![(citizen.subject.did.clone(), fetched(resolution))]);
    assert_eq!(drive(&mut client, &mut server, &registry), Ends::default());
    assert_talk(&mut client, &mut server);
}

#[test]
fn staples_are_only_sent_to_who_can_read_them() {
    let (network, citizen) = settled();
    let policy = IdentityPolicy::of_dids(&["selfsame"], [citizen.subject.did.clone()]);
    let mut client = client(common(None), only(policy));
    let shown = citizen.with(network.staples(&citizen.subject.did));
    let mut server = server(common(Some(shown)), ClientAuth::None);
    assert_eq!(join(&mut client, &mut server), Ends::default());
    // It was not stapled, so it has to be resolved.
    assert_eq!(
        client.needs(),
        [HandshakeNeed::Did(citizen.subject.did.clone())]
    );
}

#[test]
fn validators_that_are_not_trusted_staple_nothing() {
    let (network, citizen) = settled();
    let staples = network.staples(&citizen.subject.did);
    let stapled = StaplePolicy {
        required: true,
        ..StaplePolicy::new(network.ledger_with_other_validators())
    };
    let shown = citizen.with(staples);
    assert_eq!(refused(shown, &citizen, stapled), Alert::CertificateUnknown);
}

#[test]
fn renewed_staples_are_sent_from_the_next_handshake_on() {
    let (mut network, citizen) = settled();
    let shown = citizen.with(Vec::new());
    let handle = shown.staples.clone();
    let alert = refused(shown.clone(), &citizen, network.required());
    assert_eq!(alert, Alert::CertificateUnknown);
    network.rest_until(NOW);
    handle.set(network.staples(&citizen.subject.did));
    let (mut client, mut server) = ends(shown, &citizen, network.required());
    assert_eq!(join(&mut client, &mut server), Ends::default());
    assert_eq!(client.peer().unwrap().verdict.as_of, Some(NOW.0));
}

#[test]
fn every_flipped_bit_of_a_staple_is_refused() {
    let (network, citizen) = settled();
    let staples = network.staples(&citizen.subject.did);
    let [whole] = staples.as_slice() else {
        panic!("one checkpoint makes one staple")
    };
    let judged = |body: Vec<u8>, stapled: &StaplePolicy| {
        let kind = staple::READS;
        let staple = Staple { kind, body };
        staple::judge(stapled, &staple, &citizen.subject.did, NOW)
    };
    // A client that has seen the good staple knows its checkpoint and remembers its content.
    let knowing = network.required();
    assert_eq!(judged(whole.body.clone(), &knowing), Ok(()));
    for bit in 0..whole.body.len() * 8 {
        let mut body = whole.body.clone();
        body[bit / 8] ^= 1 << (bit % 8);
        for stapled in [&network.required(), &knowing] {
            let refusal = judged(body.clone(), stapled).expect_err("a flipped bit");
            let alerts = [
                Alert::BadCertificateStatusResponse,
                Alert::CertificateUnknown,
            ];
            assert!(alerts.contains(&refusal.alert), "bit {bit}: {refusal}");
        }
    }
    for length in 0..whole.body.len() {
        let refusal = judged(whole.body[..length].to_vec(), &knowing).expect_err("a cut staple");
        assert_eq!(refusal.alert, Alert::BadCertificateStatusResponse);
    }
    assert_eq!(judged(whole.body.clone(), &knowing), Ok(()));
}

#[test]
fn each_read_of_a_staple_is_proved_and_the_one_with_the_checkpoint_is_no_other() {
    let (mut network, citizen) = settled();
    let other = network.citizen();
    let mut stapling = Stapling::new(&network.machine, vec![citizen.subject.did.clone()], vec![]);
    while let Some(key) = stapling.missing() {
        stapling.add(network.read(&key));
    }
    let keys = stapling.keys();
    let did = &other.subject.did;
    let mut stapling = Stapling::new(&network.machine, vec![did.clone()], vec![]);
    while let Some(key) = stapling.missing() {
        stapling.add(network.read(&key));
    }
    let foreign = network.read(&stapling.keys()[0]);
    let stapled = network.required();
    let good: Vec<Bundle> = keys.iter().map(|key| network.read(key)).collect();
    let judged = |bundles: Vec<Bundle>| {
        let [reads] = Reads::of(bundles).try_into().unwrap();
        let staple = reads.staple().unwrap();
        staple::judge(&stapled, &staple, &citizen.subject.did, NOW).map_err(|why| why.alert)
    };
    assert_eq!(judged(good.clone()), Ok(()));
    // With the checkpoint known: in each place another object, no object, and the proof of another object.
    for place in 0..good.len() {
        let changes: [&dyn Fn(&mut Bundle); 3] = [
            &|read| read.value = Some(b"another".to_vec()),
            &|read| read.value = None,
            &|read| read.proof = foreign.proof.clone(),
        ];
        for change in changes {
            let mut forged = good.clone();
            change(&mut forged[place]);
            let alert = Err(Alert::BadCertificateStatusResponse);
            assert_eq!(judged(forged), alert, "{place}");
        }
    }
    assert_eq!(judged(good), Ok(()));
}

#[test]
fn a_staple_of_another_registry_is_refused() {
    let (network, citizen) = settled();
    let mut elsewhere = Network::new();
    let stranger = elsewhere.citizen();
    for stapled in [network.required(), StaplePolicy::new(network.ledger())] {
        let shown = citizen.with(elsewhere.staples(&stranger.subject.did));
        let alert = refused(shown, &citizen, stapled);
        assert_eq!(alert, Alert::BadCertificateStatusResponse);
    }
}

#[test]
fn a_staple_of_nothing_or_of_more_than_a_staple_may_hold_is_refused() {
    let (network, citizen) = settled();
    let [staple] = network.staples(&citizen.subject.did).try_into().unwrap();
    let reads = Reads::from_cbor(&staple.body).unwrap();
    let of = |count: usize| Reads {
        reads: reads.reads.iter().cycle().take(count).cloned().collect(),
        ..reads.clone()
    };
    for count in [0, 17] {
        let shown = citizen.with(vec![of(count).staple().unwrap()]);
        let alert = refused(shown, &citizen, network.required());
        assert_eq!(alert, Alert::BadCertificateStatusResponse, "{count}");
    }
    let shown = citizen.with(vec![of(16).staple().unwrap()]);
    let (mut client, mut server) = ends(shown, &citizen, network.required());
    assert_eq!(join(&mut client, &mut server), Ends::default());
    assert!(client.is_open());
    // More staples than a message may have.
    let shown = citizen.with(vec![of(2).staple().unwrap(); 9]);
    assert_eq!(
        refused(shown, &citizen, network.required()),
        Alert::DecodeError
    );
}

#[test]
fn a_forged_staple_ends_the_handshake_before_anything_is_asked() {
    let (network, citizen) = settled();
    let mut staples = network.staples(&citizen.subject.did);
    let last = staples[0].body.len() - 1;
    staples[0].body[last] ^= 1;
    let (mut client, mut server) = ends(
        citizen.with(staples),
        &citizen,
        StaplePolicy::new(network.ledger()),
    );
    let ended = join(&mut client, &mut server);
    assert!(client.needs().is_empty());
    let alert = client_refused(ended);
    assert_eq!(alert, Alert::BadCertificateStatusResponse);
}
