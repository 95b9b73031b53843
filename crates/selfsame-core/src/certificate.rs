//! Certificates that the settings name: trust anchors, and chains to sign with. All of them are PEM.

use selfsame_credential::Signer;
use selfsame_crypto::x509::{self, Chain};
use selfsame_crypto::{KeyHandle, PrivateKey, PublicKey, Secret, SecretString, encoding};
use selfsame_driver::hsm::HsmKey;
use selfsame_driver::keys::Keys;
use selfsame_driver::{Error, Result};
use selfsame_store::TenantId;

const CERTIFICATE: &str = "CERTIFICATE";
const PRIVATE_KEY: &str = "PRIVATE KEY";

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

/// A chain, and where the private key of its leaf is.
pub struct CertifiedPair {
    /// The chain, the leaf first.
    pub chain: Chain,
    section: &'static str,
    x5c: Vec<Vec<u8>>,
    key: CertifiedKey,
}

/// The private key of a certificate.
enum CertifiedKey {
    /// One of a file, which was checked to be the leaf's.
    Read(PrivateKey),
    /// The one with this label in the hardware security module.
    InHsm(String),
}

/// The certificate settings of one section.
pub struct Section<'a> {
    /// The section's name.
    pub name: &'static str,
    /// The chain, PEM, if it is set.
    pub chain: Option<&'a str>,
    /// The key, PKCS#8 in PEM, if it is set.
    pub key: Option<&'a SecretString>,
    /// The label of the key in the hardware security module, which counts if no other key is set.
    pub hsm_key: Option<&'a str>,
}

/// The trust anchors, DER.
///
/// # Errors
/// `BadRequest` if one cannot be read: a skipped anchor would look like an untrusted issuer.
pub fn anchors(certificates: &[String]) -> Result<Vec<Vec<u8>>> {
    let mut anchors = Vec::new();
    for text in certificates {
        let found =
            pem_blocks(text, CERTIFICATE).ok_or_else(|| Error::bad_request("anchor-not-pem"))?;
        if found.is_empty() {
            return Err(Error::bad_request("anchor-empty"));
        }
        anchors.extend(found.into_iter().map(|der| der.expose().to_vec()));
    }
    if anchors.iter().all(|anchor| x509::is_anchor(anchor)) {
        Ok(anchors)
    } else {
        Err(Error::bad_request("anchor-not-x509"))
    }
}

impl Section<'_> {
    /// The pair, if the section has one.
    ///
    /// # Errors
    /// `BadRequest` for settings that cannot work.
    pub fn read(&self) -> Result<Option<CertifiedPair>> {
        let (chain, key) = match (self.chain, self.key, self.hsm_key) {
            (None, None, _) => return Ok(None),
            (Some(chain), Some(key), _) => (chain, CertifiedKey::Read(self.private_key(key)?)),
            (Some(chain), None, Some(label)) => (chain, CertifiedKey::InHsm(label.to_owned())),
            _ => {
                return Err(Error::bad_request("certificate-incomplete").with("section", self.name));
            }
        };
        let x5c = pem_blocks(chain, CERTIFICATE)
            .ok_or_else(|| Error::bad_request("certificate-not-pem").with("section", self.name))?;
        let x5c: Vec<Vec<u8>> = x5c.into_iter().map(|der| der.expose().to_vec()).collect();
        let chain = Chain::parse(&x5c).map_err(|error| {
            Error::bad_request("certificate-chain-wrong")
                .with("section", self.name)
                .with("detail", &error)
        })?;
        let pair = CertifiedPair {
            chain,
            section: self.name,
            x5c,
            key,
        };
        if let CertifiedKey::Read(key) = &pair.key {
            pair.is_of(key.public())?;
        }
        Ok(Some(pair))
    }

    fn private_key(&self, pem: &SecretString) -> Result<PrivateKey> {
        let found = pem_blocks(pem.expose(), PRIVATE_KEY);
        let key = match found.as_deref() {
            Some([pkcs8]) => PrivateKey::from_pkcs8(pkcs8.expose()).ok(),
            _ => None,
        };
        key.ok_or_else(|| {
            Error::bad_request("certificate-key-unreadable").with("section", self.name)
        })
    }

    /// The error of a setting without the certificate that it needs.
    #[must_use]
    pub fn lacking(&self, setting: &str) -> Error {
        Error::bad_request("certificate-lacking")
            .with("section", self.name)
            .with("setting", setting)
    }
}

impl CertifiedPair {
    /// Checks that the leaf certifies this key.
    fn is_of(&self, key: &PublicKey) -> Result<()> {
        match key == self.chain.leaf_public_key() {
            true => Ok(()),
            false => {
                Err(Error::bad_request("certificate-of-other-key").with("section", self.section))
            }
        }
    }

    /// Moves the key into the key store, sealed, or names it there if it is in the hardware security module. The
    /// certificate is for this name.
    ///
    /// # Errors
    /// `BadRequest` if the module has another key; the store's and the module's.
    pub async fn keep(self, keys: &Keys, tenant: &TenantId, name: String) -> Result<Certificate> {
        let public = self.chain.leaf_public_key().clone();
        let signer = Signer {
            algorithm: public.key_type().default_algorithm(),
            key: KeyHandle::of(&public),
            kid: None,
            x5c: self.x5c.clone(),
        };
        if let CertifiedKey::InHsm(label) = &self.key {
            let found = keys.hsm()?.find(label).await?;
            self.is_of(&found)?;
            keys.hold(tenant, &HsmKey::new(label, found)).await?;
        }
        if let CertifiedKey::Read(key) = self.key {
            keys.import(tenant, key).await?;
        }
        Ok(Certificate {
            name,
            public,
            signer,
        })
    }
}

/// The contents of the PEM blocks with this label (RFC 7468); skips other blocks. `None` if a block is malformed.
fn pem_blocks(pem: &str, label: &str) -> Option<Vec<Secret>> {
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
