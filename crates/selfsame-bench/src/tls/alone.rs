//! Measurements within one process: signatures, a client's time for a server's flight, and the bytes of the flight.

use std::sync::Arc;

use rustls::SignatureScheme;
use rustls::crypto::aws_lc_rs;
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use selfsame_crypto::generate::random_seed;
use selfsame_crypto::{Algorithm, KeyType, PrivateKey, PublicKey};
use selfsame_did::{Did, key};
use selfsame_tls::identity::{
    CoseStatus, CoseSubject, CoseVc, ExpectedPeer, Identities, IdentityPolicy, PeerPolicy,
    SsiIdentity, Staples, TrustedIssuer, Vc,
};
use selfsame_tls::profile::SELFSAME;
use selfsame_tls::{
    ClientAuth, ClientConfig, Config, Connection, Group, ServerConfig, SigningKey, Suite,
};

use super::cell::{Cell, Draw, Lookup, Way};
use super::clock::{clock, now};
use super::ours::{Course, Ours, ctx, failed};
use super::world::{ISSUER, KeyKind, World, issuer_key};
use crate::Error;
use crate::statistics::Sample;

/// The times to make and to check a signature, in milliseconds.
#[derive(Debug, Default)]
pub struct Signatures {
    /// The times to make a signature.
    pub made: Sample,
    /// The times to check a signature, including parsing the key.
    pub checked: Sample,
}

/// Measures signatures with the algorithm of a world.
pub fn signatures(world: &World, count: u64) -> Result<Signatures, Error> {
    let pkcs8 = world.servers.keys.first();
    let key = signing_key(pkcs8.ok_or_else(|| failed("no key"))?)?;
    let (scheme, bytes) = match world.kind {
        KeyKind::Rsa => (SignatureScheme::RSA_PSS_SHA256, 270),
        KeyKind::Ecdsa => (SignatureScheme::ECDSA_NISTP256_SHA256, 65),
        KeyKind::Eddsa => (SignatureScheme::ED25519, 32),
    };
    let spki = key.public_key().ok_or_else(|| failed("no public key"))?;
    // The public key is the end of its SubjectPublicKeyInfo.
    let start = spki.len().saturating_sub(bytes);
    let public = spki.get(start..).unwrap_or_default();
    let known = aws_lc_rs::default_provider().signature_verification_algorithms;
    let mapped = known.mapping.iter().find(|(mapped, _)| *mapped == scheme);
    let algorithm = mapped.and_then(|(_, algorithms)| algorithms.first());
    let algorithm = algorithm.ok_or_else(|| failed("no algorithm"))?;
    let holds = |message: &[u8], signature: &[u8]| {
        let holds = algorithm.verify_signature(public, message, signature);
        holds.is_ok()
    };
    both(key.as_ref(), scheme, count, holds)
}

/// Parameter sets of ML-DSA: the name in figures, the last byte of the object identifier, the signature scheme.
const SETS: [(&str, u8, u16, Algorithm); 2] = [
    ("mldsa44", 0x11, 0x0904, Algorithm::MlDsa44),
    ("mldsa65", 0x12, 0x0905, Algorithm::MlDsa65),
];

/// Measures signatures with ML-DSA.
pub fn post_quantum(count: u64) -> Result<[(&'static str, Signatures); 2], Error> {
    let [first, second] = SETS.map(|(name, set, scheme, algorithm)| {
        // PKCS#8 with the seed (RFC 9881 §6).
        let head = [
            0x30, 0x34, 0x02, 0x01, 0x00, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65,
            0x03, 0x04, 0x03, set, 0x04, 0x22, 0x80, 0x20,
        ];
        let key = signing_key(&[&head[..], &random_seed()].concat())?;
        let spki = key.public_key().ok_or_else(|| failed("no public key"))?;
        let holds = |message: &[u8], signature: &[u8]| {
            let key = PublicKey::from_spki(&spki);
            key.is_ok_and(|key| key.verify(algorithm, message, signature).is_ok())
        };
        let scheme = SignatureScheme::from(scheme);
        Ok::<_, Error>((name, both(key.as_ref(), scheme, count, holds)?))
    });
    Ok([first?, second?])
}

fn signing_key(pkcs8: &[u8]) -> Result<Arc<dyn rustls::sign::SigningKey>, Error> {
    let der = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(pkcs8));
    any_supported_type(&der).map_err(failed)
}

fn both(
    key: &dyn rustls::sign::SigningKey,
    scheme: SignatureScheme,
    count: u64,
    holds: impl Fn(&[u8], &[u8]) -> bool,
) -> Result<Signatures, Error> {
    let signer = key.choose_scheme(&[scheme]);
    let signer = signer.ok_or_else(|| failed("no signer"))?;
    // The length of the message that a handshake signs.
    let message = [b' '; 64 + 33 + 1 + 48];
    let mut signatures = Signatures::default();
    for _ in 0..count {
        let began = clock();
        let signature = signer.sign(&message).map_err(failed)?;
        signatures.made.add(began.elapsed());
        let began = clock();
        let holds = holds(&message, &signature);
        signatures.checked.add(began.elapsed());
        if !holds {
            return Err(failed("the signature does not hold"));
        }
    }
    Ok(signatures)
}

