//! The listener's certificate: given, or made by ourselves and kept in the data directory.

use std::path::{Path, PathBuf};

use clap::Args;
use url::Url;

use crate::exit::Failure;
use crate::private_file;

const IN_PEM: &str = "--tls-certificate names the chain in PEM, --tls-key its key";

/// Whose certificates are believed beside those the system trusts.
#[derive(Args, Clone, Default)]
pub struct Roots {
    /// A file of certificates (PEM) to believe beside the system's, such as the tls-certificate.pem that an instance
    /// with --tls-self-made keeps in its data directory.
    #[arg(long, env = "SELFSAME_TLS_ROOT", value_name = "FILE")]
    tls_root: Option<PathBuf>,
}

impl Roots {
    /// The certificates, as DER.
    ///
    /// # Errors
    /// If the file can't be read, or holds none.
    pub fn read(&self) -> Result<Vec<Vec<u8>>, Failure> {
        let Some(file) = &self.tls_root else {
            return Ok(Vec::new());
        };
        let wrong = |why: String| {
            Failure::environment(format!("{}: {why}", file.display()))
                .hint("--tls-root names a file of certificates in PEM")
        };
        let pem = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
        let roots = selfsame_server::Tls::certificates_of(&pem)
            .map_err(|error| wrong(error.to_string()))?;
        if roots.is_empty() {
            return Err(wrong("there is no certificate in it".to_owned()));
        }
        Ok(roots)
    }
}

/// Where the certificate comes from.
pub enum Source {
    /// Files in PEM.
    Given {
        /// The chain, the leaf first.
        certificates: PathBuf,
        /// Its key.
        key: PathBuf,
    },
    /// Made for the origin's host at the first start.
    SelfMade,
}

impl Source {
    /// Reads or makes the certificate.
    ///
    /// # Errors
    /// If a file can't be read or written, or holds no certificate.
    pub fn load(&self, data: &Path, origin: &Url) -> Result<selfsame_server::Tls, Failure> {
        let (certificates, key) = match self {
            Self::Given { certificates, key } => (certificates.clone(), key.clone()),
            Self::SelfMade => {
                let files = (data.join("tls-certificate.pem"), data.join("tls-key.pem"));
                if !files.0.exists() {
                    let host = origin.host_str().unwrap_or("localhost");
                    let made = selfsame_server::Tls::self_made(host)
                        .map_err(|error| Failure::ours(error.to_string()))?;
                    private_file::write(&files.1, made.key_pem.expose().as_bytes())?;
                    private_file::write(&files.0, made.certificate_pem.as_bytes())?;
                }
                files
            }
        };
        let read = |file: &Path| {
            std::fs::read(file).map_err(|error| {
                Failure::environment(format!("{}: {error}", file.display())).hint(IN_PEM)
            })
        };
        selfsame_server::Tls::from_pem(&read(&certificates)?, &read(&key)?).map_err(|error| {
            Failure::environment(format!("{}: {error}", certificates.display())).hint(IN_PEM)
        })
    }
}
