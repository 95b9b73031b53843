//! Peers that resume are judged again by evidence at hand: a peer since deactivated or revoked is not accepted.

use std::sync::{Arc, Mutex};

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::seal::random_seed;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Relationship, Representation, Resolution};

use super::network::Network;
use super::revocation::{URI, World, crl, listed};
use super::ssi::{Subject, client_refused, fetched, only, server_refused, ssi, trust_did, trusted};
use crate::evidence::{Failure, HandshakeEvidence, HandshakeNeed, NeedAnswer};
use crate::identity::{
    Again, CrlPolicy, Identities, IdentityPolicy, PeerPolicy, SsiIdentity, TrustedIssuer,
};
use crate::profile::SELFSAME;
use crate::resumption::{AtHand, Rejudge, Sessions, TicketKeys};
use crate::testing::{Authority, Ends, NOW, assert_talk, join};
use crate::{Alert, ClientAuth, ClientConfig, Config, Connection, ServerConfig};

/// The current answers of the world, and those that one side has at hand.
#[derive(Clone, Debug, Default)]
struct Memory {
    world: Arc<Mutex<Vec<NeedAnswer>>>,
    at_hand: Arc<Mutex<Vec<NeedAnswer>>>,
}

fn put(into: &Mutex<Vec<NeedAnswer>>, answer: NeedAnswer) {
    let mut answers = into.lock().unwrap();
    answers.retain(|known| known.need() != answer.need());
    answers.push(answer);
}

fn get(from: &Mutex<Vec<NeedAnswer>>, need: &HandshakeNeed) -> Option<NeedAnswer> {
    let answers = from.lock().unwrap();
    answers.iter().find(|known| known.need() == *need).cloned()
}

impl Memory {
    /// Changes the world's answer; the answers at hand stay the old ones.
    fn becomes(&self, answer: NeedAnswer) {
        put(&self.world, answer);
    }

    /// Updates the answers at hand.
    fn looks(&self) {
        let world = self.world.lock().unwrap().clone();
        *self.at_hand.lock().unwrap() = world;
    }

    fn forgets(&self) {
        self.at_hand.lock().unwrap().clear();
    }

    fn asks(&self, need: &HandshakeNeed) -> NeedAnswer {
        let failed = || NeedAnswer::failed(need.clone(), Failure::Unavailable, NOW);
        let answer = get(&self.world, need).unwrap_or_else(failed);
        put(&self.at_hand, answer.clone());
        answer
    }
}

impl AtHand for Memory {
    fn at_hand(&self, need: &HandshakeNeed, _now: UnixTime) -> Option<NeedAnswer> {
        get(&self.at_hand, need)
    }
}

/// A client and a server that hold tickets, and judge each other again.
struct Pair {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    memory: Memory,
}

impl Pair {
    fn new(
        (own, expected): (Identities, PeerPolicy),
        (other, clients): (Identities, PeerPolicy),
        memory: Memory,
    ) -> Self {
        let common = |identities, rejudge| Config {
            profile: &SELFSAME,
            identities,
            revalidate: Some(Arc::new(rejudge)),
            ..Config::default()
        };
        let known: Arc<dyn AtHand> = Arc::new(memory.clone());
        let servers = Rejudge::servers(expected.clone(), Arc::clone(&known));
        let client = ClientConfig::new(common(own, servers), expected).unwrap();
        let judged = Rejudge::clients(clients.clone(), known);
        let clients = ClientAuth::Required(clients);
        let server = ServerConfig::new(common(other, judged), clients).unwrap();
        Self {
            client: Arc::new(client.with_sessions(Sessions::new(16))),
            server: Arc::new(server.with_tickets(TicketKeys::new([7; 32]))),
            memory,
        }
    }

    /// A handshake; returns whether it resumed, or how it failed.
    fn meet(&self) -> Result<bool, Ends> {
        let ctx = || Ctx::new(NOW, random_seed());
        let mut client = Connection::client(&self.client, &ctx()).unwrap();
        let mut server = Connection::server(&self.server, &ctx());
        let mut ends = Ends::default();
        for _ in 0..4 {
            let more = join(&mut client, &mut server);
            ends.client = ends.client.or(more.client);
            ends.server = ends.server.or(more.server);
            for (end, error) in [
                (&mut client, &mut ends.client),
                (&mut server, &mut ends.server),
            ] {
                let needs = end.needs().iter();
                let evidence = needs.map(|need| self.memory.asks(need)).collect();
                if !end.needs().is_empty() {
                    *error = error.or(end.provide(&evidence, &ctx()).err());
                }
            }
        }
        if ends != Ends::default() {
            assert!(client.take_incoming().is_empty() && server.take_incoming().is_empty());
            return Err(ends);
        }
        assert_talk(&mut client, &mut server);
        let resumed = |end: &Connection| end.peer().unwrap().resumed.is_some();
        assert_eq!(resumed(&client), resumed(&server));
        Ok(resumed(&client))
    }
}

