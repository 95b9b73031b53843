//! Our own ends: the configuration of each draw, and a handshake over a stream with what is resolved at hand.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use selfsame_crypto::PublicKey;
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::generate::random_seed;
use selfsame_crypto::time::UnixTime;
use selfsame_did::{Did, Document, Relationship, Representation, Resolution, VerificationMethod};
use selfsame_tls::evidence::{Answer, Evidence, Failure, Found, Need, Source};
use selfsame_tls::identity::{
    CertificateIdentity, CertificatePolicy, Expected, Identities, IdentityPolicy, PeerPolicy,
    SsiIdentity, Staples, TrustedIssuer, Vc,
};
use selfsame_tls::profile::LINKS;
use selfsame_tls::{
    ClientAuth, ClientConfig, Config, Connection, Group, ServerConfig, SigningKey, Suite,
};

use super::world::{ISSUER, NAME, Party, World, issuer_key};
use super::{Cell, Draw, Way};
use crate::Error;

/// Both sides as our implementation has them.
pub struct Ours {
    servers: Side,
    clients: Side,
    issuer: TrustedIssuer,
    for_server: CertificatePolicy,
    for_clients: CertificatePolicy,
    resolved: HashMap<Did, Arc<Resolution>>,
}

struct Side(Vec<Known>);

struct Known {
    certificate: CertificateIdentity,
    ssi: SsiIdentity,
}

/// What could not be, in the form of this crate.
pub fn failed(why: impl ToString) -> Error {
    Error::Call {
        what: "a handshake".to_owned(),
        why: why.to_string(),
    }
}

impl Ours {
    /// Reads all keys and certificates of the world.
    ///
    /// # Errors
    /// If one of them is refused.
    pub fn new(world: &World) -> Result<Self, Error> {
        let mut resolved = HashMap::new();
        let anchors = [world.root.clone()];
        let issuer = PublicKey::from_spki(&world.issuer).map_err(failed)?;
        let did = Did::parse(ISSUER).map_err(failed)?;
        Ok(Self {
            servers: Side::new(&world.servers, &mut resolved)?,
            clients: Side::new(&world.clients, &mut resolved)?,
            issuer: TrustedIssuer::new(did, vec![(issuer_key(), issuer)]),
            for_server: CertificatePolicy::for_server(NAME, &anchors).map_err(failed)?,
            for_clients: CertificatePolicy::for_clients(&anchors).map_err(failed)?,
            resolved,
        })
    }

    /// The client of this draw.
    ///
    /// # Errors
    /// If the configuration is refused.
    pub fn client(&self, cell: Cell, draw: Draw, now: UnixTime) -> Result<Connection, Error> {
        let common = common(self.clients.identities(cell.client, draw.client)?);
        let server = self.servers.get(draw.server)?;
        let policy = self.policy(cell.server, server, &self.for_server);
        let config = ClientConfig::new(common, policy).map_err(failed)?;
        Connection::client(&Arc::new(config), &ctx(now)).map_err(failed)
    }

    /// The server of this draw.
    ///
    /// # Errors
    /// If the configuration is refused.
    pub fn server(&self, cell: Cell, draw: Draw, now: UnixTime) -> Result<Connection, Error> {
        let common = common(self.servers.identities(Some(cell.server), draw.server)?);
        let client = self.clients.get(draw.client)?;
        let clients = match cell.client {
            None => ClientAuth::None,
            Some(way) => ClientAuth::Required(self.policy(way, client, &self.for_clients)),
        };
        let config = ServerConfig::new(common, clients).map_err(failed)?;
        Ok(Connection::server(&Arc::new(config), &ctx(now)))
    }

    /// What it needs, as it is in a cache.
    ///
    /// # Errors
    /// If the peer is refused.
    pub fn provide(&self, connection: &mut Connection, now: UnixTime) -> Result<(), Error> {
        while !connection.needs().is_empty() {
            let answers = connection.needs().iter().map(|need| self.answer(need, now));
            let evidence: Evidence = answers.collect();
            connection.provide(&evidence, &ctx(now)).map_err(failed)?;
        }
        Ok(())
    }

