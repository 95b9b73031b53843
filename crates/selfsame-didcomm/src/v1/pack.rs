//! Making an envelope of v1 (RFC 0019, "Authcrypt pack algorithm" and "Anoncrypt pack algorithm").

use selfsame_crypto::agreement::{AgreementCurve, AgreementKey, AgreementPrivate, nacl};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::encoding::{base58_encode, hex_encode};
use selfsame_crypto::hash::Sha256;
use selfsame_crypto::json;
use selfsame_crypto::jwe::JweError;
use selfsame_crypto::seal::chacha20_poly1305::ChaChaKey;
use selfsame_crypto::{PrivateKey, PublicKey, Secret};
use serde_json::{Map, Value, json};

use super::{ANONCRYPT, AUTHCRYPT, ENC, LIMITS, MAX_RECIPIENTS, TYP};
use crate::encoding::padded;
use crate::error::Error;

/// The sender's keys.
struct PackingSender {
    /// The Ed25519 key in base58.
    name: String,
    key: AgreementPrivate,
}

/// Encrypts a plaintext to these Ed25519 keys, from `sender` or anonymously. All keys and nonces come from the
/// randomness of the step and from all that is encrypted: another plaintext or another recipient gives others.
///
/// # Errors
/// `Jwe` with `NoKey` without recipients; `TooLarge` for too many or too long a plaintext; `Key` if a key is not of
/// Ed25519 or no point.
pub fn pack(
    plaintext: &[u8],
    to: &[PublicKey],
    sender: Option<&PrivateKey>,
    ctx: &Ctx,
) -> Result<Vec<u8>, Error> {
    if to.is_empty() {
        return Err(JweError::NoKey.into());
    }
    if to.len() > MAX_RECIPIENTS || plaintext.len() > LIMITS.max_bytes / 2 {
        return Err(Error::TooLarge("message"));
    }
    let label = label(plaintext, to, sender);
    let author = sender.map(author).transpose()?;
    let key = Secret::new(ctx.random::<32>(&format!("{label}/cek")).to_vec());
    let boxed = to.iter().enumerate().map(|(at, to)| {
        let label = format!("{label}/{at}");
        recipient(&key, to, author.as_ref(), &Drawn { ctx, label })
    });
    let header = json!({
        "enc": ENC,
        "typ": TYP,
        "alg": if author.is_some() { AUTHCRYPT } else { ANONCRYPT },
        "recipients": boxed.collect::<Result<Vec<_>, _>>()?,
    });
    let protected = padded(&json::to_bytes(&header));
    let iv = ctx.random::<12>(&format!("{label}/iv"));
    let mut sealed = plaintext.to_vec();
    let key = ChaChaKey::from_bytes(key.expose()).ok_or(JweError::Backend)?;
    let tag = key
        .seal(iv, protected.as_bytes(), &mut sealed)
        .map_err(|_| JweError::Backend)?;
    Ok(json::to_bytes(&json!({
        "protected": protected,
        "iv": padded(&iv),
        "ciphertext": padded(&sealed),
        "tag": padded(&tag),
    })))
}

/// The randomness of one recipient.
struct Drawn<'a> {
    ctx: &'a Ctx,
    label: String,
}

impl Drawn<'_> {
    /// A key that seals one box.
    fn ephemeral(&self, name: &str) -> Result<AgreementPrivate, Error> {
        let label = format!("{}/{name}", self.label);
        Ok(AgreementPrivate::derived(
            AgreementCurve::X25519,
            self.ctx,
            &label,
        )?)
    }
}

fn author(sender: &PrivateKey) -> Result<PackingSender, Error> {
    Ok(PackingSender {
        name: base58_encode(sender.public().bytes()),
        key: AgreementPrivate::of_ed25519(sender)?,
    })
}

fn recipient(
    key: &Secret,
    to: &PublicKey,
    author: Option<&PackingSender>,
    drawn: &Drawn<'_>,
) -> Result<Value, Error> {
    let peer = AgreementKey::of_ed25519(to)?;
    let mut header = Map::new();
    header.insert("kid".to_owned(), json!(base58_encode(to.bytes())));
    let encrypted_key = match author {
        None => nacl::seal_anonymous(key.expose(), &drawn.ephemeral("key")?, &peer)?,
        Some(author) => {
            let nonce = drawn.ctx.random::<24>(&format!("{}/nonce", drawn.label));
            let ephemeral = drawn.ephemeral("sender")?;
            let name = nacl::seal_anonymous(author.name.as_bytes(), &ephemeral, &peer)?;
            header.insert("sender".to_owned(), json!(padded(&name)));
            header.insert("iv".to_owned(), json!(padded(&nonce)));
            nacl::seal(key.expose(), &nonce, &author.key, &peer)?
        }
    };
    Ok(json!({ "encrypted_key": padded(&encrypted_key), "header": header }))
}

/// The label of the randomness: a hash of all that is encrypted.
fn label(plaintext: &[u8], to: &[PublicKey], sender: Option<&PrivateKey>) -> String {
    let mut hash = Sha256::new();
    for key in to.iter().chain(sender.map(PrivateKey::public)) {
        hash.update(&key.digest());
    }
    hash.update(&[u8::from(sender.is_some())]);
    hash.update(plaintext);
    format!("didcomm/v1/{}", hex_encode(&hash.finish()))
}
