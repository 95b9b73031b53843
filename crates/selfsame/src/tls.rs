//! The listener's certificate: given, or made by ourselves and kept in the data directory.

use std::path::{Path, PathBuf};

use url::Url;

use crate::exit::Failure;
use crate::master_key::write_private;

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
                    write_private(&files.1, made.key_pem.expose().as_bytes())?;
                    write_private(&files.0, made.certificate_pem.as_bytes())?;
                }
                files
            }
        };
        let read = |file: &Path| {
            std::fs::read(file)
                .map_err(|error| Failure::environment(format!("{}: {error}", file.display())))
        };
        selfsame_server::Tls::from_pem(&read(&certificates)?, &read(&key)?)
            .map_err(|error| Failure::environment(format!("{}: {error}", certificates.display())))
    }
}
