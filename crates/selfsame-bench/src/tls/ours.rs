//! Our own ends: the configuration of each draw, and a handshake over a stream with the DID documents it needs.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use selfsame_crypto::PublicKey;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::generate::random_seed;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Document, Relationship, Representation, Resolution, VerificationMethod};
use selfsame_ledger::MachineRules;
use selfsame_proof::client::Client as Reader;
use selfsame_proof::read::{ReadPolicy, TrustRoot};
use selfsame_registry::{Genesis, StateMachine};
use selfsame_tls::evidence::{
    Failure, Found, HandshakeEvidence, HandshakeNeed, NeedAnswer, Source,
};
use selfsame_tls::identity::{
    CertificateIdentity, CertificatePolicy, ExpectedPeer, Identities, IdentityPolicy, Ledger,
    PeerPolicy, SsiIdentity, Staple, StaplePolicy, Staples, TrustedIssuer, Vc, staple,
};
use selfsame_tls::profile::{LINKS, SELFSAME};
use selfsame_tls::{
    ClientAuth, ClientConfig, Config, Connection, Group, ServerConfig, SigningKey, Suite,
};

use super::cell::{Cell, Draw, Lookup, Way};
use super::clock::clock;
use super::world::{ISSUER, NAME, Party, SideMember, World, issuer_key};
use crate::Error;

/// The size of the proved objects that a verifier of staples caches, in bytes.
const REMEMBERED: usize = 64 * 1024 * 1024;
/// The maximum age of a staple, in seconds.
const STAPLED_FOR: u64 = 300;

/// Asks the registry for what a handshake needs.
pub type Resolve<'r> = dyn Fn(&HandshakeNeed, UnixTime) -> NeedAnswer + 'r;

/// The kind and the time of a handshake.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// How both sides authenticate.
    pub cell: Cell,
    /// The source of DID documents.
    pub lookup: Lookup,
    /// The time.
    pub now: UnixTime,
}

/// The results of a handshake.
#[derive(Debug, Default)]
pub struct Shaken {
    /// The bytes this end sent.
    pub sent: usize,
    /// The time of each request to the registry.
    pub resolving: Vec<Duration>,
}

/// Both sides in our implementation.
pub struct Ours<'r> {
    servers: Side,
    clients: Side,
    issuer: TrustedIssuer,
    for_server: CertificatePolicy,
    for_clients: CertificatePolicy,
    resolved: HashMap<Did, Arc<Resolution>>,
    resolve: &'r Resolve<'r>,
    genesis: Genesis,
    /// The ledger's verifier, which caches the checkpoints that it has verified.
    ledger: Ledger,
}

struct Side(Vec<KnownPeer>);

struct KnownPeer {
    certificate: CertificateIdentity,
    ssi: SsiIdentity,
    registered: SsiIdentity,
}

/// Wraps a failure in this crate's error.
pub fn failed(why: impl ToString) -> Error {
    Error::Call {
        what: "a handshake".to_owned(),
        why: why.to_string(),
    }
}

impl<'r> Ours<'r> {
    /// Reads all keys and certificates of the world.
    ///
    /// # Errors
    /// If one of them is refused.
    pub fn new(world: &World, resolve: &'r Resolve<'r>) -> Result<Self, Error> {
        let mut resolved = HashMap::new();
        let anchors = [world.root.clone()];
        let issuer = PublicKey::from_spki(&world.issuer).map_err(failed)?;
        let did = Did::parse(ISSUER).map_err(failed)?;
        let genesis = Genesis::from_bytes(&world.genesis).map_err(failed)?;
        Ok(Self {
            servers: Side::new(&world.servers, &mut resolved)?,
            clients: Side::new(&world.clients, &mut resolved)?,
            issuer: TrustedIssuer::new(did, vec![(issuer_key(), issuer)]),
            for_server: CertificatePolicy::for_server(NAME, &anchors).map_err(failed)?,
            for_clients: CertificatePolicy::for_clients(&anchors).map_err(failed)?,
            resolved,
            resolve,
            ledger: ledger(&genesis),
            genesis,
        })
    }

    /// Creates the client of this draw.
    ///
    /// # Errors
    /// If the configuration is refused.
    pub fn client(&self, course: Course, draw: Draw) -> Result<Connection, Error> {
        let client = self.clients.get(draw.client)?;
        let common = common(client.identities(course.cell.client, course.lookup), course);
        let server = self.servers.get(draw.server)?;
        let way = course.cell.server;
        let policy = self.policy(way, course.lookup, server, &self.for_server);
        let config = ClientConfig::new(common, policy).map_err(failed)?;
        Connection::client(&Arc::new(config), &ctx(course.now)).map_err(failed)
    }