fn resolved(subject: &Subject) -> NeedAnswer {
    NeedAnswer::Did(subject.did.clone(), fetched(subject.resolution()))
}

/// Both sides with DIDs that have to be resolved.
fn dids() -> (Pair, Subject, Subject) {
    let one = Subject::new("did:web:client.example");
    let other = Subject::new("did:web:server.example");
    let memory = Memory::default();
    memory.becomes(resolved(&one));
    memory.becomes(resolved(&other));
    let pair = Pair::new(
        (ssi(one.as_did()), only(trust_did(&other))),
        (ssi(other.as_did()), only(trust_did(&one))),
        memory,
    );
    (pair, one, other)
}

#[test]
fn a_did_resumes_while_its_document_is_at_hand_and_is_asked_for_else() {
    let (pair, ..) = dids();
    assert_eq!(pair.meet(), Ok(false));
    assert_eq!(pair.meet(), Ok(true));
    pair.memory.forgets();
    assert_eq!(pair.meet(), Ok(false));
    assert_eq!(pair.meet(), Ok(true));
}

#[test]
fn a_did_that_ended_since_does_not_resume_and_is_refused_as_revoked() {
    for ended in [true, false] {
        let (pair, one, other) = dids();
        assert_eq!(pair.meet(), Ok(false));
        let gone = if ended { &one } else { &other };
        let mut resolution = gone.resolution();
        resolution.document_metadata.deactivated = true;
        let answer = NeedAnswer::Did(gone.did.clone(), fetched(resolution));
        pair.memory.becomes(answer);
        // First the change is not known, then it is.
        assert_eq!(pair.meet(), Ok(true));
        pair.memory.looks();
        let ends = pair.meet().unwrap_err();
        let alert = match ended {
            true => server_refused(ends),
            false => client_refused(ends),
        };
        assert_eq!(alert, Alert::CertificateRevoked);
    }
}

#[test]
fn a_did_whose_key_was_replaced_since_does_not_resume_by_the_old_one() {
    let (pair, one, _) = dids();
    assert_eq!(pair.meet(), Ok(false));
    let rotated = Subject {
        public: Subject::new("did:web:client.example").public,
        ..one
    };
    pair.memory.becomes(resolved(&rotated));
    pair.memory.looks();
    // The client still has the old key.
    assert_eq!(
        server_refused(pair.meet().unwrap_err()),
        Alert::DecryptError
    );
}

/// Both sides with a credential that has a place in a status list, from an issuer whose keys are looked up.
fn vouched() -> (Pair, World) {
    let world = World::new();
    let issuer = TrustedIssuer::new(world.issuer.did.clone(), Vec::new());
    let memory = Memory::default();
    memory.becomes(issuing(&world.issuer, &world.issuer));
    memory.becomes(status(&world, 0));
    let policy = only(world.policy_by(issuer));
    let shown = || ssi(world.shown(Vec::new()));
    let pair = Pair::new((shown(), policy.clone()), (shown(), policy), memory);
    (pair, world)
}

/// The issuer's resolution, with `key` to sign credentials.
fn issuing(issuer: &Subject, key: &Subject) -> NeedAnswer {
    let of = Subject {
        did: issuer.did.clone(),
        ..key.clone()
    };
    let document = of.document_for(Relationship::AssertionMethod);
    let resolution = Resolution::found(document, Representation::default());
    NeedAnswer::Did(issuer.did.clone(), fetched(resolution))
}

fn status(world: &World, status: u8) -> NeedAnswer {
    NeedAnswer::StatusList(URI.to_owned(), listed(&world.made(status)))
}

#[test]
fn a_credential_resumes_while_its_list_is_at_hand_and_is_refused_once_it_is_revoked() {
    for revoked in [1, 2] {
        let (pair, world) = vouched();
        assert_eq!(pair.meet(), Ok(false));
        assert_eq!(pair.meet(), Ok(true));
        pair.memory.becomes(status(&world, revoked));
        assert_eq!(pair.meet(), Ok(true));
        pair.memory.looks();
        let ends = pair.meet().unwrap_err();
        assert_eq!(client_refused(ends), Alert::CertificateRevoked);
        // The credential was suspended, and is valid again.
        pair.memory.becomes(status(&world, 0));
        assert_eq!(pair.meet(), Ok(false));
        assert_eq!(pair.meet(), Ok(true));
    }
}