    /// Shakes hands over the stream; gives the bytes it sent.
    ///
    /// # Errors
    /// If the handshake fails.
    pub fn shake(
        &self,
        connection: &mut Connection,
        stream: &mut TcpStream,
        now: UnixTime,
    ) -> Result<usize, Error> {
        let mut sent = 0_usize;
        let mut buffer = [0; 16 * 1024];
        loop {
            let outgoing = connection.take_outgoing();
            stream.write_all(&outgoing)?;
            sent = sent.saturating_add(outgoing.len());
            if connection.is_open() {
                return Ok(sent);
            }
            let read = stream.read(&mut buffer)?;
            let received = buffer.get(..read).filter(|received| !received.is_empty());
            let received = received.ok_or_else(|| failed("the peer went away"))?;
            connection.receive(received, &ctx(now)).map_err(failed)?;
            self.provide(connection, now)?;
        }
    }

    fn answer(&self, need: &Need, now: UnixTime) -> Answer {
        let found = match need {
            Need::Did(did) => self.resolved.get_key_value(did),
            _ => None,
        };
        match found {
            Some((did, resolution)) => {
                let found = Found::new(Arc::clone(resolution), now, Source::Registry);
                Answer::Did(did.clone(), found)
            }
            None => Answer::failed(need.clone(), Failure::Unavailable, now),
        }
    }

    fn policy(&self, way: Way, peer: &Known, certificates: &CertificatePolicy) -> PeerPolicy {
        let did = peer.ssi.did.clone();
        let identities = match way {
            Way::X509 => {
                return PeerPolicy {
                    certificates: Some(certificates.clone()),
                    identities: None,
                };
            }
            Way::Did => IdentityPolicy::of_dids(&["ott"], [did]),
            Way::Vc => {
                let expected = Expected::Dids([did].into());
                IdentityPolicy::of_credentials(&["ott"], vec![self.issuer.clone()], expected)
            }
        };
        PeerPolicy {
            certificates: None,
            identities: Some(identities),
        }
    }
}

/// As the paper's tests: X25519 and AES-256, by the numbers of its authors' code.
fn common(identities: Identities) -> Config {
    Config {
        profile: &LINKS,
        suites: vec![Suite::AES_256_GCM_SHA384],
        groups: vec![Group::X25519],
        identities,
        ..Config::default()
    }
}

/// Now, with randomness of its own.
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
        let mut known = Vec::with_capacity(party.members.len());
        for member in &party.members {
            let key = keys.get(member.key).ok_or_else(|| failed("no such key"))?;
            let did = Did::parse(&member.did).map_err(failed)?;
            resolved.insert(did.clone(), Arc::new(resolution(&did, key)?));
            let certificate = CertificateIdentity::new(&member.chain, key.clone());
            known.push(Known {
                certificate: certificate.map_err(failed)?,
                ssi: SsiIdentity {
                    did,
                    key: key.clone(),
                    vc: Some(Vc::paper(member.vc.clone().into_bytes())),
                    staples: Staples::default(),
                },
            });
        }
        Ok(Self(known))
    }

    fn get(&self, at: usize) -> Result<&Known, Error> {
        self.0.get(at).ok_or_else(|| failed("no such identity"))
    }

    fn identities(&self, way: Option<Way>, at: usize) -> Result<Identities, Error> {
        let known = self.get(at)?;
        let mut identities = Identities::default();
        match way {
            None => {}
            Some(Way::X509) => identities.certificate = Some(known.certificate.clone()),
            Some(Way::Vc) => identities.ssi = Some(known.ssi.clone()),
            Some(Way::Did) => {
                let ssi = known.ssi.clone();
                identities.ssi = Some(SsiIdentity { vc: None, ..ssi });
            }
        }
        Ok(identities)
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
