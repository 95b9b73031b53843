//! The X.509 certificate that a node presents to peers that accept no DID or credential.

use std::path::{Path, PathBuf};

use clap::Args;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject as _;
use selfsame_crypto::SecretString;
use selfsame_driver::{Reason, private_file};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::pkcs12;
use selfsame_tls::SigningKey;
use selfsame_tls::identity::CertificateIdentity;

const IN_PEM: &str = "--certificate names a PEM file with the chain, this node's certificate first; --certificate-key names a PEM file with its key";

/// The files of a certificate and its key.
#[derive(Args, Clone, Default)]
pub struct OwnCertificate {
    /// A certificate chain (PEM), or a PKCS#12 file with chain and key, this node's certificate first, for peers that accept no DID or credential, or instead
    /// of an identity.
    #[arg(long, value_name = "FILE", requires = "certificate_key")]
    certificate: Option<PathBuf>,
    /// The certificate's private key (PEM), or the file with the password of a PKCS#12 file.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    certificate_key: Option<PathBuf>,
}

impl OwnCertificate {
    /// The certificate in these files.
    pub fn of(certificate: Option<PathBuf>, key: Option<PathBuf>) -> Self {
        Self {
            certificate,
            certificate_key: key,
        }
    }

    /// Reads both files; `None` if none are named.
    ///
    /// # Errors
    /// If one is named without the other, can't be read, or does not belong to the other.
    pub fn read(&self) -> Result<Option<CertificateIdentity>, Failure> {
        let (chain, key) = match (&self.certificate, &self.certificate_key) {
            (None, None) => return Ok(None),
            (Some(chain), Some(key)) => (chain, key),
            _ => {
                let half = "a certificate and its key must be named together";
                return Err(Failure::environment(half).hint(IN_PEM));
            }
        };
        let mut pem = std::fs::read(chain).map_err(|error| wrong(chain, error))?;
        let secret = match pkcs12::is_pkcs12(&pem) {
            true => {
                let password = private_file::read(key, Reason::text(pkcs12::PASSWORD))?;
                let pair = pkcs12::read(&chain.display().to_string(), &pem, &password)?;
                pem = pair.chain.into_bytes();
                pair.key
            }
            false => {
                let secret = std::fs::read_to_string(key).map_err(|error| wrong(key, error))?;
                SecretString::new(secret)
            }
        };
        let certificates = CertificateDer::pem_slice_iter(&pem)
            .map(|one| one.map(|der| der.to_vec()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| wrong(chain, error))?;
        if certificates.is_empty() {
            return Err(wrong(chain, "the file contains no certificate"));
        }
        let signing = SigningKey::from_pem(secret.expose().as_bytes());
        let signing = signing.map_err(|error| wrong(key, error))?;
        CertificateIdentity::new(&certificates, signing)
            .map(Some)
            .map_err(|error| wrong(chain, error))
    }
}

fn wrong(file: &Path, why: impl ToString) -> Failure {
    Failure::environment(format!("{}: {}", file.display(), why.to_string())).hint(IN_PEM)
}
