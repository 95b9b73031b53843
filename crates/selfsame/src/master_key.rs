//! Where the master key comes from: a file, a passphrase, or, unless told, a file beside the data, which protects nothing.

use std::path::{Path, PathBuf};

use selfsame_app::copies::STORE_FILE;
use selfsame_crypto::SecretString;
use selfsame_crypto::encoding;
use selfsame_crypto::password::Stretching;
use selfsame_crypto::seal::{SealingKey, random_seed};

use crate::exit::Failure;
use crate::private_file;

/// The master key itself, in the data directory unless it is kept elsewhere.
pub const KEY_FILE: &str = "master-key";
/// What a passphrase is stretched with, salt and cost, in the data directory. No secret, but the data are lost without it.
pub const SALT_FILE: &str = "passphrase-salt";
const WHAT_IT_IS: &str = "a master key is 64 hexadecimal digits: openssl rand -hex 32";

const NO_SALT: &str = "put it back there: a copy (selfsame backup) has it too; or, if these data never had a passphrase, unset SELFSAME_PASSPHRASE";

/// Who keeps the master key.
pub enum Custody {
    /// A file beside the data, made at the first start.
    BesideTheData,
    /// A file of 64 hexadecimal digits somewhere else.
    File(PathBuf),
    /// A passphrase, stretched with Argon2id.
    Passphrase(SecretString),
}

impl Custody {
    /// What this protects against, for the person who starts the instance.
    pub fn words(&self) -> &'static str {
        match self {
            Self::BesideTheData => {
                "The master key lies beside the data: sealing protects nothing against who can read this directory."
            }
            Self::File(_) => "The master key comes from a file of its own.",
            Self::Passphrase(_) => "The master key comes from a passphrase.",
        }
    }
}

/// Whether there are data whose master key is made of a passphrase.
pub fn has_passphrase(data: &Path) -> bool {
    [STORE_FILE, SALT_FILE]
        .iter()
        .all(|name| data.join(name).exists())
}

/// The master key.
///
/// # Errors
/// If it can't be read, or made at the first start.
pub fn load(custody: &Custody, data: &Path) -> Result<SealingKey, Failure> {
    match custody {
        Custody::BesideTheData => {
            let file = data.join(KEY_FILE);
            if !file.exists() {
                if data.join(STORE_FILE).exists() {
                    return Err(Failure::environment(format!(
                        "{}: the master key of these data is missing",
                        file.display()
                    ))
                    .hint("put it back there, or say where it is: --master-key-file, or SELFSAME_PASSPHRASE"));
                }
                private_file::write(&file, encoding::hex_encode(&random_seed()).as_bytes())?;
            }
            // Its directory lets nobody else in, whoever put it there.
            private_file::close(&file)?;
            from_file(&file)
        }
        Custody::File(file) => from_file(file),
        Custody::Passphrase(passphrase) => {
            let file = data.join(SALT_FILE);
            if !file.exists() {
                if data.join(STORE_FILE).exists() {
                    return Err(Failure::environment(format!(
                        "{}: the salt of these data's passphrase is missing",
                        file.display()
                    ))
                    .hint(NO_SALT));
                }
                private_file::write(&file, &Stretching::draw().to_bytes())?;
            }
            let stretching = Stretching::parse(&std::fs::read(&file)?).ok_or_else(|| {
                Failure::environment(format!("{}: this is no salt", file.display()))
            })?;
            stretching
                .key(passphrase)
                .map_err(|error| Failure::ours(error.to_string()))
        }
    }
}

fn from_file(file: &Path) -> Result<SealingKey, Failure> {
    let wrong =
        |why: &str| Failure::environment(format!("{}: {why}", file.display())).hint(WHAT_IT_IS);
    let text = private_file::read(file, WHAT_IT_IS)?;
    let bytes = encoding::hex_decode(text.expose()).map_err(|_| wrong("this is no master key"))?;
    let key = <[u8; 32]>::try_from(bytes).map_err(|_| wrong("this is no master key"))?;
    Ok(SealingKey::from_bytes(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passphrase_has_its_salt_again_and_data_that_lost_it_are_given_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let (data, salt) = (folder.path(), folder.path().join(SALT_FILE));
        let custody = Custody::Passphrase(SecretString::from("rain on the roof".to_owned()));
        let sealed = load(&custody, data).ok().unwrap();
        let sealed = sealed.seal([0; 12], b"", b"plain").unwrap();
        let made = std::fs::read(&salt).unwrap();
        std::fs::write(data.join(STORE_FILE), "").unwrap();
        let again = load(&custody, data).ok().unwrap();
        assert_eq!(again.open(b"", &sealed).unwrap(), b"plain");
        assert_eq!(std::fs::read(&salt).unwrap(), made);
        std::fs::remove_file(&salt).unwrap();
        let Err(lost) = load(&custody, data) else {
            panic!("a new salt was made beside data");
        };
        assert!(lost.message().contains(SALT_FILE), "{lost:?}");
        assert!(lost.what_to_do().unwrap().contains("put it back"));
        assert!(!salt.exists());
    }

    #[test]
    fn data_whose_passphrase_was_stretched_by_an_earlier_build_still_open() {
        let folder = tempfile::tempdir().unwrap();
        let (data, salt) = (folder.path(), folder.path().join(SALT_FILE));
        let custody = Custody::Passphrase(SecretString::from("rain on the roof".to_owned()));
        std::fs::write(&salt, [7; 16]).unwrap();
        let sealed = load(&custody, data).ok().unwrap();
        let sealed = sealed.seal([0; 12], b"", b"plain").unwrap();
        assert_eq!(std::fs::read(&salt).unwrap(), [7; 16]);
        // What the reference implementation makes of both with 19,456 KiB, two passes and one lane.
        let earlier = "9cfbb211d758e722545b06353787c4e9dd3ed8fb6f6ad8dfcb309fe24325e5e5";
        let earlier = encoding::hex_decode(earlier).unwrap();
        let earlier = SealingKey::from_bytes(earlier.try_into().unwrap());
        assert_eq!(earlier.open(b"", &sealed).unwrap(), b"plain");
        std::fs::write(&salt, [7; 17]).unwrap();
        assert!(load(&custody, data).is_err());
    }
}
