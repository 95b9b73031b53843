//! The certificate the server shows: given, or made by itself.

use std::sync::Arc;

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use selfsame_crypto::SecretString;
use selfsame_crypto::time::UnixTime;
use tokio_rustls::TlsAcceptor;

/// How long a self-made certificate is good for, in years.
const YEARS: i32 = 5;

/// A certificate chain and its key, both as PEM.
#[derive(Debug)]
pub struct Certificate {
    /// The chain, the server's own certificate first.
    pub chain: String,
    /// The key (PKCS#8, SEC1 or PKCS#1).
    pub key: SecretString,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// The PEM text holds no chain or no key.
    #[error("the certificate file cannot be read: {0}")]
    Pem(rustls::pki_types::pem::Error),
    /// Chain and key do not fit, or the key is of an unknown kind.
    #[error("the certificate cannot be used: {0}")]
    Unusable(rustls::Error),
    /// No certificate could be made for this name.
    #[error("no certificate could be made: {0}")]
    Make(rcgen::Error),
}

impl Certificate {
    /// Makes a certificate for `names` (host names or addresses) signed by its own key.
    pub fn self_made(names: &[String], now: UnixTime) -> Result<Self, CertificateError> {
        let key = KeyPair::generate().map_err(CertificateError::Make)?;
        let mut params = CertificateParams::new(names.to_vec()).map_err(CertificateError::Make)?;
        let year = now.rfc3339().get(..4).and_then(|year| year.parse().ok()).unwrap_or(2026);
        params.not_before = rcgen::date_time_ymd(year, 1, 1);
        params.not_after = rcgen::date_time_ymd(year + YEARS, 1, 1);
        params.distinguished_name.push(DnType::CommonName, "Selfsame, self-made");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.self_signed(&key).map_err(CertificateError::Make)?;
        Ok(Self { chain: certificate.pem(), key: SecretString::from(key.serialize_pem()) })
    }

    /// The chain in DER, for clients that are to trust it.
    pub fn chain_der(&self) -> Result<Vec<Vec<u8>>, CertificateError> {
        Ok(self.parsed_chain()?.into_iter().map(|one| one.to_vec()).collect())
    }

    /// Takes the handshakes with this certificate; offers HTTP/2 and HTTP/1.1.
    pub fn acceptor(&self) -> Result<TlsAcceptor, CertificateError> {
        let key = PrivateKeyDer::from_pem_slice(self.key.expose().as_bytes()).map_err(CertificateError::Pem)?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(CertificateError::Unusable)?
            .with_no_client_auth()
            .with_single_cert(self.parsed_chain()?, key)
            .map_err(CertificateError::Unusable)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }

    fn parsed_chain(&self) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
        CertificateDer::pem_slice_iter(self.chain.as_bytes())
            .collect::<Result<Vec<_>, _>>()
            .map_err(CertificateError::Pem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_self_made_certificate_can_be_served() {
        let names = ["selfsame.example".to_owned(), "127.0.0.1".to_owned()];
        let made = Certificate::self_made(&names, UnixTime(1_790_000_000)).unwrap();
        assert!(made.acceptor().is_ok());
        assert_eq!(made.chain_der().unwrap().len(), 1);
    }

    #[test]
    fn a_certificate_with_a_foreign_key_is_refused() {
        let names = ["a.example".to_owned()];
        let one = Certificate::self_made(&names, UnixTime(1_790_000_000)).unwrap();
        let other = Certificate::self_made(&names, UnixTime(1_790_000_000)).unwrap();
        let mixed = Certificate { chain: one.chain, key: other.key };
        assert!(matches!(mixed.acceptor(), Err(CertificateError::Unusable(_))));
    }
}
