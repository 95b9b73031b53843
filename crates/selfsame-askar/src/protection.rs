//! The store key: how a wallet says that it is protected, and the key that opens its profiles.

use selfsame_crypto::encoding::{base58_decode, hex_decode};
use selfsame_crypto::password::{Argon2iCost, PasswordError, argon2i};
use selfsame_crypto::seal::chacha20_poly1305::ChaChaKey;
use selfsame_crypto::{Secret, SecretString};

use crate::error::WalletError;

/// What the person who opens a wallet knows: nothing, a raw key, or a passphrase. The wallet says which of them it
/// needs.
#[derive(Clone, Debug)]
pub struct StoreKey(Option<SecretString>);

impl StoreKey {
    /// No key, for a wallet that is not protected.
    pub fn none() -> Self {
        Self(None)
    }

    /// A passphrase, or 32 bytes in base58.
    pub fn text(text: SecretString) -> Self {
        Self(Some(text))
    }
}

/// How the keys of a wallet's profiles are protected, as its configuration says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Protection {
    /// By nothing: who has the wallet can read it.
    None,
    /// By a random key.
    Raw,
    /// By a key that is derived from a passphrase with Argon2i.
    Passphrase {
        /// The salt.
        salt: [u8; 16],
        /// What a derivation costs.
        cost: Argon2iCost,
    },
}

/// What Askar calls `13:int`: 32 MiB, four passes.
const INTERACTIVE: Argon2iCost = Argon2iCost {
    memory_kib: 32 * 1024,
    passes: 4,
};
/// What Askar calls `13:mod`, its default: 128 MiB, six passes.
const MODERATE: Argon2iCost = Argon2iCost {
    memory_kib: 128 * 1024,
    passes: 6,
};

impl Protection {
    /// Reads the entry `key` of a wallet's configuration.
    ///
    /// # Errors
    /// If it is another method, or one of these with parameters that do not belong to it.
    pub fn parse(text: &str) -> Result<Self, WalletError> {
        match text {
            "none" => return Ok(Self::None),
            "raw" => return Ok(Self::Raw),
            _ => {}
        }
        let derived = text.strip_prefix("kdf:argon2i:");
        let derived = derived.and_then(|rest| rest.split_once("?salt="));
        let (level, salt) = derived.ok_or_else(|| unsupported(text))?;
        let cost = match level {
            "13:int" | "int" => INTERACTIVE,
            "13:mod" | "mod" | "" => MODERATE,
            _ => return Err(unsupported(text)),
        };
        let salt = hex_decode(salt).ok().and_then(|salt| salt.try_into().ok());
        let salt = salt.ok_or_else(|| {
            WalletError::Damaged("the salt of its key is not 16 bytes in hexadecimal".to_owned())
        })?;
        Ok(Self::Passphrase { salt, cost })
    }

    /// What protects it, for people.
    pub fn words(&self) -> &'static str {
        match self {
            Self::None => "nothing",
            Self::Raw => "a raw key",
            Self::Passphrase { .. } => "a passphrase",
        }
    }

    /// Derives the key that opens the profiles' keys. With a passphrase that takes up to a second and 128 MiB.
    pub(crate) fn unlock(&self, key: &StoreKey) -> Result<Unlocked, WalletError> {
        if matches!(self, Self::None) {
            return Ok(Unlocked(None));
        }
        let text = key.0.as_ref();
        let text = text.ok_or_else(|| WalletError::KeyNeeded(self.words()))?;
        let bytes = match self {
            Self::Passphrase { salt, cost } => {
                argon2i(text, salt, *cost).map_err(|error| match error {
                    PasswordError::TooLong => {
                        WalletError::Unsupported("a passphrase of more than 1,024 bytes".to_owned())
                    }
                    PasswordError::Backend => {
                        WalletError::Machine("there is too little memory for Argon2i")
                    }
                })?
            }
            Self::Raw | Self::None => raw(text)?,
        };
        let key = ChaChaKey::from_bytes(bytes.expose()).ok_or(WalletError::KeyMalformed)?;
        Ok(Unlocked(Some(key)))
    }
}

fn raw(text: &SecretString) -> Result<Secret, WalletError> {
    let bytes = base58_decode(text.expose()).map_err(|_| WalletError::KeyMalformed)?;
    Ok(Secret::new(bytes))
}

fn unsupported(text: &str) -> WalletError {
    let method = text.split('?').next().unwrap_or_default();
    let method: String = method.chars().take(40).collect();
    WalletError::Unsupported(format!("a store key of the method {method:?}"))
}

/// What opens the keys of the profiles.
#[derive(Debug)]
pub(crate) struct Unlocked(Option<ChaChaKey>);

impl Unlocked {
    /// Opens what is stored as a profile's key. `None` if this key does not open it.
    pub(crate) fn open(&self, stored: Vec<u8>) -> Option<Secret> {
        match &self.0 {
            Some(key) => key.open(stored).ok(),
            None => Some(Secret::new(stored)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: &str = "a553cfb9c558b5c11c78efcfa06f3e29";

    #[test]
    fn a_wallet_says_what_protects_it() {
        assert_eq!(Protection::parse("none"), Ok(Protection::None));
        assert_eq!(Protection::parse("raw"), Ok(Protection::Raw));
        for (level, expected) in [
            ("13:int", INTERACTIVE),
            ("int", INTERACTIVE),
            ("13:mod", MODERATE),
            ("", MODERATE),
        ] {
            let read = Protection::parse(&format!("kdf:argon2i:{level}?salt={SALT}"));
            assert!(
                matches!(read, Ok(Protection::Passphrase { cost, salt }) if cost == expected && salt[0] == 0xa5)
            );
        }
    }

    #[test]
    fn another_method_is_not_supported_and_another_salt_is_damage() {
        for text in [
            "",
            "rsa",
            "kdf",
            "kdf:argon2i:13:mod",
            "kdf:argon2id:13:mod?salt=a553cfb9c558b5c11c78efcfa06f3e29",
            "kdf:argon2i:99:mod?salt=a553cfb9c558b5c11c78efcfa06f3e29",
        ] {
            let read = Protection::parse(text);
            assert!(matches!(read, Err(WalletError::Unsupported(_))), "{text}");
        }
        for salt in ["", "a5", "zz53cfb9c558b5c11c78efcfa06f3e29"] {
            let read = Protection::parse(&format!("kdf:argon2i:13:mod?salt={salt}"));
            assert!(matches!(read, Err(WalletError::Damaged(_))), "{salt}");
        }
    }

    #[test]
    fn a_raw_key_is_32_bytes_however_many_characters_it_has() {
        let text =
            |bytes: &[u8]| StoreKey::text(selfsame_crypto::encoding::base58_encode(bytes).into());
        let mut short = [7; 32];
        (short[0], short[1]) = (0, 1);
        let characters = selfsame_crypto::encoding::base58_encode(&short).len();
        assert_eq!(characters, 42, "32 bytes give 43 or 44 characters mostly");
        for bytes in [[0xff; 32], short, [0; 32]] {
            assert!(Protection::Raw.unlock(&text(&bytes)).is_ok());
        }
        for wrong in [
            text(&[7; 31]),
            text(&[7; 33]),
            StoreKey::text("0OIl".into()),
            StoreKey::text("".into()),
        ] {
            let unlocked = Protection::Raw.unlock(&wrong);
            assert_eq!(unlocked.unwrap_err(), WalletError::KeyMalformed);
        }
        let needed = Protection::Raw.unlock(&StoreKey::none()).unwrap_err();
        assert_eq!(needed, WalletError::KeyNeeded("a raw key"));
    }
}