    /// Creates the server of this draw.
    ///
    /// # Errors
    /// If the configuration is refused.
    pub fn server(&self, course: Course, draw: Draw) -> Result<Connection, Error> {
        let server = self.servers.get(draw.server)?;
        let common = common(
            server.identities(Some(course.cell.server), course.lookup),
            course,
        );
        let client = self.clients.get(draw.client)?;
        let clients = match course.cell.client {
            None => ClientAuth::None,
            Some(way) => {
                let policy = self.policy(way, course.lookup, client, &self.for_clients);
                ClientAuth::Required(policy)
            }
        };
        let config = ServerConfig::new(common, clients).map_err(failed)?;
        Ok(Connection::server(&Arc::new(config), &ctx(course.now)))
    }

    /// Provides what the connection needs, from the source of this course. Returns the times of requests to the
    /// registry.
    ///
    /// # Errors
    /// If the peer is refused.
    pub fn provide(
        &self,
        connection: &mut Connection,
        course: Course,
    ) -> Result<Vec<Duration>, Error> {
        let mut took = Vec::new();
        while !connection.needs().is_empty() {
            let mut answers = Vec::new();
            for need in connection.needs() {
                answers.push(match course.lookup {
                    Lookup::Cached => self.remembered(need, course.now),
                    Lookup::Cold => {
                        let began = clock();
                        let answer = (self.resolve)(need, course.now);
                        took.push(began.elapsed());
                        answer
                    }
                    Lookup::Stapled | Lookup::StapledUnknown => {
                        return Err(failed("the staples leave something to be asked"));
                    }
                });
            }
            let evidence: HandshakeEvidence = answers.into_iter().collect();
            connection
                .provide(&evidence, &ctx(course.now))
                .map_err(failed)?;
        }
        Ok(took)
    }

    /// Performs the handshake over the stream.
    ///
    /// # Errors
    /// If the handshake fails.
    pub fn shake(
        &self,
        connection: &mut Connection,
        stream: &mut TcpStream,
        course: Course,
    ) -> Result<Shaken, Error> {
        let mut shaken = Shaken::default();
        let mut buffer = [0; 16 * 1024];
        loop {
            let outgoing = connection.take_outgoing();
            stream.write_all(&outgoing)?;
            shaken.sent = shaken.sent.saturating_add(outgoing.len());
            if connection.is_open() {
                return Ok(shaken);
            }
            shaken.resolving.extend(self.provide(connection, course)?);
            let read = stream.read(&mut buffer)?;
            let received = buffer.get(..read).filter(|received| !received.is_empty());
            let received = received.ok_or_else(|| failed("the peer went away"))?;
            connection
                .receive(received, &ctx(course.now))
                .map_err(failed)?;
            shaken.resolving.extend(self.provide(connection, course)?);
        }
    }

    fn remembered(&self, need: &HandshakeNeed, now: UnixTime) -> NeedAnswer {
        let found = match need {
            HandshakeNeed::Did(did) => self.resolved.get_key_value(did),
            _ => None,
        };
        match found {
            Some((did, resolution)) => {
                let found = Found::new(Arc::clone(resolution), now, Source::Registry);
                NeedAnswer::Did(did.clone(), found)
            }
            None => NeedAnswer::failed(need.clone(), Failure::Unavailable, now),
        }
    }

    fn policy(
        &self,
        way: Way,
        lookup: Lookup,
        peer: &KnownPeer,
        certificates: &CertificatePolicy,
    ) -> PeerPolicy {
        let did = peer.ssi(lookup).did.clone();
        let method = match lookup {
            Lookup::Cached => "ott",
            Lookup::Cold | Lookup::Stapled | Lookup::StapledUnknown => "selfsame",
        };
        let identities = match way {
            Way::X509 => {
                return PeerPolicy {
                    certificates: Some(certificates.clone()),
                    identities: None,
                };
            }
            Way::Did => IdentityPolicy::of_dids(&[method], [did]),
            Way::Vc => {
                let expected = ExpectedPeer::Dids([did].into());
                IdentityPolicy::of_credentials(&[method], vec![self.issuer.clone()], expected)
            }
        };
        let ledger = match lookup {
            Lookup::Cached | Lookup::Cold => None,
            Lookup::Stapled => Some(self.ledger.clone()),
            Lookup::StapledUnknown => Some(ledger(&self.genesis)),
        };
        let identities = match ledger {
            None => identities,
            Some(ledger) => identities.with_staples(StaplePolicy {
                max_age: STAPLED_FOR,
                behind: STAPLED_FOR,
                required: true,
                ..StaplePolicy::new(ledger)
            }),
        };
        PeerPolicy {
            certificates: None,
            identities: Some(identities),
        }
    }
}

