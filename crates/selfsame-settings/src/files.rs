//! The settings file and the files that it names: how they are read, and what must not be in them.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use selfsame_crypto::SecretString;
use selfsame_driver::{Reason, private_file};
use selfsame_terminal::exit::Failure;

/// Maximum size of a settings file, or of a certificate file that it names, in bytes.
const FILE_MAX: u64 = 1_000_000;
/// The beginning of a PEM text, which a setting may hold in place of a path.
const PEM: &str = "-----BEGIN ";
/// The end of the first line of a private key in PEM, for every type of key.
const PRIVATE_KEY: &str = "PRIVATE KEY-----";

/// The file that a setting names, unless the setting is the certificate itself.
pub fn file(directory: &Path, setting: &str) -> Option<PathBuf> {
    (!setting.trim_start().starts_with(PEM)).then(|| directory.join(setting))
}

/// A file relative to the settings' directory.
/// A value that is the content instead of a path is refused, and not shown.
///
/// # Errors
/// If it is the content.
pub fn beside(directory: &Path, file: &Path) -> Result<PathBuf, Failure> {
    match is_content(file) {
        true => Err(Failure::environment(
            "a setting contains a certificate or a key instead of the path of a file",
        )
        .hint("save it in a separate file, and set the path of that file")),
        false => Ok(directory.join(file)),
    }
}

/// Whether this is a PEM text where a path is expected: an error must not show it.
pub fn is_content(path: &Path) -> bool {
    path.to_string_lossy().contains(PEM)
}

/// Refuses settings that contain a private key, before the parser could show the line in an error.
///
/// # Errors
/// If there is one.
pub fn no_key(path: &Path, text: &str) -> Result<(), Failure> {
    let mut lines = (1_usize..).zip(text.lines());
    match lines.find(|(_, line)| line.contains(PRIVATE_KEY)) {
        Some((number, _)) => Err(Failure::environment(format!(
            "{}: line {number} contains a private key",
            path.display()
        ))
        .hint("save it in a separate file (chmod 600), and set the path of that file")),
        None => Ok(()),
    }
}

/// The text of a settings file.
///
/// # Errors
/// If it can't be read.
pub fn text(path: &Path) -> Result<String, Failure> {
    String::from_utf8(bytes(path)?).map_err(|error| unreadable(path, &error))
}

/// Reads a file up to the maximum size, since a device or a log may be named by mistake.
///
/// # Errors
/// If it can't be read, or is too large.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = || {
        let mut bytes = Vec::new();
        let mut file = std::fs::File::open(path)?.take(FILE_MAX.saturating_add(1));
        file.read_to_end(&mut bytes)?;
        match u64::try_from(bytes.len()) {
            Ok(length) if length <= FILE_MAX => Ok(bytes),
            _ => Err(std::io::Error::other("the file is too large")),
        }
    };
    read().map_err(|error| unreadable(path, &error))
}

/// The failure for a file that can't be read.
pub fn unreadable(path: &Path, error: &dyn std::error::Error) -> Failure {
    Failure::environment(format!("{}: {error}", path.display()))
        .hint("the settings file (--config) and the files that it names must exist")
}

/// The token of a registry's operator, for an instance that writes to that registry.
///
/// # Errors
/// If the file can't be read, is empty, or is readable by others.
pub fn registry_token(file: &Path) -> Result<SecretString, Failure> {
    Ok(private_file::read(
        file,
        Reason::text(
            "the registry writes the file operator-token at its first start, into its data directory or its node's folder; name the file with --registry-token-file, or as token_file under [[registry.nodes]]",
        ),
    )?)
}
