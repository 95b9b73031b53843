//! Where the master key comes from: a file, a passphrase, a credential of systemd, or by default a file beside the data,
//! which protects nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use selfsame_crypto::SecretString;
use selfsame_crypto::encoding;
use selfsame_crypto::password::Stretching;
use selfsame_crypto::seal::{SealingKey, random_seed};
use selfsame_driver::data_directory::{KEY_FILE, SALT_FILE, WRAPPED_FILE};
use selfsame_driver::{Reason, private_file};
use selfsame_pkcs11::{KeyQuery, Token, TokenUri, WrappedKey};
use selfsame_store::backend::STORE_FILE;

use crate::exit::Failure;
use crate::{output, systemd};

const WHAT_IT_IS: &str = "a master key is 64 hexadecimal digits: openssl rand -hex 32";

const NO_SALT: &str = "put the file back: a copy (selfsame backup) contains it too; if these data never had a passphrase, unset SELFSAME_PASSPHRASE";

const NO_WRAPPED: &str = "put the file back: a copy (selfsame backup) contains it too; if these data never had a key in a hardware security module, leave out --master-key-pkcs11";

const BOTH_HSM: &str = "the master key comes from a hardware security module (--master-key-pkcs11) or a passphrase (SELFSAME_PASSPHRASE), not from both";

const EMPTY_PASSPHRASE: &str = "selfsame: SELFSAME_PASSPHRASE is empty: if the passphrase of these data is empty too, anyone who can read this directory can decrypt them
hint: change it (selfsame master-key rotate, docs/keys.md), or protect this directory and its copies like a secret";

/// Where the master key is kept.
pub enum Custody {
    /// A file beside the data, created at the first start.
    BesideTheData,
    /// A file of 64 hexadecimal digits in another place.
    File(PathBuf),
    /// A passphrase, from which Argon2id derives the key.
    Passphrase(SecretString),
    /// A file beside the data with the key, which this key of a hardware security module encrypts.
    Hsm(Arc<HsmCustody>),
}

/// A token of a hardware security module, and its key that wraps the master key.
pub struct HsmCustody {
    token: Token,
    key: KeyQuery,
}

impl Custody {
    /// What this protects against, for the person who starts the instance.
    pub fn words(&self) -> &'static str {
        match self {
            Self::BesideTheData => {
                "Warning: the master key is stored next to the data. Anyone who can read this directory can decrypt it."
            }
            Self::File(_) => "The master key comes from a file of its own.",
            Self::Passphrase(_) => "The master key comes from a passphrase.",
            Self::Hsm(_) => "The master key is encrypted by a hardware security module.",
        }
    }
}

/// Options that name the source of the master key.
#[derive(Args, Default)]
pub struct MasterKey {
    /// The file with the master key; default: the credential `master-key` of systemd, if the service has one.
    #[arg(long)]
    pub master_key_file: Option<PathBuf>,
    /// The passphrase that the master key is derived from; only from the environment.
    #[arg(long, env = "SELFSAME_PASSPHRASE", hide = true, hide_env_values = true)]
    pub passphrase: Option<String>,
    /// The AES key of a hardware security module that encrypts the master key, as a PKCS#11 URI:
    /// pkcs11:token=LABEL;object=LABEL?module-path=FILE&pin-source=FILE. Without pin-source, the PIN is
    /// SELFSAME_PKCS11_PIN of the environment. With new data, a new master key is made.
    #[arg(long, value_name = "URI", conflicts_with = "master_key_file")]
    pub master_key_pkcs11: Option<TokenUri>,
}

impl MasterKey {
    /// With these sources of a settings file, if neither an option nor the environment names one.
    pub fn unless_named(&mut self, file: Option<PathBuf>, hsm: Option<TokenUri>) {
        let is_named = self.master_key_file.is_some()
            || self.passphrase.is_some()
            || self.master_key_pkcs11.is_some();
        if !is_named {
            (self.master_key_file, self.master_key_pkcs11) = (file, hsm);
        }
    }

    /// Where the master key of these data is kept, or will be kept.
    ///
    /// # Errors
    /// If the passphrase for new data is empty, as it is when a variable was never set: it would protect nothing.
    pub fn custody(&self, data: &Path) -> Result<Custody, Failure> {
        if let Some(uri) = &self.master_key_pkcs11 {
            return match &self.passphrase {
                Some(_) => Err(Failure::environment(BOTH_HSM)
                    .hint("unset SELFSAME_PASSPHRASE, or leave out --master-key-pkcs11")),
                None => Ok(Custody::Hsm(Arc::new(HsmCustody::of(uri)?))),
            };
        }
        match (&self.master_key_file, &self.passphrase) {
            (Some(_), Some(_)) => Err(Failure::environment(
                "the master key comes from a file (--master-key-file) or a passphrase (SELFSAME_PASSPHRASE), not from both",
            )
            .hint("unset SELFSAME_PASSPHRASE, or leave out --master-key-file")),
            (Some(file), _) => Ok(Custody::File(file.clone())),
            (None, Some(passphrase)) => {
                if passphrase.trim().is_empty() {
                    // Earlier builds sealed data with an empty passphrase.
                    if !has_passphrase(data) {
                        return Err(Failure::environment("SELFSAME_PASSPHRASE is empty")
                            .hint("set it to the passphrase, or unset it"));
                    }
                    output::complain(EMPTY_PASSPHRASE);
                }
                Ok(Custody::Passphrase(SecretString::from(passphrase.clone())))
            }
            (None, None) => Ok(systemd::master_key().map_or(Custody::BesideTheData, Custody::File)),
        }
    }
}