/// As in the paper's tests: X25519 and AES-256. Cached look-ups use the code points of the paper's own code; the others
/// need messages that only our own profile has.
fn common(identities: Identities, course: Course) -> Config {
    Config {
        profile: match course.lookup {
            Lookup::Cached => &LINKS,
            Lookup::Cold | Lookup::Stapled | Lookup::StapledUnknown => &SELFSAME,
        },
        suites: vec![Suite::AES_256_GCM_SHA384],
        groups: vec![Group::X25519],
        identities,
        ..Config::default()
    }
}

/// A verifier of staples that has seen no checkpoint yet.
fn ledger(genesis: &Genesis) -> Ledger {
    let origin = format!("selfsame/{}", genesis.network());
    let trust = TrustRoot::of_genesis(&origin, genesis.validators().clone());
    let policy = ReadPolicy {
        max_age: Some(STAPLED_FOR),
        behind: STAPLED_FOR,
        ..ReadPolicy::genuine(60)
    };
    let reader = Reader::new(trust, policy, REMEMBERED);
    let rules = MachineRules(Arc::new(StateMachine::new(genesis.clone())));
    Ledger::new(Arc::new(rules), Arc::new(Mutex::new(reader)))
}

/// The given time, with fresh randomness.
pub fn ctx(now: UnixTime) -> Ctx {
    Ctx::new(now, random_seed())
}

impl Side {
    fn new(party: &Party, resolved: &mut HashMap<Did, Arc<Resolution>>) -> Result<Self, Error> {
        let keys: Vec<SigningKey> = party
            .keys
            .iter()
            .map(|pkcs8| SigningKey::from_pkcs8(pkcs8).map_err(failed))
            .collect::<Result<_, _>>()?;
        let mut all = Vec::with_capacity(party.members.len());
        for member in &party.members {
            let key = keys.get(member.key).ok_or_else(|| failed("no such key"))?;
            let known = KnownPeer::new(member, key)?;
            let resolution = resolution(&known.ssi.did, key)?;
            resolved.insert(known.ssi.did.clone(), Arc::new(resolution));
            all.push(known);
        }
        Ok(Self(all))
    }

    fn get(&self, at: usize) -> Result<&KnownPeer, Error> {
        self.0.get(at).ok_or_else(|| failed("no such identity"))
    }
}

impl KnownPeer {
    fn new(member: &SideMember, key: &SigningKey) -> Result<Self, Error> {
        let identity = |did: &str, vc: &str, staples: Staples| {
            Ok::<_, Error>(SsiIdentity {
                did: Did::parse(did).map_err(failed)?,
                key: key.clone(),
                vc: Some(Vc::paper(vc.as_bytes().to_vec())),
                staples,
            })
        };
        let registered = &member.registered;
        let staples = registered.staples.iter().map(|body| Staple {
            kind: staple::READS,
            body: body.clone(),
        });
        let certificate = CertificateIdentity::new(&member.chain, key.clone());
        Ok(Self {
            certificate: certificate.map_err(failed)?,
            ssi: identity(&member.did, &member.vc, Staples::default())?,
            registered: identity(&registered.did, &registered.vc, staples.collect())?,
        })
    }

    fn ssi(&self, lookup: Lookup) -> &SsiIdentity {
        match lookup {
            Lookup::Cached => &self.ssi,
            Lookup::Cold | Lookup::Stapled | Lookup::StapledUnknown => &self.registered,
        }
    }

    fn identities(&self, way: Option<Way>, lookup: Lookup) -> Identities {
        let ssi = self.ssi(lookup).clone();
        let mut identities = Identities::default();
        match way {
            None => {}
            Some(Way::X509) => identities.certificate = Some(self.certificate.clone()),
            Some(Way::Vc) => identities.ssi = Some(ssi),
            Some(Way::Did) => identities.ssi = Some(SsiIdentity { vc: None, ..ssi }),
        }
        identities
    }
}

fn resolution(did: &Did, key: &SigningKey) -> Result<Resolution, Error> {
    let spki = key.spki().ok_or_else(|| failed("no public key"))?;
    let public = PublicKey::from_spki(&spki).map_err(failed)?;
    let id = did.with_fragment("keys-1").map_err(failed)?;
    let mut document = Document::new(did.clone());
    let method = VerificationMethod::json_web_key(id, &public);
    document.add(method, &[Relationship::Authentication]);
    Ok(Resolution::found(document, Representation::default()))
}
