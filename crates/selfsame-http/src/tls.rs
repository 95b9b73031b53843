//! The server's certificate: configured, or self-signed.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
use rustls::ServerConfig;
use rustls::client::verify_server_name;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use selfsame_crypto::SecretString;
use tokio_rustls::TlsAcceptor;

/// The first and the last year of a self-signed certificate. Clients trust it because they know it, not by its dates.
const YEARS: (i32, i32) = (2025, 2050);

/// A certificate with its key, ready for handshakes.
#[derive(Clone)]
pub struct Tls {
    /// The chain in DER, the server's own certificate first.
    pub certificates: Vec<Vec<u8>>,
    config: Arc<ServerConfig>,
    shown: Arc<ShownCertificate>,
}

/// The certificate for new handshakes.
#[derive(Debug)]
struct ShownCertificate(RwLock<Arc<CertifiedKey>>);

/// A self-signed certificate, for the caller to store.
pub struct SelfMade {
    /// The certificate.
    pub certificate_pem: String,
    /// Its key, PKCS#8.
    pub key_pem: SecretString,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The PEM text holds no complete chain.
    #[error("it contains no complete certificate in PEM")]
    NoCertificate(#[source] rustls::pki_types::pem::Error),
    /// The PEM text holds no complete key.
    #[error("it contains no complete private key in PEM")]
    NoKey(#[source] rustls::pki_types::pem::Error),
    /// Chain and key do not match, or the kind of key is unknown.
    #[error("the certificate cannot be used: {0}")]
    Unusable(rustls::Error),
    /// No certificate can be made for this name.
    #[error("the certificate could not be made: {0}")]
    Make(rcgen::Error),
}

impl Tls {
    /// The chain and the key in PEM (PKCS#8, SEC1 or PKCS#1).
    ///
    /// # Errors
    /// If they cannot be read or do not match.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain = certificates(chain)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(TlsError::NoKey)?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate(
                rustls::pki_types::pem::Error::NoItemsFound,
            ));
        }
        let certificates = chain.iter().map(|one| one.to_vec()).collect();
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let pair = CertifiedKey::from_der(chain, key, &provider).map_err(TlsError::Unusable)?;
        let shown = Arc::new(ShownCertificate(RwLock::new(Arc::new(pair))));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Unusable)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&shown) as _);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            certificates,
            config: Arc::new(config),
            shown,
        })
    }

    /// Uses the certificate of `next` for new handshakes; open connections continue.
    pub fn renew(&self, next: &Self) {
        let next = next.shown.now();
        *self.shown.0.write().unwrap_or_else(PoisonError::into_inner) = next;
    }

    /// Whether the server's certificate is valid for `host`, a name or an address (RFC 9525 §6).
    pub fn is_for(&self, host: &str) -> bool {
        let Some(own) = self.certificates.first() else {
            return false;
        };
        let own = CertificateDer::from(own.as_slice());
        match (
            ParsedCertificate::try_from(&own),
            ServerName::try_from(bare(host)),
        ) {
            (Ok(own), Ok(name)) => verify_server_name(&own, &name).is_ok(),
            _ => false,
        }
    }

    /// The certificates in a PEM text, as DER.
    ///
    /// # Errors
    /// If one of them cannot be read.
    pub fn certificates_of(pem: &[u8]) -> Result<Vec<Vec<u8>>, TlsError> {
        let found = certificates(pem)?;
        Ok(found.iter().map(|one| one.to_vec()).collect())
    }

    /// Makes a certificate for `host`, a name or an address, signed by its own key.
    ///
    /// # Errors
    /// If `host` is neither.
    pub fn self_made(host: &str) -> Result<SelfMade, TlsError> {
        let key = KeyPair::generate().map_err(TlsError::Make)?;
        let mut params =
            CertificateParams::new(vec![bare(host).to_owned()]).map_err(TlsError::Make)?;
        params.not_before = rcgen::date_time_ymd(YEARS.0, 1, 1);
        params.not_after = rcgen::date_time_ymd(YEARS.1, 1, 1);
        params
            .distinguished_name
            .push(DnType::CommonName, "Selfsame, self-made");
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.self_signed(&key).map_err(TlsError::Make)?;
        Ok(SelfMade {
            certificate_pem: certificate.pem(),
            key_pem: SecretString::from(key.serialize_pem()),
        })
    }

    /// Accepts handshakes with this certificate; offers HTTP/2 and HTTP/1.1.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }
}

impl ShownCertificate {
    fn now(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ResolvesServerCert for ShownCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.now())
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("certificates", &self.certificates.len())
            .finish_non_exhaustive()
    }
}

/// An IPv6 address as in certificates, without the brackets of a URL.
fn bare(host: &str) -> &str {
    host.trim_matches(['[', ']'])
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(TlsError::NoCertificate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_self_made_certificate_can_be_served() {
        for host in ["selfsame.example", "127.0.0.1", "[::1]"] {
            let made = Tls::self_made(host).unwrap();
            let tls = Tls::from_pem(
                made.certificate_pem.as_bytes(),
                made.key_pem.expose().as_bytes(),
            )
            .unwrap();
            assert_eq!(tls.certificates.len(), 1, "{host}");
            assert!(tls.is_for(host), "{host}");
            assert!(!tls.is_for("other.example") && !tls.is_for("127.0.0.2"));
        }
    }

    #[test]
    fn a_certificate_with_a_foreign_key_is_refused() {
        let one = Tls::self_made("a.example").unwrap();
        let other = Tls::self_made("a.example").unwrap();
        let mixed = Tls::from_pem(
            one.certificate_pem.as_bytes(),
            other.key_pem.expose().as_bytes(),
        );
        assert!(matches!(mixed, Err(TlsError::Unusable(_))));
        let cut = |pem: &[u8]| pem[..pem.len() / 2].to_vec();
        let (chain, key) = (
            other.certificate_pem.as_bytes(),
            other.key_pem.expose().as_bytes(),
        );
        for chain in [b"".to_vec(), cut(chain)] {
            let refused = Tls::from_pem(&chain, key);
            assert!(matches!(refused, Err(TlsError::NoCertificate(_))));
        }
        for key in [b"".to_vec(), cut(key)] {
            let refused = Tls::from_pem(chain, &key);
            assert!(matches!(refused, Err(TlsError::NoKey(_))));
        }
    }
}