impl HsmCustody {
    fn of(uri: &TokenUri) -> Result<Self, Failure> {
        if uri.key.is_empty() {
            return Err(Failure::environment("--master-key-pkcs11 names no key")
                .hint("add object=LABEL to the URI: the label of an AES-256 key (docs/hsm.md)"));
        }
        Ok(Self {
            token: Token::new(uri, pin_of_environment())?,
            key: uri.key.clone(),
        })
    }

    /// The master key of these data; a new one for new data.
    fn load(&self, data: &Path) -> Result<SealingKey, Failure> {
        let file = data.join(WRAPPED_FILE);
        if !file.exists() {
            if data.join(STORE_FILE).exists() {
                return Err(Failure::environment(format!(
                    "{}: the encrypted master key of these data is missing",
                    file.display()
                ))
                .hint(NO_WRAPPED));
            }
            private_file::write(&file, &self.new_key()?)?;
        }
        self.open(&file)
    }

    /// The content of a file with a new master key, which the token encrypts.
    ///
    /// # Errors
    /// The token's.
    pub fn new_key(&self) -> Result<Vec<u8>, Failure> {
        Ok(WrappedKey::new(&self.token, &self.key)?.to_bytes()?)
    }

    /// The master key in a file, which the token decrypts.
    pub(crate) fn open(&self, file: &Path) -> Result<SealingKey, Failure> {
        let wrapped = private_file::read(file, Reason::text(NO_WRAPPED))?;
        let wrapped = WrappedKey::parse(wrapped.expose().as_bytes())?;
        Ok(wrapped.open(&self.token, &self.key)?)
    }
}

/// The PIN in the environment. It is no option, because other users see the arguments of a process.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "an option that the environment sets could be given as an argument too"
)]
pub fn pin_of_environment() -> Option<SecretString> {
    let pin = std::env::var("SELFSAME_PKCS11_PIN").ok()?;
    Some(SecretString::new(pin))
}

/// Whether data exist whose master key is derived from a passphrase.
pub fn has_passphrase(data: &Path) -> bool {
    [STORE_FILE, SALT_FILE]
        .iter()
        .all(|name| data.join(name).exists())
}

/// Loads the master key.
///
/// # Errors
/// If it can't be read, or can't be created at the first start.
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
                    .hint("put the file back, or name the key's source: --master-key-file, SELFSAME_PASSPHRASE, or the credential master-key of systemd"));
                }
                private_file::write(&file, encoding::hex_encode(&random_seed()).as_bytes())?;
            }
            // Only the owner may read the key, even if another program put the file there.
            private_file::close(&file)?;
            from_file(&file)
        }
        Custody::File(file) => from_file(file),
        Custody::Hsm(hsm) => hsm.load(data),
        Custody::Passphrase(passphrase) => {
            let file = data.join(SALT_FILE);
            if !file.exists() {
                if data.join(STORE_FILE).exists() {
                    return Err(Failure::environment(format!(
                        "{}: the salt of the passphrase is missing",
                        file.display()
                    ))
                    .hint(NO_SALT));
                }
                private_file::write(&file, &Stretching::draw().to_bytes())?;
            }
            derived(passphrase, &file)
        }
    }
}

/// The key of a passphrase, with the salt in this file.
pub(crate) fn derived(passphrase: &SecretString, salt: &Path) -> Result<SealingKey, Failure> {
    let stretching = Stretching::parse(&std::fs::read(salt)?)
        .ok_or_else(|| Failure::environment(format!("{}: not a valid salt", salt.display())))?;
    stretching
        .key(passphrase)
        .map_err(|error| Failure::ours(error.to_string()))
}

/// Loads the master key of data that exist already, and creates nothing.
///
/// # Errors
/// If it is missing or can't be read.
pub fn load_kept(custody: &Custody, data: &Path) -> Result<SealingKey, Failure> {
    let (name, what) = match custody {
        Custody::BesideTheData => (KEY_FILE, "the master key"),
        Custody::Passphrase(_) => (SALT_FILE, "the salt of the passphrase"),
        Custody::Hsm(_) => (WRAPPED_FILE, "the encrypted master key"),
        Custody::File(_) => return load(custody, data),
    };
    let file = data.join(name);
    match file.exists() {
        true => load(custody, data),
        false => Err(Failure::environment(format!(
            "{}: {what} is missing, without which the records cannot be read",
            file.display()
        ))
        .hint("put it there, or name the key's source: --master-key-file or SELFSAME_PASSPHRASE")),
    }
}

pub(crate) fn from_file(file: &Path) -> Result<SealingKey, Failure> {
    let wrong =
        |why: &str| Failure::environment(format!("{}: {why}", file.display())).hint(WHAT_IT_IS);
    let text = private_file::read(file, Reason::text(WHAT_IT_IS))?;
    let bytes = encoding::hex_decode(text.expose()).map_err(|_| wrong("not a valid master key"))?;
    let key = <[u8; 32]>::try_from(bytes).map_err(|_| wrong("not a valid master key"))?;
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
        assert!(lost.what_to_do().unwrap().contains("put the file back"));
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
        // The reference implementation's result for both, with 19,456 KiB, two passes and one lane.
        let earlier = "9cfbb211d758e722545b06353787c4e9dd3ed8fb6f6ad8dfcb309fe24325e5e5";
        let earlier = encoding::hex_decode(earlier).unwrap();
        let earlier = SealingKey::from_bytes(earlier.try_into().unwrap());
        assert_eq!(earlier.open(b"", &sealed).unwrap(), b"plain");
        std::fs::write(&salt, [7; 17]).unwrap();
        assert!(load(&custody, data).is_err());
    }
}
