//! The participants: any number of identities on both sides, and the authorities that certify them.

use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, PublicKeyData,
    SignatureAlgorithm,
};
use selfsame_crypto::encoding::hex_encode;
use selfsame_crypto::generate::random_seed;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::{KeyType, PrivateKey, PublicKey};
use selfsame_did::selfsame::{self, Network};
use selfsame_tls::SigningKey;
use selfsame_tls::identity::{PaperContent, PaperVc};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The server's name in certificates.
pub const NAME: &str = "server.example";
/// The issuer of all credentials.
pub const ISSUER: &str = "did:ott:1111111111111111111111111111111111111111111111111111111111111111";
/// The number of RSA keys on a side. Its identities share them: ten thousand would take a quarter of an hour to
/// generate.
const RSA_KEYS: usize = 64;
/// The lifetime of certificates and credentials, in seconds.
const VALID: u64 = 86_400;

/// The algorithm of all keys of a world.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyKind {
    /// RSA with 2,048 bits.
    Rsa,
    /// ECDSA with P-256.
    Ecdsa,
    /// Ed25519.
    Eddsa,
}

impl KeyKind {
    /// All, in the order of the paper's tables.
    pub const ALL: [Self; 3] = [Self::Rsa, Self::Ecdsa, Self::Eddsa];

    /// Its name in figures.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rsa => "rsa",
            Self::Ecdsa => "ecdsa",
            Self::Eddsa => "eddsa",
        }
    }

    fn algorithm(self) -> &'static SignatureAlgorithm {
        match self {
            Self::Rsa => &rcgen::PKCS_RSA_SHA256,
            Self::Ecdsa => &rcgen::PKCS_ECDSA_P256_SHA256,
            Self::Eddsa => &rcgen::PKCS_ED25519,
        }
    }
}

/// One member of a side, with all three identities for one key.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SideMember {
    /// The index of its key among the side's keys.
    pub key: usize,
    /// Its DID, 72 characters long as in the paper.
    pub did: String,
    /// Its credential, in the paper's form.
    pub vc: String,
    /// Its certificate and the intermediate authority's (DER); the root is not sent.
    pub chain: Vec<Vec<u8>>,
    /// Its identity in the registry.
    pub registered: Registered,
}

/// A DID of the registry for the member's key.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Registered {
    /// The did:selfsame.
    pub did: String,
    /// Its credential, in the paper's form.
    pub vc: String,
    /// The registry's proofs (a staple's body), if they were fetched.
    pub staples: Vec<Vec<u8>>,
    /// The key that the DID begins with, if that is not the identity's own: an RSA key can't sign transactions.
    #[serde(skip)]
    pub owner: Option<Arc<PrivateKey>>,
}

/// One side.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Party {
    /// Private keys (PKCS#8).
    pub keys: Vec<Vec<u8>>,
    /// The identities from which each handshake draws one.
    pub members: Vec<SideMember>,
}

/// All participants with keys of one algorithm.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct World {
    /// The algorithm.
    pub kind: KeyKind,
    /// The root certificate (DER).
    pub root: Vec<u8>,
    /// The issuer's public key (SubjectPublicKeyInfo).
    pub issuer: Vec<u8>,
    /// The registry's genesis, from which all its proofs are verified.
    pub genesis: Vec<u8>,
    /// The servers.
    pub servers: Party,
    /// The clients.
    pub clients: Party,
}

impl World {
    /// Creates a world with `count` identities on each side, whose DIDs belong to the registry of this genesis.
    ///
    /// # Errors
    /// If a key can't be generated.
    pub fn make(kind: KeyKind, count: usize, genesis: &[u8], now: UnixTime) -> Result<Self, Error> {
        let network = Network::of_genesis(genesis);
        let maker = Maker::new(kind, network, now).map_err(made)?;
        let issuer = maker.issuer.spki().ok_or_else(|| made("no public key"))?;
        let (servers, clients) = std::thread::scope(|scope| {
            let servers = scope.spawn(|| maker.party(count).map_err(made));
            (servers.join(), maker.party(count).map_err(made))
        });
        Ok(Self {
            kind,
            root: maker.root.clone(),
            issuer,
            genesis: genesis.to_vec(),
            servers: servers.map_err(|_| made("a thread ended"))??,
            clients: clients?,
        })
    }

    /// Writes the world to a file for the other processes.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn write(&self, file: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        Ok(std::fs::write(file, text)?)
    }

    /// Reads a world from a file.
    ///
    /// # Errors
    /// If the file can't be read.
    pub fn read(file: &Path) -> Result<Self, Error> {
        let text = std::fs::read(file)?;
        Ok(serde_json::from_slice(&text).map_err(std::io::Error::other)?)
    }
}

