//! Our own signatures: the private keys of our identities.

use std::fmt;
use std::sync::Arc;

use rustls::SignatureScheme;
use rustls::crypto::aws_lc_rs::sign::any_supported_type;
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use zeroize::Zeroizing;

use super::verifying::SCHEMES;
use crate::alert::Refusal;
use crate::error::ConfigError;
use crate::named::Scheme;

/// A key that signs handshakes: Ed25519, P-256, P-384, RSA of 2,048 bits or more, ML-DSA-44 or ML-DSA-65.
#[derive(Clone)]
pub struct SigningKey(Arc<dyn rustls::sign::SigningKey>);

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(secret)")
    }
}

impl SigningKey {
    /// Reads a private key in PKCS#8 (DER).
    pub fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, ConfigError> {
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(pkcs8));
        any_supported_type(&key)
            .map(Self)
            .map_err(|_| ConfigError::Key)
    }

    /// Reads the first private key in a PEM text: PKCS#8, or the older formats for RSA and elliptic curves.
    pub fn from_pem(pem: &[u8]) -> Result<Self, ConfigError> {
        let key = PrivateKeyDer::from_pem_slice(pem).map_err(|_| ConfigError::Key)?;
        any_supported_type(&Zeroizing::new(key))
            .map(Self)
            .map_err(|_| ConfigError::Key)
    }

    /// The public key as SubjectPublicKeyInfo (DER).
    pub fn spki(&self) -> Option<Vec<u8>> {
        self.0.public_key().map(|spki| spki.to_vec())
    }

    /// The first of our schemes that the peer can verify and the key can sign with.
    pub(crate) fn choose(&self, offered: &[Scheme]) -> Option<Scheme> {
        let ours = SCHEMES.iter().copied();
        let mut ours = ours.filter(|scheme| offered.contains(scheme));
        ours.find(|scheme| self.signer(*scheme).is_some())
    }

    pub(crate) fn sign(&self, scheme: Scheme, message: &[u8]) -> Result<Vec<u8>, Refusal> {
        let failed = Refusal::internal("the own key can't sign");
        let signer = self.signer(scheme).ok_or(failed)?;
        signer.sign(message).map_err(|_| failed)
    }

    fn signer(&self, scheme: Scheme) -> Option<Box<dyn rustls::sign::Signer>> {
        self.0.choose_scheme(&[SignatureScheme::from(scheme.0)])
    }
}
