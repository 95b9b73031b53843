//! The next master key: where a rotation of the master key finds it, beside the source of the present one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use selfsame_crypto::SecretString;
use selfsame_crypto::seal::SealingKey;
use selfsame_driver::data_directory::{KEY_FILE, SALT_FILE, WRAPPED_FILE};
use selfsame_driver::{Reason, private_file};
use selfsame_store::Vault;
use selfsame_store::rotation::{FoundKeys, MasterKeySource};

use crate::exit::Failure;
use crate::master_key::{self, Custody, HsmCustody};

/// What the name of a key's file has behind it for the next key.
const NEXT: &str = ".next";
/// The file with the next passphrase.
pub const NEXT_PASSPHRASE: &str = "passphrase.next";
/// The file with the next master key, if a hardware security module encrypts it.
pub const NEXT_WRAPPED: &str = "master-key.wrapped.next";

const WHAT_IT_IS: &str = "it has the next master key, for a rotation (docs/keys.md)";

/// The file with the next master key, or with the next passphrase.
pub struct NextKey {
    /// The file. It exists while a rotation is prepared or under way.
    pub file: PathBuf,
    form: NextForm,
}

/// What the file of the next key has.
enum NextForm {
    /// The key in hexadecimal digits.
    Key,
    /// A passphrase, and the file with its salt.
    Passphrase(PathBuf),
    /// The key, encrypted by a token.
    Wrapped(Arc<HsmCustody>),
}

impl NextKey {
    /// Where the key after this one is found.
    #[must_use]
    pub fn after(custody: &Custody, data: &Path) -> Self {
        let beside = |file: &Path| {
            let mut name = file.as_os_str().to_owned();
            name.push(NEXT);
            PathBuf::from(name)
        };
        match custody {
            Custody::BesideTheData => Self::in_file(beside(&data.join(KEY_FILE))),
            Custody::File(file) => Self::in_file(beside(file)),
            Custody::Passphrase(_) => Self {
                file: data.join(NEXT_PASSPHRASE),
                form: NextForm::Passphrase(data.join(SALT_FILE)),
            },
            Custody::Hsm(hsm) => Self {
                file: data.join(NEXT_WRAPPED),
                form: NextForm::Wrapped(hsm.clone()),
            },
        }
    }

    fn in_file(file: PathBuf) -> Self {
        let form = NextForm::Key;
        Self { file, form }
    }

    /// The file of the present key, if the key is in a file.
    #[must_use]
    pub fn place_of_present(data: &Path, custody: &Custody) -> Option<PathBuf> {
        match custody {
            Custody::BesideTheData => Some(data.join(KEY_FILE)),
            Custody::File(file) => Some(file.clone()),
            Custody::Hsm(_) => Some(data.join(WRAPPED_FILE)),
            Custody::Passphrase(_) => None,
        }
    }

    /// Whether the file has a passphrase.
    #[must_use]
    pub fn is_passphrase(&self) -> bool {
        matches!(self.form, NextForm::Passphrase(_))
    }

    /// The token that encrypts the key, if one does.
    #[must_use]
    pub fn hsm(&self) -> Option<&HsmCustody> {
        match &self.form {
            NextForm::Wrapped(hsm) => Some(hsm),
            NextForm::Key | NextForm::Passphrase(_) => None,
        }
    }

    /// The key, if the file exists.
    ///
    /// # Errors
    /// If the file can't be read, or has no key.
    pub fn load(&self) -> Result<Option<SealingKey>, Failure> {
        if !self.file.exists() {
            return Ok(None);
        }
        let salt = match &self.form {
            NextForm::Key => return master_key::from_file(&self.file).map(Some),
            NextForm::Wrapped(hsm) => return hsm.open(&self.file).map(Some),
            NextForm::Passphrase(salt) => salt,
        };
        let passphrase = private_file::read(&self.file, Reason::text(WHAT_IT_IS))?;
        let passphrase = SecretString::from(passphrase.expose().to_owned());
        master_key::derived(&passphrase, salt).map(Some)
    }
}

