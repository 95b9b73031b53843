//! The files of a data directory that are not records, and why its data can't be used.

use std::path::Path;

use selfsame_crypto::SecretString;
use selfsame_store::StoreError;

use crate::{Error, Result, private_file};

/// The file of the master key, unless it is kept elsewhere.
pub const KEY_FILE: &str = "master-key";
/// The file of the passphrase's salt and cost parameters. It is not secret, but the data are lost without it.
pub const SALT_FILE: &str = "passphrase-salt";
/// The file of the operator's token.
pub const TOKEN_FILE: &str = "operator-token";

/// The operator's token, from a file that an instance or a node wrote at its first start.
///
/// # Errors
/// If the file can't be read, is empty, or is readable by others.
pub fn token_from(file: &Path) -> Result<SecretString> {
    private_file::read(
        file,
        "the first start writes the file operator-token into the instance's data directory or the node's folder; name the file with --token-file, or set SELFSAME_TOKEN",
    )
}

/// Why the data can't be used, and what to do about it.
#[must_use]
pub fn unusable(data: &Path, error: &StoreError) -> Error {
    Error::bad_request(format!("{}: {error}", data.display())).with_hint(match error {
        StoreError::WrongKey => {
            "use the master key that these data were written with: --master-key-file, or SELFSAME_PASSPHRASE"
        }
        StoreError::OtherLayout { .. } => {
            "start the release that wrote these data, or name another directory with --data"
        }
        StoreError::Tampered(_) => {
            "find the damage: selfsame check --data (docs/check.md); then restore a copy: selfsame restore"
        }
        StoreError::Foreign(_) => "name another directory with --data",
        StoreError::Full(_) | StoreError::Storage(_) => {
            "check that its disk has free space and is writable, or name another directory with --data"
        }
        _ => "another process uses this directory: stop it first, or name another directory with --data",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_cannot_be_opened_say_whether_the_disk_or_another_process_is_in_the_way() {
        let hint = |why| {
            let error = unusable(Path::new("data"), &why);
            error.hint.unwrap()
        };
        let full = hint(StoreError::Storage("database or disk is full".to_owned()));
        assert!(
            full.contains("free space") && !full.contains("process"),
            "{full}"
        );
        assert!(hint(StoreError::InUse(Default::default())).contains("stop it first"));
    }
}