#[test]
fn a_credential_whose_issuer_took_the_key_back_does_not_resume() {
    let (pair, world) = vouched();
    assert_eq!(pair.meet(), Ok(false));
    let another = Subject::new("did:web:issuer.example");
    pair.memory.becomes(issuing(&world.issuer, &another));
    pair.memory.looks();
    assert_eq!(client_refused(pair.meet().unwrap_err()), Alert::UnknownCa);
}

#[test]
fn a_certificate_resumes_while_the_list_at_hand_does_not_name_it() {
    const LIST: &str = "https://authority.example/list.crl";
    let authority = Authority::new();
    let server = authority.leaf(&rcgen::PKCS_ED25519);
    let client = authority.leaf_with(&rcgen::PKCS_ED25519, |params| {
        params.serial_number = Some(9_u64.into());
    });
    let mut clients = authority.clients();
    let lists = CrlPolicy {
        uris: vec![LIST.to_owned()],
        required: true,
        max_age: 3600,
    };
    let certificates = clients.certificates.take().unwrap();
    clients.certificates = Some(certificates.with_crls(lists).unwrap());
    let memory = Memory::default();
    let names = |revoked: &[u64]| NeedAnswer::Crl(LIST.to_owned(), crl(&authority.crl(revoked)));
    memory.becomes(names(&[]));
    let pair = Pair::new(
        (client.identities(), authority.server()),
        (server.identities(), clients),
        memory,
    );
    assert_eq!(pair.meet(), Ok(false));
    assert_eq!(pair.meet(), Ok(true));
    pair.memory.forgets();
    assert_eq!(pair.meet(), Ok(false));
    let peer = pair.client_of_server();
    assert!(matches!(pair.again(&peer, NOW), Again::Holds(Some(_))));
    pair.memory.becomes(names(&[9]));
    assert_eq!(over(pair.again(&peer, NOW)), Alert::CertificateRevoked);
    pair.memory.looks();
    let ends = pair.meet().unwrap_err();
    assert_eq!(server_refused(ends), Alert::CertificateRevoked);
}

#[test]
fn who_stapled_its_did_resumes_by_what_the_reader_remembers_of_the_registry() {
    let mut network = Network::new();
    let (one, mut other) = (network.citizen(), network.citizen());
    network.rest_until(NOW.minus(60));
    let shown = |citizen: &super::network::Citizen, network: &Network| -> SsiIdentity {
        citizen.with(network.staples(&citizen.subject.did))
    };
    let (at_client, at_server) = (network.required(), network.required());
    let trust = |citizen: &super::network::Citizen, stapled: &crate::identity::StaplePolicy| {
        let policy = IdentityPolicy::of_dids(&["selfsame"], [citizen.subject.did.clone()]);
        only(policy.with_staples(stapled.clone()))
    };
    let pair = Pair::new(
        (ssi(shown(&one, &network)), trust(&other, &at_client)),
        (ssi(shown(&other, &network)), trust(&one, &at_server)),
        Memory::default(),
    );
    assert_eq!(pair.meet(), Ok(false));
    assert_eq!(pair.meet(), Ok(true));

    // The client's ledger learns that the server was deactivated; the server's staple is from before.
    network.deactivate(&mut other);
    network.rest_until(NOW.minus(10));
    let seen = network.staples(&other.subject.did);
    let judged = crate::identity::staple::judge(&at_client, &seen[0], &other.subject.did, NOW);
    assert_eq!(judged.unwrap_err().alert, Alert::CertificateUnknown);
    assert_eq!(
        client_refused(pair.meet().unwrap_err()),
        Alert::CertificateUnknown
    );
}

impl Pair {
    /// A client that has just connected to the server.
    fn client_of_server(&self) -> crate::identity::Peer {
        let ctx = || Ctx::new(NOW, random_seed());
        let mut client = Connection::client(&self.client, &ctx()).unwrap();
        let mut server = Connection::server(&self.server, &ctx());
        for _ in 0..4 {
            let ends = join(&mut client, &mut server);
            assert_eq!(ends, Ends::default());
            for end in [&mut client, &mut server] {
                let needs = end.needs().iter();
                let evidence: HandshakeEvidence =
                    needs.map(|need| self.memory.asks(need)).collect();
                if !end.needs().is_empty() {
                    end.provide(&evidence, &ctx()).unwrap();
                }
            }
        }
        server.peer().unwrap().clone()
    }

    /// The server's judgement of the peer, with all evidence it needs.
    fn again(&self, peer: &crate::identity::Peer, now: UnixTime) -> Again {
        let mut evidence = HandshakeEvidence::default();
        for _ in 0..4 {
            match self.server.judge_again(peer, &evidence, now) {
                Again::Needs(needs) => {
                    evidence.extend(needs.iter().map(|need| self.memory.asks(need)));
                }
                judged => return judged,
            }
        }
        panic!("it asks in circles");
    }
}

