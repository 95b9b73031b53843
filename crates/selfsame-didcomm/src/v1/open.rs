//! Opening an envelope of v1 (RFC 0019, "Unpack Algorithm").

use selfsame_crypto::agreement::nacl;
use selfsame_crypto::agreement::{AgreementKey, AgreementPrivate};
use selfsame_crypto::jwe::JweError;
use selfsame_crypto::seal::chacha20_poly1305::{ChaChaKey, Detached};
use selfsame_crypto::{PublicKey, Secret};

use selfsame_did::legacy::key_of_base58;

use super::{Boxed, Envelope, Unpacked};
use crate::error::Error;
use crate::keys::KeyRing;

/// Decrypts an envelope with the first of the recipients' keys that is held. With `Authcrypt` only the sender or a
/// recipient can have made it.
///
/// # Errors
/// `Jwe` with `NoKey` if no recipient's key is held, with `Decryption` if it was not made for that key or has been
/// changed.
pub fn unpack(envelope: &Envelope, ring: &impl KeyRing) -> Result<Unpacked, Error> {
    let held = envelope.recipients.iter().find_map(|recipient| {
        let own = ring.held(&recipient.kid)?;
        Some((recipient, own))
    });
    let (recipient, own) = held.ok_or(JweError::NoKey)?;
    let (key, sender) = content_key(recipient, own)?;
    let key = ChaChaKey::from_bytes(key.expose()).ok_or(JweError::Decryption)?;
    let sealed = Detached {
        nonce: &envelope.iv,
        aad: envelope.protected.as_bytes(),
        ciphertext: &envelope.ciphertext,
        tag: &envelope.tag,
    };
    Ok(Unpacked {
        plaintext: key
            .open_detached(sealed)
            .map_err(|_| JweError::Decryption)?,
        recipient: key_of_base58(&recipient.kid)?,
        sender,
    })
}

/// The content's key, and the sender's key if the box names one. A box opens only with the key of its sender, so a
/// sender who is named has made it.
fn content_key(
    recipient: &Boxed,
    own: &AgreementPrivate,
) -> Result<(Secret, Option<PublicKey>), Error> {
    let failed = |_| JweError::Decryption;
    let Some(author) = &recipient.author else {
        let key = nacl::open_anonymous(&recipient.encrypted_key, own).map_err(failed)?;
        return Ok((key, None));
    };
    let sender = nacl::open_anonymous(&author.sealed, own).map_err(failed)?;
    let sender = std::str::from_utf8(sender.expose()).map_err(|_| JweError::Decryption)?;
    let sender = key_of_base58(sender)?;
    let peer = AgreementKey::of_ed25519(&sender)?;
    let key = nacl::open(&recipient.encrypted_key, &author.nonce, own, &peer).map_err(failed)?;
    Ok((key, Some(sender)))
}
