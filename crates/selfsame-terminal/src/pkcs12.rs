//! PKCS#12 files (RFC 7292): a private key and its certificate chain, in one file with a password.

use p12_keystore::{Certificate, Pkcs12Archive, PrivateKeyBag, error::Error as P12Error};
use selfsame_crypto::{SecretString, encoding};

use crate::exit::Failure;

/// The first byte of a PKCS#12 file, a DER SEQUENCE. No PEM text begins with it.
const SEQUENCE: u8 = 0x30;
/// The most certificates that a chain has.
const CHAIN_MAX: usize = 10;
/// What the file named in place of a key has to be, for a PKCS#12 file.
pub const PASSWORD: &str =
    "for a PKCS#12 file, name the file with its password in place of the key's";
const ANEW: &str = "write it again with today's algorithms: openssl pkcs12 -legacy -in OLD -nodes | openssl pkcs12 -export -out NEW";
const EXPORT: &str = "write it with: openssl pkcs12 -export -inkey KEY.pem -in CHAIN.pem -out NEW";

/// A certificate chain, the leaf first, and its key, both in PEM.
pub struct PemPair {
    /// The chain.
    pub chain: String,
    /// The key, PKCS#8.
    pub key: SecretString,
}

/// Whether these are the bytes of a PKCS#12 file, and not PEM.
#[must_use]
pub fn is_pkcs12(bytes: &[u8]) -> bool {
    bytes.first() == Some(&SEQUENCE)
}

/// Reads a PKCS#12 file. `named` is what an error calls it.
///
/// # Errors
/// If the password is wrong, the file has no MAC, is encrypted in a way that is weak today, or does not contain one key
/// with its certificate.
pub fn read(named: &str, bytes: &[u8], password: &SecretString) -> Result<PemPair, Failure> {
    let wrong = |why: &str| Failure::environment(format!("{named}: {why}"));
    if !has_mac(bytes) {
        return Err(wrong("a PKCS#12 file without a MAC, or none at all").hint(EXPORT));
    }
    let archive = Pkcs12Archive::from_pkcs12(bytes, password.expose());
    let archive = archive.map_err(|error| match error {
        P12Error::MacError(_) => wrong("the password of the PKCS#12 file is wrong")
            .hint("the file named as the key contains the password, and nothing else"),
        P12Error::UnsupportedEncryptionScheme => {
            wrong("the PKCS#12 file is encrypted with RC2 or Triple DES, which are weak").hint(ANEW)
        }
        other => wrong(&format!("the PKCS#12 file can't be read: {other}")).hint(EXPORT),
    })?;
    let [key] = archive.keys.as_slice() else {
        let count = archive.keys.len();
        let why = format!("the PKCS#12 file contains {count} private keys, and not one");
        return Err(wrong(&why).hint(EXPORT));
    };
    let chain = chain(key, &archive).ok_or_else(|| {
        wrong("the PKCS#12 file does not contain the certificate of its key").hint(EXPORT)
    })?;
    Ok(PemPair {
        chain: chain
            .iter()
            .map(|one| pem("CERTIFICATE", one.as_der()))
            .collect(),
        key: SecretString::new(pem("PRIVATE KEY", key.key.as_der())),
    })
}

/// The certificates from that of the key up to the last one that is not self-signed: peers know roots themselves.
fn chain<'a>(key: &PrivateKeyBag, archive: &'a Pkcs12Archive) -> Option<Vec<&'a Certificate>> {
    let all = || archive.certs.iter();
    let key_id = key.local_key_id.as_ref().map(|id| id.0.as_slice());
    let leaf = match archive.certs.as_slice() {
        [only] => only,
        _ => all().find(|one| key_id.is_some() && one.local_key_id.as_deref() == key_id)?,
    };
    let mut chain = vec![&leaf.cert];
    while chain.len() < CHAIN_MAX {
        let Some(last) = chain.last() else { break };
        let next = all().map(|one| &one.cert).find(|one| {
            one.subject() == last.issuer() && one.subject() != one.issuer() && !chain.contains(one)
        });
        match next {
            Some(next) => chain.push(next),
            None => break,
        }
    }
    Some(chain)
}

/// Whether a PFX has its third element, the MAC over the others (RFC 7292 §4), which the reader does not require.
fn has_mac(bytes: &[u8]) -> bool {
    let mut rest = match element(bytes) {
        Some((content, [])) => content,
        _ => return false,
    };
    for _ in 0..2 {
        rest = match element(rest) {
            Some((_, after)) => after,
            None => return false,
        };
    }
    matches!(element(rest), Some((_, [])))
}

/// The content of the first element of DER, and what follows it.
fn element(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (_, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(*length), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7f))?;
            let length = digits.iter().fold(0_usize, |sum, digit| {
                sum.wrapping_mul(256).wrapping_add(usize::from(*digit))
            });
            (length, rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// A PEM text (RFC 7468). Nothing of it stays in memory elsewhere.
pub fn pem(label: &str, der: &[u8]) -> String {
    let base64 = SecretString::new(encoding::base64_encode(der));
    let mut text =
        String::with_capacity(base64.expose().len().saturating_mul(2).saturating_add(128));
    text.push_str("-----BEGIN ");
    text.push_str(label);
    text.push_str("-----\n");
    for (place, letter) in base64.expose().chars().enumerate() {
        if place > 0 && place.is_multiple_of(64) {
            text.push('\n');
        }
        text.push(letter);
    }
    text.push_str("\n-----END ");
    text.push_str(label);
    text.push_str("-----\n");
    text
}
