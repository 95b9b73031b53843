//! The envelope of v1 (RFC 0019): one content, encrypted once, whose key is boxed for each recipient.

mod open;
mod pack;

use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::jwe::JweError;
use selfsame_crypto::{PublicKey, Secret};
use serde_json::{Map, Value};

use crate::encoding::decode;
use crate::error::Error;

pub use open::unpack;
pub use pack::pack;

/// The content encryption that agents name: ChaCha20-Poly1305 with a nonce of 12 bytes, whatever the name says.
const ENC: &str = "xchacha20poly1305_ietf";
/// The same, as the text of RFC 0019 also spells it.
const ENC_SPELLED: &str = "xchachapoly1305_ietf";
pub(crate) const TYP: &str = "JWM/1.0";
const AUTHCRYPT: &str = "Authcrypt";
const ANONCRYPT: &str = "Anoncrypt";
/// The maximum number of recipients.
const MAX_RECIPIENTS: usize = 64;
/// Limits on the text of an envelope. A message of 2 MiB that is forwarded twice fits.
pub const LIMITS: Limits = Limits {
    max_bytes: 6 * 1024 * 1024,
    max_depth: 8,
    max_members: 512,
};

/// An envelope: well formed, not yet decrypted.
#[derive(Clone, Debug, PartialEq)]
pub struct Envelope {
    protected: String,
    recipients: Vec<Boxed>,
    iv: [u8; 12],
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
}

/// The content's key for one recipient.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Boxed {
    kid: String,
    encrypted_key: Vec<u8>,
    /// What boxes the key if the sender is known.
    author: Option<BoxedSender>,
}

/// The sender as a recipient reads it.
#[derive(Clone, Debug, Eq, PartialEq)]
struct BoxedSender {
    /// The sender's key in base58, sealed for the recipient.
    sealed: Vec<u8>,
    /// The nonce of the box.
    nonce: [u8; 24],
}

/// The content of an envelope, and who took part.
#[derive(Debug)]
pub struct Unpacked {
    /// The plaintext: a message, or what the sender put in its place.
    pub plaintext: Secret,
    /// The recipient's key that decrypted it.
    pub recipient: PublicKey,
    /// The sender's key; `None` if the sender stays anonymous.
    pub sender: Option<PublicKey>,
}

impl Envelope {
    /// Reads an envelope.
    ///
    /// # Errors
    /// If it is not JSON within [`LIMITS`], malformed, or of another algorithm.
    pub fn read(text: &[u8]) -> Result<Self, Error> {
        match json::parse(text, &LIMITS)? {
            Value::Object(members) => Self::from_members(members),
            _ => Err(Error::Malformed("envelope")),
        }
    }

    /// Reads the members of an envelope that was parsed within limits, such as the `msg` of a forward.
    ///
    /// # Errors
    /// As [`Envelope::read`].
    pub fn from_members(mut members: Map<String, Value>) -> Result<Self, Error> {
        let protected = text(&mut members, "protected")?;
        let header = decode(&protected, "header of the envelope")?;
        let Value::Object(header) = json::parse(&header, &LIMITS)? else {
            return Err(Error::Malformed("header of the envelope"));
        };
        let iv = decode(&text(&mut members, "iv")?, "nonce of the envelope")?;
        let iv = iv
            .try_into()
            .map_err(|_| Error::Malformed("nonce of the envelope"))?;
        Ok(Self {
            recipients: recipients(header)?,
            protected,
            iv,
            ciphertext: decode(
                &text(&mut members, "ciphertext")?,
                "content of the envelope",
            )?,
            tag: decode(&text(&mut members, "tag")?, "tag of the envelope")?,
        })
    }

    /// The recipients' keys: Ed25519 in base58.
    pub fn kids(&self) -> impl Iterator<Item = &str> {
        self.recipients.iter().map(|one| one.kid.as_str())
    }

    /// Whether the sender is known to the recipients.
    pub fn is_authenticated(&self) -> bool {
        self.recipients.iter().all(|one| one.author.is_some())
    }
}

fn recipients(mut header: Map<String, Value>) -> Result<Vec<Boxed>, Error> {
    let enc = text(&mut header, "enc")?;
    if ![ENC, ENC_SPELLED].contains(&enc.as_str()) {
        return Err(JweError::Unsupported("enc").into());
    }
    if text(&mut header, "typ")? != TYP {
        return Err(JweError::Unsupported("typ").into());
    }
    let is_authenticated = match text(&mut header, "alg")?.as_str() {
        AUTHCRYPT => true,
        ANONCRYPT => false,
        _ => return Err(JweError::Unsupported("alg").into()),
    };
    let Some(Value::Array(all)) = header.remove("recipients") else {
        return Err(Error::Missing("recipients"));
    };
    if all.is_empty() || all.len() > MAX_RECIPIENTS {
        return Err(Error::TooLarge("list of recipients"));
    }
    let read = all.into_iter().map(|one| recipient(one, is_authenticated));
    read.collect()
}

fn recipient(value: Value, is_authenticated: bool) -> Result<Boxed, Error> {
    let malformed = Error::Malformed("recipient of the envelope");
    let Value::Object(mut members) = value else {
        return Err(malformed);
    };
    let encrypted_key = text(&mut members, "encrypted_key")?;
    let Some(Value::Object(mut header)) = members.remove("header") else {
        return Err(malformed);
    };
    let kid = text(&mut header, "kid")?;
    let author = match (header.contains_key("sender"), header.contains_key("iv")) {
        (true, true) if is_authenticated => {
            let nonce = decode(&text(&mut header, "iv")?, "nonce of the recipient")?;
            Some(BoxedSender {
                sealed: decode(&text(&mut header, "sender")?, "sender of the envelope")?,
                nonce: nonce.try_into().map_err(|_| malformed)?,
            })
        }
        (false, false) if !is_authenticated => None,
        _ => return Err(malformed),
    };
    Ok(Boxed {
        kid,
        encrypted_key: decode(&encrypted_key, "key of the recipient")?,
        author,
    })
}

fn text(members: &mut Map<String, Value>, name: &'static str) -> Result<String, Error> {
    match members.remove(name) {
        Some(Value::String(text)) => Ok(text),
        None | Some(Value::Null) => Err(Error::Missing(name)),
        Some(_) => Err(Error::Malformed(name)),
    }
}

#[cfg(test)]
mod tests;