/// The present master key, and the place of the next one, which is looked at again when a rotation asks for it.
struct KeySource {
    present: SealingKey,
    next: NextKey,
}

impl MasterKeySource for KeySource {
    fn find(&self) -> FoundKeys {
        let (mut keys, file) = (vec![self.present.clone()], self.next.file.display());
        let next = match self.next.load() {
            Ok(Some(next)) => {
                keys.push(next);
                format!("The next master key is in {file}.")
            }
            Ok(None) if self.next.is_passphrase() => {
                format!("Put the new passphrase into {file}, which does not exist.")
            }
            Ok(None) => format!("Put the new master key into {file}, which does not exist."),
            Err(failure) => match failure.what_to_do() {
                Some(hint) => format!("{} ({hint})", failure.message()),
                None => failure.message().to_owned(),
            },
        };
        FoundKeys { keys, next }
    }
}

/// A vault with the master key of this custody, and with the next one if there is one.
///
/// # Errors
/// If the present key can't be read, or can't be created at the first start.
pub fn vault(custody: &Custody, data: &Path) -> Result<Vault, Failure> {
    Ok(of(master_key::load(custody, data)?, custody, data))
}

/// A vault with the master key of data that exist already. Creates nothing.
///
/// # Errors
/// If the present key is missing or can't be read.
pub fn kept_vault(custody: &Custody, data: &Path) -> Result<Vault, Failure> {
    Ok(of(master_key::load_kept(custody, data)?, custody, data))
}

fn of(present: SealingKey, custody: &Custody, data: &Path) -> Vault {
    let next = NextKey::after(custody, data);
    Vault::from_source(Arc::new(KeySource { present, next }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(custody: &Custody, data: &Path) -> String {
        NextKey::after(custody, data).file.display().to_string()
    }

    #[test]
    fn the_next_key_is_looked_for_beside_the_present_one() {
        let data = Path::new("data");
        assert_eq!(next(&Custody::BesideTheData, data), "data/master-key.next");
        let file = Custody::File("/etc/selfsame/key".into());
        assert_eq!(next(&file, data), "/etc/selfsame/key.next");
        let passphrase = Custody::Passphrase(SecretString::from("rain".to_owned()));
        assert_eq!(next(&passphrase, data), "data/passphrase.next");
    }

    #[test]
    fn a_source_says_where_the_next_key_belongs_and_what_is_wrong_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let (data, file) = (folder.path(), folder.path().join("master-key.next"));
        let custody = Custody::BesideTheData;
        let source = KeySource {
            present: master_key::load(&custody, data).ok().unwrap(),
            next: NextKey::after(&custody, data),
        };
        let found = source.find();
        assert_eq!(found.keys.len(), 1);
        assert!(
            found.next.contains("Put the new master key into"),
            "{}",
            found.next
        );
        private_file::write(&file, b"rain").unwrap();
        let found = source.find();
        assert_eq!(found.keys.len(), 1);
        assert!(
            found.next.contains("64 hexadecimal digits"),
            "{}",
            found.next
        );
        std::fs::write(&file, "07".repeat(32)).unwrap();
        assert_eq!(source.find().keys.len(), 2);
    }

    #[test]
    fn a_next_passphrase_has_the_salt_of_the_present_one() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        let custody = Custody::Passphrase(SecretString::from("rain".to_owned()));
        drop(vault(&custody, data).ok().unwrap());
        private_file::write(&data.join(NEXT_PASSPHRASE), b"sun\n").unwrap();
        let next = NextKey::after(&custody, data).load().ok().unwrap().unwrap();
        let sun = Custody::Passphrase(SecretString::from("sun".to_owned()));
        let sun = master_key::load(&sun, data).ok().unwrap();
        assert_eq!(next.mac(b"same"), sun.mac(b"same"));
    }
}
