//! The certificates that are trusted in addition to the system's.

use std::path::PathBuf;

use clap::Args;
use selfsame_http::tls::Tls;
use selfsame_terminal::exit::Failure;

/// Certificates trusted in addition to the system's.
#[derive(Args, Clone, Default)]
pub struct Roots {
    /// A file of certificates (PEM) to trust in addition to the system's, such as the tls-certificate.pem that an
    /// instance with --tls-self-made keeps in its data directory.
    #[arg(long, env = "SELFSAME_TLS_ROOT", value_name = "FILE")]
    tls_root: Option<PathBuf>,
}

impl Roots {
    /// The DER certificates.
    ///
    /// # Errors
    /// If the file can't be read, or holds no certificate.
    pub fn read(&self) -> Result<Vec<Vec<u8>>, Failure> {
        let Some(file) = &self.tls_root else {
            return Ok(Vec::new());
        };
        let wrong = |why: String| {
            Failure::environment(format!("{}: {why}", file.display()))
                .hint("--tls-root names a file of certificates in PEM")
        };
        let pem = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
        let roots = Tls::certificates_of(&pem).map_err(|error| wrong(error.to_string()))?;
        if roots.is_empty() {
            return Err(wrong("the file contains no certificate".to_owned()));
        }
        Ok(roots)
    }
}