/// Measures a client's time for a server's whole flight, in milliseconds: parsing, the second half of the key exchange,
/// the identity and its proof, and the client's Finished. No look-up leaves the process.
pub fn processing(
    ours: &Ours<'_>,
    way: Way,
    lookup: Lookup,
    draws: &[Draw],
) -> Result<Sample, Error> {
    let mut sample = Sample::default();
    for draw in draws {
        let course = Course {
            cell: Cell::alone(way),
            lookup,
            now: now(),
        };
        let mut client = ours.client(course, *draw)?;
        let mut server = ours.server(course, *draw)?;
        let hello = client.take_outgoing();
        let random = ctx(course.now);
        server.receive(&hello, &random).map_err(failed)?;
        let flight = server.take_outgoing();
        let random = ctx(course.now);
        let began = clock();
        client.receive(&flight, &random).map_err(failed)?;
        ours.provide(&mut client, course)?;
        sample.add(began.elapsed());
        if !client.is_open() {
            return Err(failed("the flight did not open the connection"));
        }
    }
    Ok(sample)
}

/// The bytes of a server's flight in the profile `selfsame`, with Ed25519 and without middlebox compatibility: with a
/// compact credential, and with a DID alone.
pub fn flights() -> Result<(usize, usize), Error> {
    let (holder, public) = new_key()?;
    let identity = SsiIdentity {
        did: key::create(&public),
        key: holder,
        vc: None,
        staples: Staples::default(),
    };
    let by_did = IdentityPolicy::of_dids(&["key"], [identity.did.clone()]);
    let did = flight(identity.clone(), by_did)?;

    let issuer = PrivateKey::generate(KeyType::Ed25519).map_err(failed)?;
    let credential = CoseVc {
        subject: CoseSubject::Did(identity.did.clone()),
        not_before: Some(now().minus(60)),
        expires: now().plus(3_600),
        types: Vec::new(),
        claims: serde_json::Map::new(),
        status: Some(CoseStatus::Index(1_000_000)),
    };
    let draft = credential.draft(issuer.public()).map_err(failed)?;
    let signature = issuer.sign(&draft.signing_bytes()).map_err(failed)?;
    let trusted = TrustedIssuer {
        status_list: Some("https://issuer.example/status/1".to_owned()),
        ..TrustedIssuer::new(
            Did::parse(ISSUER).map_err(failed)?,
            vec![(issuer_key(), issuer.public().clone())],
        )
    };
    let expected = ExpectedPeer::Dids([identity.did.clone()].into());
    let policy = IdentityPolicy::of_credentials(&["key"], vec![trusted], expected);
    let identity = SsiIdentity {
        vc: Some(Vc::compact(draft.finish(&signature))),
        ..identity
    };
    Ok((flight(identity, policy)?, did))
}

fn new_key() -> Result<(SigningKey, PublicKey), Error> {
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).map_err(failed)?;
    let key = SigningKey::from_pkcs8(&pair.serialize_der()).map_err(failed)?;
    let spki = key.spki().ok_or_else(|| failed("no public key"))?;
    Ok((key, PublicKey::from_spki(&spki).map_err(failed)?))
}

fn flight(identity: SsiIdentity, policy: IdentityPolicy) -> Result<usize, Error> {
    let common = |ssi| Config {
        profile: &SELFSAME,
        suites: vec![Suite::AES_128_GCM_SHA256],
        groups: vec![Group::X25519],
        middleboxes: false,
        identities: Identities {
            certificate: None,
            ssi,
        },
        ..Config::default()
    };
    let expected = PeerPolicy {
        certificates: None,
        identities: Some(policy),
    };
    let client = ClientConfig::new(common(None), expected).map_err(failed)?;
    let server = ServerConfig::new(common(Some(identity)), ClientAuth::None).map_err(failed)?;
    let mut client = Connection::client(&client.into(), &ctx(now())).map_err(failed)?;
    let mut server = Connection::server(&server.into(), &ctx(now()));
    let hello = client.take_outgoing();
    server.receive(&hello, &ctx(now())).map_err(failed)?;
    let flight = server.take_outgoing();
    client.receive(&flight, &ctx(now())).map_err(failed)?;
    // The client may still need a status list, but then it has accepted the flight.
    match client.is_open() || !client.needs().is_empty() {
        true => Ok(flight.len()),
        false => Err(failed("the flight is not whole")),
    }
}