#[track_caller]
fn over(again: Again) -> Alert {
    match again {
        Again::Over(refusal) => refusal.alert,
        other => panic!("not over: {other:?}"),
    }
}

#[test]
fn who_is_connected_by_a_credential_is_over_once_it_is_revoked_and_unknown_while_its_list_is_away()
{
    let (pair, world) = vouched();
    let peer = pair.client_of_server();
    assert!(matches!(pair.again(&peer, NOW), Again::Holds(Some(_))));
    pair.memory.becomes(status(&world, 1));
    assert_eq!(over(pair.again(&peer, NOW)), Alert::CertificateRevoked);
    let need = HandshakeNeed::StatusList(URI.to_owned());
    let failed = NeedAnswer::failed(need, Failure::Unavailable, NOW);
    pair.memory.becomes(failed);
    let unknown = pair.again(&peer, NOW);
    assert!(matches!(unknown, Again::Unknown(_)), "{unknown:?}");
    pair.memory.becomes(status(&world, 0));
    assert!(matches!(pair.again(&peer, NOW), Again::Holds(_)));
}

#[test]
fn who_is_connected_by_a_did_is_over_once_it_ends_changes_its_key_or_is_expected_no_more() {
    let (pair, one, other) = dids();
    let peer = pair.client_of_server();
    assert!(matches!(pair.again(&peer, NOW), Again::Holds(Some(_))));
    let mut resolution = one.resolution();
    resolution.document_metadata.deactivated = true;
    let ended = NeedAnswer::Did(one.did.clone(), fetched(resolution));
    pair.memory.becomes(ended);
    assert_eq!(over(pair.again(&peer, NOW)), Alert::CertificateRevoked);
    let rotated = Subject {
        public: Subject::new("did:web:client.example").public,
        ..one.clone()
    };
    pair.memory.becomes(resolved(&rotated));
    assert_eq!(over(pair.again(&peer, NOW)), Alert::DecryptError);
    // Another configuration, which expects another peer.
    pair.memory.becomes(resolved(&one));
    let common = Config {
        identities: ssi(other.as_did()),
        ..Config::default()
    };
    let clients = ClientAuth::Required(only(trust_did(&other)));
    let stricter = ServerConfig::new(common, clients).unwrap();
    let judged = stricter.judge_again(&peer, &HandshakeEvidence::default(), NOW);
    assert_eq!(over(judged), Alert::AccessDenied);
}

#[test]
fn who_is_connected_is_over_once_its_credential_or_its_certificate_has_ended() {
    let world = World::new();
    let policy = only(world.policy_by(trusted(&world.issuer)));
    let shown = || ssi(world.shown(Vec::new()));
    let memory = Memory::default();
    memory.becomes(status(&world, 0));
    let pair = Pair::new((shown(), policy.clone()), (shown(), policy), memory);
    let peer = pair.client_of_server();
    let end = NOW.plus(3600);
    let before = pair.again(&peer, end.minus(1));
    assert!(!matches!(before, Again::Over(_)), "{before:?}");
    // Clocks may differ slightly.
    let ended = pair.again(&peer, end.plus(600));
    assert_eq!(over(ended), Alert::CertificateExpired);

    let authority = Authority::new();
    let server = authority.leaf(&rcgen::PKCS_ED25519);
    let client = authority.leaf_with(&rcgen::PKCS_ED25519, |params| {
        params.not_after = rcgen::date_time_ymd(2027, 1, 1);
    });
    let pair = Pair::new(
        (client.identities(), authority.server()),
        (server.identities(), authority.clients()),
        Memory::default(),
    );
    let peer = pair.client_of_server();
    // 1 January 2027.
    let end = UnixTime(1_798_761_600);
    assert!(matches!(pair.again(&peer, end.minus(1)), Again::Holds(_)));
    assert_eq!(
        over(pair.again(&peer, end.plus(1))),
        Alert::CertificateExpired
    );
}

#[test]
fn a_client_that_wants_a_did_names_its_server_where_it_is_told_to() {
    let (pair, ..) = dids();
    let hello = |config: ClientConfig| {
        let ctx = Ctx::new(NOW, random_seed());
        let mut client = Connection::client(&Arc::new(config), &ctx).unwrap();
        client.take_outgoing()
    };
    let plain = ClientConfig::clone(&pair.client);
    let name = b"broker.example.org";
    let says = |hello: &[u8]| hello.windows(name.len()).any(|window| window == name);
    assert!(!says(&hello(plain.clone())));
    let named = plain.clone().with_server_name("broker.example.org");
    let named = named.unwrap();
    // Its tickets are for that server.
    assert_ne!(named.digest, plain.digest);
    assert!(says(&hello(named)));
    assert!(plain.with_server_name("no name").is_err());
}
