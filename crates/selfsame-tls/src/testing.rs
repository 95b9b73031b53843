//! Shared by tests: vectors, certificates, and two ends joined in memory.

use std::collections::HashMap;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, IsCa, Issuer, KeyPair,
    RevokedCertParams,
};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::hex_decode;
use selfsame_crypto::generate::random_seed;
use selfsame_crypto::time::UnixTime;

use crate::identity::{CertificateIdentity, CertificatePolicy, Identities, PeerPolicy};
use crate::{ClientAuth, ClientConfig, Config, Connection, Error, ServerConfig, SigningKey};

/// The time in tests.
pub(crate) const NOW: UnixTime = UnixTime(1_790_000_000);
/// The server's name.
pub(crate) const NAME: &str = "server.example";

/// The values of a vector file, by name.
pub(crate) struct Vectors(HashMap<String, Vec<u8>>);

impl Vectors {
    /// Reads lines of `name: hex`; lines that begin with a space continue a value, lines with `#` are comments.
    pub(crate) fn parse(text: &str) -> Self {
        let mut values: HashMap<String, String> = HashMap::new();
        let mut name = "";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let mut value = line.trim();
            if !line.starts_with(' ') {
                (name, value) = line.split_once(':').unwrap();
                assert!(!values.contains_key(name), "{name} stands twice");
            }
            let whole = values.entry(name.to_owned()).or_default();
            whole.push_str(value.trim());
        }
        let decode = |(name, hex): (String, String)| (name, hex_decode(&hex).unwrap());
        Self(values.into_iter().map(decode).collect())
    }

    pub(crate) fn get(&self, name: &str) -> &[u8] {
        let value = self.0.get(name);
        value.unwrap_or_else(|| panic!("no vector named {name}"))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

pub(crate) fn rfc8448() -> Vectors {
    Vectors::parse(include_str!("../../../vectors/tls/rfc8448-simple-1rtt.txt"))
}

/// A certification authority.
pub(crate) struct Authority {
    pub(crate) der: Vec<u8>,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate under an authority, with its key (PKCS#8).
#[derive(Clone)]
pub(crate) struct Leaf {
    pub(crate) chain: Vec<Vec<u8>>,
    pub(crate) key: Vec<u8>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        Self::named(&selfsame_crypto::encoding::hex_encode(&random_seed()))
    }

    pub(crate) fn named(name: &str) -> Self {
        Self::with_key(name, KeyPair::generate().unwrap())
    }

    /// An authority whose key is of this kind.
    pub(crate) fn signing_with(algorithm: &'static rcgen::SignatureAlgorithm) -> Self {
        Self::with_key("authority", KeyPair::generate_for(algorithm).unwrap())
    }

    fn with_key(name: &str, key: KeyPair) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        let der = params.self_signed(&key).unwrap().der().to_vec();
        Self {
            der,
            issuer: Issuer::new(params, key),
        }
    }

    pub(crate) fn leaf(&self, algorithm: &'static rcgen::SignatureAlgorithm) -> Leaf {
        self.leaf_with(algorithm, |_| {})
    }

    pub(crate) fn leaf_with(
        &self,
        algorithm: &'static rcgen::SignatureAlgorithm,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Leaf {
        let mut params = CertificateParams::new(vec![NAME.to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate_for(algorithm).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Leaf {
            chain: vec![certificate.der().to_vec()],
            key: key.serialize_der(),
        }
    }

    /// A revocation list of the authority with these serial numbers.
    pub(crate) fn crl(&self, revoked: &[u64]) -> Vec<u8> {
        let issued = rcgen::date_time_ymd(2026, 9, 1);
        let revoke = |serial: &u64| RevokedCertParams {
            serial_number: (*serial).into(),
            revocation_time: issued,
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: issued,
            next_update: rcgen::date_time_ymd(2026, 12, 1),
            crl_number: 1.into(),
            issuing_distribution_point: None,
            revoked_certs: revoked.iter().map(revoke).collect(),
            key_identifier_method: rcgen::KeyIdMethod::Sha256,
        };
        list.signed_by(&self.issuer).unwrap().der().to_vec()
    }

    /// A policy that trusts the server with the usual name.
    pub(crate) fn server(&self) -> PeerPolicy {
        let anchors = [self.der.clone()];
        PeerPolicy {
            certificates: Some(CertificatePolicy::for_server(NAME, &anchors).unwrap()),
            identities: None,
        }
    }

    /// A policy that trusts all clients of this authority.
    pub(crate) fn clients(&self) -> PeerPolicy {
        let anchors = [self.der.clone()];
        PeerPolicy {
            certificates: Some(CertificatePolicy::for_clients(&anchors).unwrap()),
            identities: None,
        }
    }
}

impl Leaf {
    pub(crate) fn identities(&self) -> Identities {
        let key = SigningKey::from_pkcs8(&self.key).unwrap();
        Identities {
            certificate: Some(CertificateIdentity::new(&self.chain, key).unwrap()),
            ssi: None,
        }
    }
}

pub(crate) fn ctx() -> Ctx {
    Ctx::new(NOW, random_seed())
}

pub(crate) fn client(common: Config, server: PeerPolicy) -> Connection {
    let config = ClientConfig::new(common, server).unwrap();
    Connection::client(&Arc::new(config), &ctx()).unwrap()
}

pub(crate) fn server(common: Config, clients: ClientAuth) -> Connection {
    let config = ServerConfig::new(common, clients).unwrap();
    Connection::server(&Arc::new(config), &ctx())
}

/// Carries bytes both ways until neither end has any; returns the errors of both.
pub(crate) fn join(client: &mut Connection, server: &mut Connection) -> Ends {
    let mut ends = Ends::default();
    loop {
        let (up, down) = (client.take_outgoing(), server.take_outgoing());
        if up.is_empty() && down.is_empty() {
            return ends;
        }
        if !up.is_empty() {
            ends.server = ends.server.or(server.receive(&up, &ctx()).err());
        }
        if !down.is_empty() {
            ends.client = ends.client.or(client.receive(&down, &ctx()).err());
        }
    }
}

/// The errors of both ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Ends {
    pub(crate) client: Option<Error>,
    pub(crate) server: Option<Error>,
}

/// Asserts that data goes both ways.
pub(crate) fn assert_talk(client: &mut Connection, server: &mut Connection) {
    client.send(b"ping").unwrap();
    server.send(b"pong").unwrap();
    assert_eq!(join(client, server), Ends::default());
    assert_eq!(server.take_incoming(), b"ping");
    assert_eq!(client.take_incoming(), b"pong");
}
