//! The file of an exported wallet: lines of JSON. The first one is the head, each other one has a credential, and the last
//! one says that the export is complete.

use selfsame_crypto::password::Stretching;
use selfsame_crypto::seal::{SealingKey, random_seed};
use selfsame_crypto::{SecretString, encoding};
use selfsame_driver::{Error, Result};
use selfsame_recovery::RecoveryWords;
use serde::{Deserialize, Serialize};

use crate::carried::CarriedCredential;

/// The version of the file.
const VERSION: u32 = 1;
/// What the sealing key of an export is sealed for.
const SEALED_FOR: &[u8] = b"selfsame wallet export v1";
/// What a key of recovery words is derived for, followed by the salt of the file.
const UNDER_WORDS: &[u8] = b"selfsame wallet export under words v1 ";
/// Each export has a salt of its own, so the key that a passphrase or words give seals nothing else.
const NONCE: [u8; 12] = [0; 12];
/// Maximum number of bytes of a line. An instance accepts no larger request.
pub const LINE_MAX: usize = 240 << 10;

/// What the keys in an export are sealed under.
pub enum ExportSecret {
    /// A passphrase that a person thought of.
    Passphrase(SecretString),
    /// Recovery words.
    Words(RecoveryWords),
}

/// The first line of a file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExportHead {
    /// The version of the file.
    selfsame_wallet: u32,
    /// The parameters that make a key of the passphrase; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stretching: Option<String>,
    /// The salt with which recovery words make a key; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    words: Option<String>,
    /// The sealing key of the export, sealed with that key; absent if the file has no keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed_key: Option<String>,
}

/// The last line of a complete file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExportEnd {
    /// The number of credentials in the file.
    pub end: u64,
}

/// A line after the head.
pub enum ExportLine {
    /// A credential.
    Credential(Box<CarriedCredential>),
    /// The last line of a complete file.
    End,
}

impl ExportLine {
    /// Reads a line after the head.
    ///
    /// # Errors
    /// What the reader of JSON says of a line that is neither a credential nor the end.
    pub fn read(line: &[u8]) -> serde_json::Result<Self> {
        if serde_json::from_slice::<ExportEnd>(line).is_ok() {
            return Ok(Self::End);
        }
        let credential = serde_json::from_slice(line)?;
        Ok(Self::Credential(Box::new(credential)))
    }
}

/// A new head, and the key that it seals.
pub struct NewHead {
    /// The head.
    pub head: ExportHead,
    /// The sealing key of the export, in base64url.
    pub sealing_key: SecretString,
}

impl ExportHead {
    /// The head of a file without keys.
    #[must_use]
    pub fn without_keys() -> Self {
        Self {
            selfsame_wallet: VERSION,
            stretching: None,
            words: None,
            sealed_key: None,
        }
    }

    /// The head of a file whose keys are sealed with a new key, which is sealed under this secret. A passphrase is
    /// stretched, which takes a second and 256 MiB.
    ///
    /// # Errors
    /// `BadRequest` if the passphrase is too long, `Internal` if the machine has too little memory.
    pub fn under(secret: &ExportSecret) -> Result<NewHead> {
        let mut head = Self::without_keys();
        let key = match secret {
            ExportSecret::Passphrase(passphrase) => {
                let stretching = Stretching::draw();
                let text = String::from_utf8(stretching.to_bytes()).map_err(Error::internal)?;
                head.stretching = Some(text.trim_end().to_owned());
                stretched(&stretching, passphrase)?
            }
            ExportSecret::Words(words) => {
                let salt = encoding::base64url_encode(&random_seed());
                let key = of_words(words, &salt);
                head.words = Some(salt);
                key
            }
        };
        let sealing_key = random_seed();
        let sealed = key.seal(NONCE, SEALED_FOR, &sealing_key);
        head.sealed_key = Some(encoding::base64url_encode(
            &sealed.map_err(Error::internal)?,
        ));
        let sealing_key = SecretString::new(encoding::base64url_encode(&sealing_key));
        Ok(NewHead { head, sealing_key })
    }

    /// Reads the first line of a file.
    ///
    /// # Errors
    /// `BadRequest` if it is not the head of an export, or that of a later version.
    pub fn read(line: &str) -> Result<Self> {
        let head: Self = serde_json::from_str(line)
            .map_err(|error| Error::bad_request("export-head-malformed").with("cause", &error))?;
        match head.selfsame_wallet {
            VERSION => Ok(head),
            version => Err(Error::bad_request("export-version").with("version", &version)),
        }
    }

