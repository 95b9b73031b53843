//! The certificates of this instance's issuer and verifier, and its trust anchors.

use selfsame_credential::Signer;
use selfsame_crypto::time::UnixTime;
use selfsame_crypto::x509::{self, Chain, X509Error};
use selfsame_crypto::{KeyHandle, PrivateKey, PublicKey, Secret, SecretString, encoding};
use selfsame_driver::keys::Keys;
use selfsame_driver::{Error, Result};
use selfsame_store::TenantId;
use url::{Host, Url};

use crate::config::{ClientIdPrefix, Config, IdentifyBy};
use crate::parties;

const CERTIFICATE: &str = "CERTIFICATE";
const PRIVATE_KEY: &str = "PRIVATE KEY";

/// The certificates that an instance signs with.
pub(crate) struct Certificates {
    /// The issuer's, if its SD-JWT VCs are signed by certificate.
    pub issuer: Option<Certificate>,
    /// The verifier's, if it has one.
    pub verifier: Option<Certificate>,
}

impl Certificates {
    /// Reads the certificates from the settings. Moves the keys from the settings into the key store, sealed.
    ///
    /// # Errors
    /// `BadRequest` for settings that cannot work; the store's.
    pub(crate) async fn open(config: &mut Config, keys: &Keys) -> Result<Self> {
        let opened = Self {
            issuer: of_issuer(config, keys).await?,
            verifier: of_verifier(config, keys).await?,
        };
        config.issuer.certificate_key = None;
        config.verifier.certificate_key = None;
        Ok(opened)
    }

    /// Warns the operator of certificates that this instance itself would not accept today; other parties may have
    /// other trust anchors.
    pub(crate) fn report(&self, anchors: &[Vec<u8>], now: UnixTime) {
        for certificate in self.issuer.iter().chain(&self.verifier) {
            let name = &certificate.name;
            let chain = Chain::parse(&certificate.signer.x5c);
            match chain.and_then(|chain| chain.verify(anchors, now)) {
                Ok(()) => {}
                Err(X509Error::Untrusted) => {
                    tracing::warn!(
                        name,
                        "the certificate does not chain to any of [trust] certificates"
                    );
                }
                Err(error) => tracing::warn!(name, %error, "the certificate is invalid"),
            }
        }
    }
}

/// A certificate chain whose key is in the key store.
#[derive(Clone)]
pub struct Certificate {
    /// The name it certifies: the verifier's DNS name, or the issuer's identifier.
    pub name: String,
    /// The key that it certifies.
    pub public: PublicKey,
    /// How to sign with it: with `x5c` in the header, and without `kid`.
    pub signer: Signer,
}

/// A chain and its private key, which was checked to be the leaf's.
struct Pair {
    chain: Chain,
    x5c: Vec<Vec<u8>>,
    key: PrivateKey,
}

/// The certificate settings of one section.
struct Section<'a> {
    name: &'static str,
    chain: Option<&'a str>,
    key: Option<&'a SecretString>,
}

/// The trust anchors, DER.
///
/// # Errors
/// `BadRequest` if one cannot be read: a skipped anchor would look like an untrusted issuer.
pub(crate) fn anchors(certificates: &[String]) -> Result<Vec<Vec<u8>>> {
    let wrong = |reason: &str| {
        Error::bad_request(format!("[trust] certificates: {reason}"))
            .with_hint("each entry must be PEM: -----BEGIN CERTIFICATE-----")
    };
    let mut anchors = Vec::new();
    for text in certificates {
        let found = blocks(text, CERTIFICATE).ok_or_else(|| wrong("an entry is not PEM"))?;
        if found.is_empty() {
            return Err(wrong("an entry contains no certificate"));
        }
        anchors.extend(found.into_iter().map(|der| der.expose().to_vec()));
    }
    if anchors.iter().all(|anchor| x509::is_anchor(anchor)) {
        Ok(anchors)
    } else {
        Err(wrong("an entry is not an X.509 certificate"))
    }
}

/// The verifier's certificate, if it has one. It must be for the host of the origin: wallets send their answers there,
/// and require both names to be equal (OpenID4VP 1.0 §5.9.3).
///
/// # Errors
/// `BadRequest` for settings that cannot work; the store's.
async fn of_verifier(config: &Config, keys: &Keys) -> Result<Option<Certificate>> {
    let told = &config.verifier;
    let section = Section {
        name: "verifier",
        chain: told.certificate.as_deref(),
        key: told.certificate_key.as_ref(),
    };
    if !config.roles.verifier {
        return Ok(None);
    }
    let Some(pair) = section.read()? else {
        if told.client_id_prefix == ClientIdPrefix::X509SanDns {
            return Err(section.lacking("client_id_prefix = \"x509_san_dns\""));
        }
        return Ok(None);
    };
    let Some(name) = config
        .origin
        .domain()
        .filter(|host| pair.chain.has_dns_name(host))
    else {
        return Err(section
            .wrong("the certificate is not for the host of this instance's origin")
            .with_hint(
                "the host must be a DNS name, and a subject alternative name of the certificate",
            ));
    };
    pair.keep(keys, parties::verifier(), name.to_owned())
        .await
        .map(Some)
}

