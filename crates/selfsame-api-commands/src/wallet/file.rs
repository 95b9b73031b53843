//! The file of an exported wallet: lines of JSON. The first one is the head, each other one has a credential, and the last
//! one says that the export is complete.

use selfsame_crypto::password::Stretching;
use selfsame_crypto::seal::{SealingKey, random_seed};
use selfsame_crypto::{SecretString, encoding};
use selfsame_terminal::exit::Failure;
use serde::{Deserialize, Serialize};

/// The version of the file.
const VERSION: u32 = 1;
/// What the sealing key of an export is sealed for.
const SEALED_FOR: &[u8] = b"selfsame wallet export v1";
/// Each export has a salt of its own, so the key that a passphrase gives seals nothing else.
const NONCE: [u8; 12] = [0; 12];
/// Maximum number of bytes of a line. An instance accepts no larger request.
pub const LINE_MAX: usize = 240 << 10;

/// The first line of a file.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ExportHead {
    /// The version of the file.
    selfsame_wallet: u32,
    /// The parameters that make a key of the passphrase; absent if the file has no keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stretching: Option<String>,
    /// The sealing key of the export, sealed with that key.
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

impl ExportHead {
    /// The head of a file without keys.
    pub fn without_keys() -> Self {
        Self {
            selfsame_wallet: VERSION,
            stretching: None,
            sealed_key: None,
        }
    }

    /// The head of a file whose keys are sealed with a new key, which is sealed under this passphrase. Returns that key
    /// too, in base64url.
    ///
    /// # Errors
    /// If the passphrase is too long, or the machine has too little memory.
    pub fn under(passphrase: &SecretString) -> Result<NewHead, Failure> {
        let stretching = Stretching::draw();
        let key = stretched(&stretching, passphrase)?;
        let sealing_key = random_seed();
        let sealed = key.seal(NONCE, SEALED_FOR, &sealing_key);
        let sealed = sealed.map_err(|error| Failure::ours(error.to_string()))?;
        let stretching = String::from_utf8(stretching.to_bytes());
        Ok(NewHead {
            head: Self {
                selfsame_wallet: VERSION,
                stretching: stretching.ok().map(|text| text.trim_end().to_owned()),
                sealed_key: Some(encoding::base64url_encode(&sealed)),
            },
            sealing_key: SecretString::new(encoding::base64url_encode(&sealing_key)),
        })
    }

    /// Reads the first line of a file.
    ///
    /// # Errors
    /// If it is not the head of an export, or that of a later version.
    pub fn read(line: &str) -> Result<Self, Failure> {
        let head: Self = serde_json::from_str(line).map_err(|error| {
            Failure::environment(format!("line 1 is not the head of an export: {error}"))
                .hint("name a file that `selfsame wallet export` has written")
        })?;
        if head.selfsame_wallet != VERSION {
            let version = head.selfsame_wallet;
            return Err(Failure::environment(format!(
                "the file has version {version}; this program reads version {VERSION}"
            )));
        }
        Ok(head)
    }

    /// Whether the file has keys, which a passphrase opens.
    pub fn has_keys(&self) -> bool {
        self.sealed_key.is_some()
    }

    /// The sealing key of the export, in base64url.
    ///
    /// # Errors
    /// If the passphrase is not that of the file.
    pub fn sealing_key(&self, passphrase: &SecretString) -> Result<SecretString, Failure> {
        let malformed =
            || Failure::environment("line 1: the parameters of the passphrase are malformed");
        let stretching = self.stretching.as_deref().ok_or_else(malformed)?;
        let stretching = Stretching::parse(format!("{stretching}\n").as_bytes());
        let key = stretched(&stretching.ok_or_else(malformed)?, passphrase)?;
        let sealed = encoding::base64url_decode(self.sealed_key.as_deref().unwrap_or_default());
        let opened = key.open(SEALED_FOR, &sealed.map_err(|_| malformed())?);
        let opened = opened.map_err(|_| {
            Failure::environment("the passphrase does not open this file")
                .hint("name the file with the passphrase of the export with --passphrase-file")
        })?;
        Ok(SecretString::new(encoding::base64url_encode(&opened)))
    }
}

/// A new head, and the key that it seals.
pub struct NewHead {
    /// The head.
    pub head: ExportHead,
    /// The sealing key of the export, in base64url.
    pub sealing_key: SecretString,
}

fn stretched(stretching: &Stretching, passphrase: &SecretString) -> Result<SealingKey, Failure> {
    let key = stretching.key(passphrase);
    key.map_err(|error| Failure::environment(format!("the passphrase: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_passphrase_of_an_export_opens_its_key_and_no_other_does() {
        let passphrase = SecretString::new("rain on the roof".to_owned());
        let NewHead { head, sealing_key } = ExportHead::under(&passphrase).unwrap();
        let line = serde_json::to_string(&head).unwrap();
        assert!(!line.contains(sealing_key.expose()), "{line}");
        let head = ExportHead::read(&line).unwrap();
        assert!(head.has_keys());
        assert_eq!(head.sealing_key(&passphrase).unwrap(), sealing_key);
        let other = SecretString::new("rain on the tent".to_owned());
        assert!(head.sealing_key(&other).is_err());
    }

    #[test]
    fn a_file_of_another_kind_or_a_later_version_is_refused() {
        for (line, said) in [
            ("{\"kind\":\"header\"}", "not the head of an export"),
            ("", "not the head of an export"),
            ("{\"selfsame_wallet\":2}", "version 2"),
        ] {
            let refused = ExportHead::read(line).unwrap_err();
            assert!(refused.message().contains(said), "{}", refused.message());
        }
        assert!(!ExportHead::without_keys().has_keys());
    }
}
