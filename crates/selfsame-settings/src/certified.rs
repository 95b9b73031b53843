//! The certificate and the key of a section: two PEM files, or a PKCS#12 file and the file with its password.

use std::path::Path;

use selfsame_crypto::SecretString;
use selfsame_driver::{Reason, private_file};
use selfsame_terminal::exit::Failure;
use selfsame_terminal::pkcs12;

use crate::files::{beside, bytes, file, unreadable};

const KEY: &str = "`certificate_key` must name a PEM file with the key, or the file with the password of a PKCS#12 file";

/// Puts PEM texts in the place of the paths.
///
/// # Errors
/// If a file can't be read, or others can read that of the key.
pub fn read(
    directory: &Path,
    certificate: &mut Option<String>,
    key: &mut Option<SecretString>,
) -> Result<(), Failure> {
    if let Some(secret) = key {
        let file = beside(directory, Path::new(secret.expose()))?;
        *secret = private_file::read(&file, Reason::text(KEY))?;
    }
    let Some(chain) = certificate else {
        return Ok(());
    };
    let Some(file) = file(directory, chain) else {
        return Ok(());
    };
    let content = bytes(&file)?;
    if !pkcs12::is_pkcs12(&content) {
        *chain = String::from_utf8(content).map_err(|error| unreadable(&file, &error))?;
        return Ok(());
    }
    let named = file.display().to_string();
    let password = key
        .as_ref()
        .ok_or_else(|| Failure::environment(format!("{named}: it needs a password")).hint(KEY))?;
    let pair = pkcs12::read(&named, &content, password)?;
    *chain = pair.chain;
    *key = Some(pair.key);
    Ok(())
}
