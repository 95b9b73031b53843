//! From the shared secret to keys: the Concat KDF (RFC 7518 §4.6.2, draft-madden-jose-ecdh-1pu-04 §2.3), and the
//! wrapping of the content's key (RFC 3394).

use aws_lc_rs::key_wrap::{AES_128, AES_256, AesBlockCipher, AesKek, KeyWrap as _};
use zeroize::Zeroizing;

use super::JweError;
use super::header::{JweHeader, KeyManagement};
use crate::agreement::{AgreementKey, AgreementPrivate, SharedSecret};
use crate::hash::sha256_parts;

/// The longest content key.
const MAX_KEY: usize = 64;

/// A key that is wiped.
pub(super) type WipedKey = Zeroizing<Vec<u8>>;

/// The secret that both parties share: of ephemeral and static key, and for `ECDH-1PU` of both static keys after it.
pub(super) fn shared(ephemeral: &SharedSecret, between: Option<SharedSecret>) -> SharedSecret {
    let statics = between.as_ref().map_or(&[][..], |secret| secret.as_slice());
    Zeroizing::new([ephemeral.as_slice(), statics].concat())
}

/// The secret that a recipient shares with the sender.
pub(super) fn received(
    header: &JweHeader,
    own: &AgreementPrivate,
    sender: Option<&AgreementKey>,
) -> Result<SharedSecret, JweError> {
    let ephemeral = own.agree(&header.epk)?;
    let between = match (header.alg.is_authenticated(), sender) {
        (true, Some(sender)) => Some(own.agree(sender)?),
        (true, None) => return Err(JweError::NoKey),
        (false, _) => None,
    };
    Ok(shared(&ephemeral, between))
}

/// The key that the secret gives: the content's key, or the one that wraps it. `tag` is that of the content; it counts
/// for `ECDH-1PU` with wrapping alone.
pub(super) fn derived(header: &JweHeader, secret: &SharedSecret, tag: &[u8]) -> WipedKey {
    let name = match header.alg {
        KeyManagement::EcdhEs => header.enc.as_str(),
        wrapping => wrapping.as_str(),
    };
    let len = header.alg.wrapping_len().unwrap_or(header.enc.key_len());
    let bits = u32::try_from(len)
        .unwrap_or_default()
        .saturating_mul(8)
        .to_be_bytes();
    let mut info = Vec::new();
    for part in [name.as_bytes(), &header.apu, &header.apv] {
        info.extend_from_slice(&length(part));
        info.extend_from_slice(part);
    }
    info.extend_from_slice(&bits);
    if header.alg.is_authenticated() {
        info.extend_from_slice(&length(tag));
        info.extend_from_slice(tag);
    }
    let mut key = Zeroizing::new(Vec::with_capacity(MAX_KEY));
    for round in 1_u32..=2 {
        let hash = Zeroizing::new(sha256_parts(&[&round.to_be_bytes(), secret, &info]));
        key.extend_from_slice(&*hash);
    }
    key.truncate(len);
    key
}

fn length(part: &[u8]) -> [u8; 4] {
    u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes()
}

pub(super) fn wrap(with: &WipedKey, key: &WipedKey) -> Result<Vec<u8>, JweError> {
    let mut wrapped = vec![0; key.len().saturating_add(8)];
    let kek = kek(with)?;
    kek.wrap(key, &mut wrapped).map_err(|_| JweError::Backend)?;
    Ok(wrapped)
}

pub(super) fn unwrap(with: &WipedKey, wrapped: &[u8], len: usize) -> Result<WipedKey, JweError> {
    if wrapped.len() != len.saturating_add(8) {
        return Err(JweError::Decryption);
    }
    let mut key = Zeroizing::new(vec![0; len]);
    let kek = kek(with)?;
    kek.unwrap(wrapped, &mut key)
        .map_err(|_| JweError::Decryption)?;
    Ok(key)
}

fn kek(key: &WipedKey) -> Result<AesKek, JweError> {
    let cipher: &'static AesBlockCipher = match key.len() {
        16 => &AES_128,
        _ => &AES_256,
    };
    AesKek::new(cipher, key).map_err(|_| JweError::Backend)
}