    /// Whether the file has keys, which are sealed.
    #[must_use]
    pub fn has_keys(&self) -> bool {
        self.sealed_key.is_some()
    }

    /// The sealing key of the export, in base64url.
    ///
    /// # Errors
    /// `BadRequest` if the secret is not that of the file, or of another kind.
    pub fn sealing_key(&self, secret: &ExportSecret) -> Result<SecretString> {
        let malformed = || Error::bad_request("export-parameters-malformed");
        let key = match (secret, &self.stretching, &self.words) {
            (ExportSecret::Passphrase(passphrase), Some(stretching), None) => {
                let stretching = Stretching::parse(format!("{stretching}\n").as_bytes());
                stretched(&stretching.ok_or_else(malformed)?, passphrase)?
            }
            (ExportSecret::Words(words), None, Some(salt)) => of_words(words, salt),
            (ExportSecret::Passphrase(_), None, Some(_)) => {
                return Err(Error::bad_request("export-under-words"));
            }
            (ExportSecret::Words(_), Some(_), None) => {
                return Err(Error::bad_request("export-under-passphrase"));
            }
            (_, None, None) | (_, Some(_), Some(_)) => return Err(malformed()),
        };
        let sealed = encoding::base64url_decode(self.sealed_key.as_deref().unwrap_or_default());
        let opened = key.open(SEALED_FOR, &sealed.map_err(|_| malformed())?);
        let opened = opened.map_err(|_| Error::bad_request("export-secret-wrong"))?;
        Ok(SecretString::new(encoding::base64url_encode(&opened)))
    }
}

fn stretched(stretching: &Stretching, passphrase: &SecretString) -> Result<SealingKey> {
    let key = stretching.key(passphrase);
    key.map_err(|error| Error::bad_request("export-passphrase").with("cause", &error))
}

fn of_words(words: &RecoveryWords, salt: &str) -> SealingKey {
    words.key().derive(&[UNDER_WORDS, salt.as_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passphrase(text: &str) -> ExportSecret {
        ExportSecret::Passphrase(SecretString::new(text.to_owned()))
    }

    fn words(secret: u8) -> ExportSecret {
        ExportSecret::Words(RecoveryWords::of([secret; 16]))
    }

    #[test]
    fn the_secret_of_an_export_opens_its_key_and_no_other_does() {
        for (right, wrong) in [
            (
                passphrase("rain on the roof"),
                passphrase("rain on the tent"),
            ),
            (words(1), words(2)),
        ] {
            let NewHead { head, sealing_key } = ExportHead::under(&right).unwrap();
            let line = serde_json::to_string(&head).unwrap();
            assert!(!line.contains(sealing_key.expose()), "{line}");
            let head = ExportHead::read(&line).unwrap();
            assert!(head.has_keys());
            assert_eq!(head.sealing_key(&right).unwrap(), sealing_key);
            assert_eq!(refused(&head, &wrong), "export-secret-wrong");
        }
    }

    #[test]
    fn a_secret_of_another_kind_is_told_which_one_is_needed() {
        let under = |secret: &ExportSecret| ExportHead::under(secret).unwrap().head;
        let head = under(&words(1));
        assert_eq!(refused(&head, &passphrase("rain")), "export-under-words");
        let head = under(&passphrase("rain"));
        assert_eq!(refused(&head, &words(1)), "export-under-passphrase");
        let both = r#"{"selfsame_wallet":1,"stretching":"a","words":"b","sealed_key":"c"}"#;
        let head = ExportHead::read(both).unwrap();
        assert_eq!(refused(&head, &words(1)), "export-parameters-malformed");
    }

    #[test]
    fn two_exports_under_the_same_words_have_keys_of_their_own() {
        let [one, other] = [words(1), words(1)].map(|words| ExportHead::under(&words).unwrap());
        assert_ne!(one.sealing_key, other.sealing_key);
        assert_ne!(one.head.words, other.head.words);
    }

    #[test]
    fn a_file_of_another_kind_or_a_later_version_is_refused() {
        for (line, id) in [
            ("{\"kind\":\"header\"}", "export-head-malformed"),
            ("", "export-head-malformed"),
            ("{\"selfsame_wallet\":2}", "export-version"),
        ] {
            assert_eq!(ExportHead::read(line).unwrap_err().reason.id(), id);
        }
        assert!(!ExportHead::without_keys().has_keys());
    }

    fn refused(head: &ExportHead, secret: &ExportSecret) -> String {
        let refused = head.sealing_key(secret).unwrap_err();
        refused.reason.id().to_owned()
    }
}
