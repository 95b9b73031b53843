//! Identities by ML-DSA: both modes, the size of a flight, and that parameter sets are not confused.

use selfsame_crypto::generate::random_seed;
use selfsame_crypto::{KeyType, PublicKey};
use selfsame_did::{Did, key};
use serde_json::Map;

use super::ssi::{Registry, Subject, client_refused, drive, only, ssi, trust_did, trusted};
use crate::identity::{
    CoseSubject, CoseVc, ExpectedPeer, Identities, IdentityPolicy, PeerPolicy, SsiIdentity, Vc,
};
use crate::profile::SELFSAME;
use crate::testing::{Ends, NOW, assert_talk, client, ctx, server};
use crate::{Alert, ClientAuth, Config, Group, Scheme, SigningKey, Suite};

/// A parameter set: key type, last byte of its object identifier, scheme, and the bytes of key and signature (FIPS 204,
/// table 2).
const SETS: [(KeyType, u8, Scheme, usize, usize); 2] = [
    (KeyType::MlDsa44, 0x11, Scheme::ML_DSA_44, 1312, 2420),
    (KeyType::MlDsa65, 0x12, Scheme::ML_DSA_65, 1952, 3309),
];

/// A subject with a fresh key of this set, whose PKCS#8 holds the seed (RFC 9881 §6).
fn subject(did: &str, set: u8) -> Subject {
    let head = [
        0x30, 0x34, 0x02, 0x01, 0x00, 0x30, 0x0b, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03,
        0x04, 0x03, set, 0x04, 0x22, 0x80, 0x20,
    ];
    let pkcs8 = [&head[..], &random_seed()].concat();
    let key = SigningKey::from_pkcs8(&pkcs8).unwrap();
    Subject {
        did: Did::parse(did).unwrap(),
        public: PublicKey::from_spki(&key.spki().unwrap()).unwrap(),
        key,
    }
}

fn own(identities: Identities) -> Config {
    Config {
        profile: &SELFSAME,
        identities,
        middleboxes: false,
        suites: vec![Suite::AES_128_GCM_SHA256],
        groups: vec![Group::X25519],
        ..Config::default()
    }
}

/// The result of a handshake with this server, and the bytes of the server's flight.
fn met(policy: PeerPolicy, identity: SsiIdentity, registry: &Registry) -> (Ends, usize) {
    let mut client = client(own(Identities::default()), policy);
    let mut server = server(own(ssi(identity)), ClientAuth::None);
    server.receive(&client.take_outgoing(), &ctx()).unwrap();
    let flight = server.take_outgoing();
    let first = client.receive(&flight, &ctx()).err();
    let mut ends = drive(&mut client, &mut server, registry);
    ends.client = ends.client.or(first);
    if ends == Ends::default() {
        assert_talk(&mut client, &mut server);
    }
    (ends, flight.len())
}

/// ServerHello, EncryptedExtensions and Finished with both records, and the overhead of each message and signature.
const REST: usize = 95 + 22 + 6 + 36;
const PROOF: usize = 4 + 2 + 2;

#[test]
fn a_did_is_proved_by_ml_dsa_whether_it_holds_the_key_or_is_resolved() {
    for (kind, set, scheme, key_bytes, signature) in SETS {
        let resolved = subject("did:web:server.example", set);
        assert_eq!(resolved.public.key_type(), kind);
        assert_eq!(resolved.key.choose(&[scheme]), Some(scheme));
        let registry = Registry::of(&[&resolved]);
        let (ends, flight) = met(only(trust_did(&resolved)), resolved.as_did(), &registry);
        assert_eq!(ends, Ends::default());
        let did = 4 + 1 + 2 + "server.example".len() + 2;
        assert_eq!(flight, REST + did + PROOF + signature);

        // A did:key of the larger set exceeds the maximum length for base58.
        if kind == KeyType::MlDsa65 {
            continue;
        }
        let itself = Subject {
            did: key::create(&resolved.public),
            ..resolved
        };
        let nobody = Registry::default();
        let (ends, flight) = met(only(trust_did(&itself)), itself.as_did(), &nobody);
        assert_eq!(ends, Ends::default());
        let did = 4 + 1 + 2 + (2 + key_bytes) + 2;
        assert_eq!(flight, REST + did + PROOF + signature);
    }
}

#[test]
fn an_issuer_signs_compact_credentials_by_ml_dsa() {
    for (_, set, scheme, _, signature) in SETS {
        let issuer = subject("did:web:issuer.example", set);
        let holder = subject("did:web:server.example", set);
        let draft = CoseVc {
            subject: CoseSubject::Did(holder.did.clone()),
            not_before: None,
            expires: NOW.plus(60),
            types: Vec::new(),
            claims: Map::new(),
            status: None,
        }
        .draft(&issuer.public)
        .unwrap();
        let signed = issuer.key.sign(scheme, &draft.signing_bytes()).unwrap();
        let identity = SsiIdentity {
            vc: Some(Vc::compact(draft.finish(&signed))),
            ..holder.as_did()
        };
        let expected = ExpectedPeer::Dids([holder.did.clone()].into());
        let policy =
            || IdentityPolicy::of_credentials(&["web"], vec![trusted(&issuer)], expected.clone());
        let registry = Registry::of(&[&holder]);
        let (ends, flight) = met(only(policy()), identity.clone(), &registry);
        assert_eq!(ends, Ends::default());
        // Two signatures and no key.
        let both = 2 * signature;
        assert!((both..both + 300).contains(&flight), "{flight}");

        // A key of the other set under the holder's name proves nothing.
        let other = subject("did:web:server.example", 0x11 + 0x12 - set);
        let swapped = Registry::of(&[&other]);
        let (ends, _) = met(only(policy()), identity, &swapped);
        assert_eq!(client_refused(ends), Alert::DecryptError);
    }
}
