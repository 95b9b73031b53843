//! The boxes of NaCl, as libsodium writes them: encryption from one X25519 key to another (`crypto_box_easy`), and from
//! an anonymous sender to one recipient (`crypto_box_seal`). XSalsa20 with Poly1305.

use blake2::digest::consts::U24;
use blake2::{Blake2b, Digest as _};
use poly1305::universal_hash::KeyInit as _;
use poly1305::{Block, Poly1305};
use salsa20::XSalsa20;
use salsa20::cipher::consts::U10;
use salsa20::cipher::{KeyIvInit as _, StreamCipher as _};
use zeroize::Zeroizing;

use super::{AgreementCurve, AgreementKey, AgreementPrivate};
use crate::error::KeyError;
use crate::hash::ct_eq;
use crate::seal::SealError;
use crate::secret::Secret;

/// The length of the tag, which stands before the ciphertext.
const TAG: usize = 16;
/// The length of an X25519 key.
const KEY: usize = 32;
/// The block of the key stream whose first 32 bytes are the key of Poly1305; the message uses the rest.
const FIRST: usize = 32;

/// The nonce of a box. It must be used only once between two keys.
pub type BoxNonce = [u8; 24];

/// Encrypts from `own` to `peer`: the tag and the ciphertext.
///
/// # Errors
/// If a key is not of X25519, or the peer's key is of small order.
pub fn seal(
    content: &[u8],
    nonce: &BoxNonce,
    own: &AgreementPrivate,
    peer: &AgreementKey,
) -> Result<Vec<u8>, KeyError> {
    let mut work = Zeroizing::new([&[0; FIRST], content].concat());
    key_stream(nonce, own, peer)?.apply_keystream(&mut work);
    let (first, sealed) = work.split_first_chunk::<FIRST>().ok_or(KeyError::Backend)?;
    Ok([&tag(first, sealed)[..], sealed].concat())
}

/// Decrypts what `peer` encrypted to `own`.
///
/// # Errors
/// If it was not encrypted by `peer` to `own` with this nonce, or has been changed.
pub fn open(
    sealed: &[u8],
    nonce: &BoxNonce,
    own: &AgreementPrivate,
    peer: &AgreementKey,
) -> Result<Secret, SealError> {
    let (expected, sealed) = sealed.split_first_chunk::<TAG>().ok_or(SealError)?;
    let mut stream = key_stream(nonce, own, peer).map_err(|_| SealError)?;
    let mut first = Zeroizing::new([0; FIRST]);
    stream.apply_keystream(&mut *first);
    if !ct_eq(&tag(&first, sealed), expected) {
        return Err(SealError);
    }
    let mut content = sealed.to_vec();
    stream.apply_keystream(&mut content);
    Ok(Secret::new(content))
}

/// Encrypts to `peer` with a key that is used only here: its public key, the tag and the ciphertext.
///
/// # Errors
/// If a key is not of X25519, or the peer's key is of small order.
pub fn seal_anonymous(
    content: &[u8],
    ephemeral: &AgreementPrivate,
    peer: &AgreementKey,
) -> Result<Vec<u8>, KeyError> {
    let nonce = anonymous_nonce(ephemeral.public(), peer);
    let sealed = seal(content, &nonce, ephemeral, peer)?;
    Ok([ephemeral.public().bytes(), &sealed].concat())
}

/// Decrypts what somebody encrypted to `own`.
///
/// # Errors
/// If it was not encrypted to `own`, or has been changed.
pub fn open_anonymous(sealed: &[u8], own: &AgreementPrivate) -> Result<Secret, SealError> {
    let (key, sealed) = sealed.split_first_chunk::<KEY>().ok_or(SealError)?;
    let ephemeral = AgreementKey::from_raw(AgreementCurve::X25519, key).map_err(|_| SealError)?;
    let nonce = anonymous_nonce(&ephemeral, own.public());
    open(sealed, &nonce, own, &ephemeral)
}

/// BLAKE2b of both public keys, the sender's first.
fn anonymous_nonce(ephemeral: &AgreementKey, peer: &AgreementKey) -> BoxNonce {
    let mut hash = Blake2b::<U24>::new();
    hash.update(ephemeral.bytes());
    hash.update(peer.bytes());
    hash.finalize().into()
}

/// XSalsa20 with the key that two parties share: HSalsa20 of the shared secret.
fn key_stream(
    nonce: &BoxNonce,
    own: &AgreementPrivate,
    peer: &AgreementKey,
) -> Result<XSalsa20, KeyError> {
    if own.public().curve() != AgreementCurve::X25519 {
        return Err(KeyError::Unsupported);
    }
    let secret = own.agree(peer)?;
    let secret: &[u8; KEY] = secret
        .as_slice()
        .try_into()
        .map_err(|_| KeyError::Backend)?;
    let mut key = salsa20::hsalsa::<U10>(secret.into(), &[0; 16].into());
    let stream = XSalsa20::new(&key, nonce.into());
    zeroize::Zeroize::zeroize(key.as_mut_slice());
    Ok(stream)
}

/// Poly1305 over the ciphertext.
fn tag(key: &[u8; FIRST], sealed: &[u8]) -> [u8; TAG] {
    let mac = Poly1305::new(key.into());
    let tag: Block = mac.compute_unpadded(sealed);
    tag.into()
}
