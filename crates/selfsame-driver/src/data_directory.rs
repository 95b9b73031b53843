//! The files of a data directory that are not records, and why its data can't be used.

use std::path::Path;

use selfsame_crypto::SecretString;
use selfsame_store::StoreError;
use selfsame_store::rotation::KeyTrouble;

use crate::{Error, Reason, Result, private_file};

/// The file of the master key, unless it is kept elsewhere.
pub const KEY_FILE: &str = "master-key";
/// The file of the passphrase's salt and cost parameters. It is not secret, but the data are lost without it.
pub const SALT_FILE: &str = "passphrase-salt";
/// The file of a master key that a hardware security module encrypts. It is not secret, but the data are lost without it.
pub const WRAPPED_FILE: &str = "master-key.wrapped";
/// The file of the operator's token.
pub const TOKEN_FILE: &str = "operator-token";

/// The operator's token, from a file that an instance or a node wrote at its first start.
///
/// # Errors
/// If the file can't be read, is empty, or is readable by others.
pub fn token_from(file: &Path) -> Result<SecretString> {
    private_file::read(file, Reason::new("advice-token-file"))
}

/// Why the data can't be used, and what to do about it.
#[must_use]
pub fn unusable(data: &Path, error: &StoreError) -> Error {
    let advice = match error {
        StoreError::WrongKey(KeyTrouble::Early) => Reason::new("advice-former-master-key"),
        StoreError::WrongKey(_) => Reason::new("advice-master-key"),
        StoreError::OtherLayout { .. } => Reason::new("advice-release"),
        StoreError::Tampered(_) => Reason::new("advice-damage"),
        StoreError::Foreign(_) => Reason::new("advice-other-directory"),
        StoreError::Full(_) | StoreError::Storage(_) => Reason::new("advice-disk"),
        _ => Reason::new("advice-other-process"),
    };
    Error::bad_request("data-unusable")
        .with("data", &data.display())
        .with("detail", error)
        .with_reason("advice", advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_cannot_be_opened_say_whether_the_disk_or_another_process_is_in_the_way() {
        let advice = |why| {
            let error = unusable(Path::new("data"), &why);
            error.reason.parameter("advice").unwrap().to_string()
        };
        let full = StoreError::Storage("database or disk is full".to_owned());
        assert_eq!(advice(full), "advice-disk");
        let used = StoreError::InUse(Default::default());
        assert_eq!(advice(used), "advice-other-process");
    }
}