fn made(why: impl ToString) -> Error {
    Error::Call {
        what: "an identity".to_owned(),
        why: why.to_string(),
    }
}

/// The root, the intermediate authority and the issuer that make identities.
struct Maker {
    kind: KeyKind,
    root: Vec<u8>,
    intermediate: Vec<u8>,
    authority: Issuer<'static, KeyPair>,
    issuer: SigningKey,
    network: Network,
    now: UnixTime,
}

impl Maker {
    fn new(kind: KeyKind, network: Network, now: UnixTime) -> Result<Self, rcgen::Error> {
        let (params, key) = authority("root", kind)?;
        let root = params.self_signed(&key)?.der().to_vec();
        let issuer = Issuer::new(params, key);
        let (params, key) = authority("intermediate", kind)?;
        let intermediate = params.signed_by(&key, &issuer)?.der().to_vec();
        let pkcs8 = KeyPair::generate_for(kind.algorithm())?.serialize_der();
        let vouching = SigningKey::from_pkcs8(&pkcs8);
        Ok(Self {
            kind,
            root,
            intermediate,
            authority: Issuer::new(params, key),
            issuer: vouching.map_err(|_| rcgen::Error::KeyGenerationUnavailable)?,
            network,
            now,
        })
    }

    fn party(&self, count: usize) -> Result<Party, rcgen::Error> {
        let distinct = match self.kind {
            KeyKind::Rsa => count.min(RSA_KEYS),
            KeyKind::Ecdsa | KeyKind::Eddsa => count,
        };
        let pairs: Vec<KeyPair> = (0..distinct)
            .map(|_| KeyPair::generate_for(self.kind.algorithm()))
            .collect::<Result<_, _>>()?;
        let member =
            |(number, (key, pair)): (usize, (usize, &KeyPair))| self.member(number, key, pair);
        let taken = pairs.iter().enumerate().cycle().take(count);
        Ok(Party {
            members: taken.enumerate().map(member).collect::<Result<_, _>>()?,
            keys: pairs.iter().map(KeyPair::serialize_der).collect(),
        })
    }

    fn member(
        &self,
        number: usize,
        key: usize,
        pair: &KeyPair,
    ) -> Result<SideMember, rcgen::Error> {
        let mut params = CertificateParams::new(vec![NAME.to_owned()])?;
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(DnType::CommonName, format!("node {number}"));
        let certificate = params.signed_by(pair, &self.authority)?;
        let did = format!("did:ott:{}", hex_encode(&random_seed()));
        Ok(SideMember {
            key,
            vc: self.vouch(&did)?,
            did,
            chain: vec![certificate.der().to_vec(), self.intermediate.clone()],
            registered: self.registered(pair)?,
        })
    }

    fn registered(&self, pair: &KeyPair) -> Result<Registered, rcgen::Error> {
        let unfit = |_| rcgen::Error::KeyGenerationUnavailable;
        let (did, owner) = match self.kind {
            KeyKind::Rsa => {
                let owner = PrivateKey::generate(KeyType::Ed25519).map_err(unfit)?;
                let did = selfsame::create(&self.network, owner.public());
                (did, Some(Arc::new(owner)))
            }
            KeyKind::Ecdsa | KeyKind::Eddsa => {
                let public = PublicKey::from_spki(&pair.subject_public_key_info());
                let public = public.map_err(|_| rcgen::Error::CouldNotParseKeyPair)?;
                (selfsame::create(&self.network, &public), None)
            }
        };
        Ok(Registered {
            vc: self.vouch(did.as_str())?,
            did: did.to_string(),
            staples: Vec::new(),
            owner,
        })
    }

    /// Issues a credential about a DID.
    fn vouch(&self, did: &str) -> Result<String, rcgen::Error> {
        let vc = PaperVc::new(PaperContent {
            id: "https://issuer.example/credentials/1",
            issuer: ISSUER,
            subject: did,
            issued: self.now.minus(60),
            expires: self.now.plus(VALID),
        });
        let vc = vc.sign(&self.issuer, &issuer_key());
        let vc = vc.map_err(|_| rcgen::Error::RemoteKeyError)?;
        Ok(String::from_utf8_lossy(&vc).into_owned())
    }
}

/// The DID URL of the issuer's key.
#[must_use]
pub fn issuer_key() -> String {
    format!("{ISSUER}#keys-1")
}

fn authority(name: &str, kind: KeyKind) -> Result<(CertificateParams, KeyPair), rcgen::Error> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    Ok((params, KeyPair::generate_for(kind.algorithm())?))
}