/// The issuer's certificate, if its SD-JWT VCs are signed by certificate. It must name the issuer in a subject
/// alternative name: by its identifier as a URI, or by the DNS name of its https origin (SD-JWT VC §2.5).
///
/// # Errors
/// `BadRequest` for settings that cannot work; the store's.
async fn of_issuer(config: &Config, keys: &Keys) -> Result<Option<Certificate>> {
    let told = &config.issuer;
    let section = Section {
        name: "issuer",
        chain: told.certificate.as_deref(),
        key: told.certificate_key.as_ref(),
    };
    if !config.roles.issuer || told.identify_by != IdentifyBy::X5c {
        return Ok(None);
    }
    let pair = section
        .read()?
        .ok_or_else(|| section.lacking("identify_by = \"x5c\""))?;
    let issuer = parties::issuer_identifier(&config.origin);
    if !names(&pair.chain, &issuer, &config.origin) {
        return Err(section
            .wrong("the certificate does not name this issuer")
            .with_hint(format!("it needs the subject alternative name URI:{issuer}, or DNS: with the host of an https origin")));
    }
    pair.keep(keys, parties::issuer(), issuer).await.map(Some)
}

/// Whether the chain names the issuer, by the rule that verifiers apply.
fn names(chain: &Chain, issuer: &str, origin: &Url) -> bool {
    let https = origin.scheme() == "https";
    let by_host =
        matches!(origin.host(), Some(Host::Domain(host)) if https && chain.has_dns_name(host));
    by_host || chain.has_uri(issuer)
}

impl Section<'_> {
    fn read(&self) -> Result<Option<Pair>> {
        let (chain, key) = match (self.chain, self.key) {
            (None, None) => return Ok(None),
            (Some(chain), Some(key)) => (chain, key),
            _ => return Err(self.lacking("one of `certificate` and `certificate_key`")),
        };
        let x5c =
            blocks(chain, CERTIFICATE).ok_or_else(|| self.wrong("`certificate` is not PEM"))?;
        let x5c: Vec<Vec<u8>> = x5c.into_iter().map(|der| der.expose().to_vec()).collect();
        let chain = Chain::parse(&x5c).map_err(|error| self.wrong(&error.to_string()))?;
        let key = self.private_key(key)?;
        if key.public() != chain.leaf_public_key() {
            return Err(self
                .wrong("`certificate_key` is not the key of the first certificate")
                .with_hint("the chain starts with this key's certificate, followed by those of its authorities"));
        }
        Ok(Some(Pair { chain, x5c, key }))
    }

    fn private_key(&self, pem: &SecretString) -> Result<PrivateKey> {
        let found = blocks(pem.expose(), PRIVATE_KEY);
        let key = match found.as_deref() {
            Some([pkcs8]) => PrivateKey::from_pkcs8(pkcs8.expose()).ok(),
            _ => None,
        };
        key.ok_or_else(|| {
            self.wrong("`certificate_key` is not one P-256 or Ed25519 key in PKCS#8")
                .with_hint("`openssl pkcs8 -topk8 -nodes` converts keys of other formats")
        })
    }

    fn wrong(&self, reason: &str) -> Error {
        Error::bad_request(format!("[{}] {reason}", self.name))
    }

    fn lacking(&self, what: &str) -> Error {
        self.wrong(&format!(
            "{what} is set without the other settings it needs"
        ))
        .with_hint(format!(
            "set `certificate` and `certificate_key` under [{}]",
            self.name
        ))
    }
}

impl Pair {
    async fn keep(self, keys: &Keys, tenant: &TenantId, name: String) -> Result<Certificate> {
        let public = self.key.public().clone();
        let signer = Signer {
            algorithm: self.key.algorithm(),
            key: KeyHandle::of(&public),
            kid: None,
            x5c: self.x5c,
        };
        keys.import(tenant, self.key).await?;
        Ok(Certificate {
            name,
            public,
            signer,
        })
    }
}

/// The contents of the PEM blocks with this label (RFC 7468); skips other blocks. `None` if a block is malformed.
fn blocks(pem: &str, label: &str) -> Option<Vec<Secret>> {
    let (begin, end) = (
        format!("-----BEGIN {label}-----"),
        format!("-----END {label}-----"),
    );
    pem.split(&begin)
        .skip(1)
        .map(|block| {
            let (body, _) = block.split_once(&end)?;
            let body = SecretString::new(body.split_ascii_whitespace().collect());
            encoding::base64_decode(body.expose()).ok().map(Secret::new)
        })
        .collect()
}
