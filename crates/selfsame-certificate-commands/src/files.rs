//! Certificates and keys in files.

use std::fs;
use std::path::{Path, PathBuf};

use selfsame_crypto::encoding::base64_decode;
use selfsame_crypto::{PrivateKey, SecretString};
use selfsame_driver::{Reason, private_file};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::pkcs12::pem;

pub const CERTIFICATE: &str = "CERTIFICATE";
const PRIVATE_KEY: &str = "PRIVATE KEY";

/// The file of the certificate with this name, and that of its key.
pub fn beside(name: &Path) -> (PathBuf, PathBuf) {
    (with(name, ".pem"), with(name, ".key.pem"))
}

fn with(name: &Path, ending: &str) -> PathBuf {
    let mut text = name.as_os_str().to_owned();
    text.push(ending);
    text.into()
}

/// The first certificate in a file (DER): PEM, or DER itself.
pub fn certificate(file: &Path) -> Result<Vec<u8>, Failure> {
    let failed = |why: String| Failure::environment(format!("{}: {why}", file.display()));
    let bytes = fs::read(file).map_err(|error| failed(error.to_string()))?;
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Ok(bytes);
    };
    block(text, CERTIFICATE).ok_or_else(|| {
        failed("it has no certificate".to_owned()).hint("name a file with PEM or DER")
    })
}

/// The private key in a file (PKCS#8 in PEM), which only its owner may read.
pub fn private_key(file: &Path) -> Result<PrivateKey, Failure> {
    let advice = Reason::new("certificate-key-file");
    let text = private_file::read(file, advice)?;
    let der = block(text.expose(), PRIVATE_KEY);
    let key = der.and_then(|der| PrivateKey::from_pkcs8(&der).ok());
    key.ok_or_else(|| {
        Failure::environment(format!(
            "{}: it has no private key in PKCS#8",
            file.display()
        ))
    })
}

/// Writes a certificate and its key to new files.
pub fn write(name: &Path, certificate: &[u8], key: &PrivateKey) -> Result<(), Failure> {
    let (certificate_file, key_file) = beside(name);
    let secret = key
        .to_pkcs8()
        .map_err(|error| Failure::ours(error.to_string()))?;
    let secret = SecretString::new(pem(PRIVATE_KEY, secret.expose()));
    if certificate_file.exists() {
        let name = certificate_file.display();
        return Err(Failure::environment(format!("{name} exists")).hint("name another one: --out"));
    }
    private_file::write(&key_file, secret.expose().as_bytes())?;
    let text = pem(CERTIFICATE, certificate);
    let written = fs::write(&certificate_file, text);
    written
        .map_err(|error| Failure::environment(format!("{}: {error}", certificate_file.display())))
}

/// The content of the first PEM block with this label (RFC 7468).
fn block(text: &str, label: &str) -> Option<Vec<u8>> {
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----"))?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let body: String = body.split_ascii_whitespace().collect();
    base64_decode(&body).ok()
}
