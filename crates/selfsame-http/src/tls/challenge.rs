//! The answer to an authority that asks in a handshake whether a host is served here (RFC 8737).

use std::sync::Arc;

use rcgen::{CertificateParams, CustomExtension, KeyPair};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;

use super::TlsError;

/// The protocol that the authority alone offers (RFC 8737 §6.2).
pub(crate) const PROTOCOL: &[u8] = b"acme-tls/1";

/// What the listener shows to an authority that asks for a host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AlpnAnswer {
    /// The host.
    pub host: String,
    /// The SHA-256 digest of the key authorization (RFC 8555 §8.1).
    pub digest: [u8; 32],
}

impl AlpnAnswer {
    /// The certificate that proves control of the host: for its name alone, with the digest in a critical extension
    /// (RFC 8737 §3).
    pub(super) fn certificate(&self, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
        let key = KeyPair::generate().map_err(TlsError::Make)?;
        let names = vec![self.host.clone()];
        let mut params = CertificateParams::new(names).map_err(TlsError::Make)?;
        params.custom_extensions = vec![CustomExtension::new_acme_identifier(&self.digest)];
        let made = params.self_signed(&key).map_err(TlsError::Make)?;
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let key = provider
            .key_provider
            .load_private_key(PrivateKeyDer::Pkcs8(key));
        // The library that compares certificates with keys refuses an extension that is critical and that it does not know.
        let chain = vec![made.der().clone()];
        Ok(CertifiedKey::new(chain, key.map_err(TlsError::Unusable)?))
    }

    /// The certificate of an answer with its host in lower case, to be looked up by it.
    pub(super) fn by_host(
        &self,
        provider: &CryptoProvider,
    ) -> Result<(String, Arc<CertifiedKey>), TlsError> {
        let made = Arc::new(self.certificate(provider)?);
        Ok((self.host.to_ascii_lowercase(), made))
    }
}
