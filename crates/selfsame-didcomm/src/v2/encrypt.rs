//! Encrypting messages of v2 (DIDComm v2.1, "Message Encryption").

use selfsame_crypto::agreement::{AgreementCurve, AgreementKey, AgreementPrivate};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::json;
use selfsame_crypto::jwe::{Addressee, ContentEncryption, JweDraft, JweError, KeyManagement};
use selfsame_did::{DidUrl, Document};
use serde_json::{Map, Value};

use super::MAX_BYTES;
use super::addressing::{self, Parties};
use super::signed::SignedMessage;
use crate::error::{Error, Inconsistency};
use crate::media;
use crate::message::{Message, Version};

/// The curves for a recipient whose sender is anonymous, the preferred first. P-256 is deprecated in favour of P-384.
const CURVES: [AgreementCurve; 4] = [
    AgreementCurve::X25519,
    AgreementCurve::P384,
    AgreementCurve::P256,
    AgreementCurve::P521,
];

/// To whom a message is encrypted, and how.
#[derive(Clone, Copy, Debug)]
pub struct Packing<'a> {
    /// The recipient's document. All its keys for agreement of one curve can decrypt.
    pub to: &'a Document,
    /// The sender, who is authenticated to the recipient; `None` to stay anonymous.
    pub from: Option<SenderKey<'a>>,
    /// How a message of an anonymous sender, or the envelope that hides a sender, is encrypted.
    pub enc: ContentEncryption,
    /// Whether another envelope hides the identifier of the sender's key from those who pass the message on.
    pub hides_sender: bool,
}

/// The sender's key.
#[derive(Clone, Copy, Debug)]
pub struct SenderKey<'a> {
    /// Its identifier in the sender's document.
    pub kid: &'a DidUrl,
    /// The private key.
    pub key: &'a AgreementPrivate,
}

/// What an envelope encrypts.
#[derive(Clone, Copy, Debug)]
pub enum Sealable<'a> {
    /// A message.
    Plain(&'a Message),
    /// A signed message.
    Signed(&'a SignedMessage),
}

/// A recipient's keys of one curve, each with its identifier.
pub(crate) struct Recipients {
    kids: Vec<String>,
    keys: Vec<AgreementKey>,
}

/// Encrypts a message. A signed message is encrypted without another proof of the sender; that would add nothing.
///
/// # Errors
/// `Inconsistent` if the message's `from` or `to` is not the sender or the recipient; `Jwe` with `NoKey` if the
/// recipient has no key of the sender's curve; `TooLarge` beyond the limit.
pub fn encrypt(inner: Sealable<'_>, packing: &Packing<'_>, ctx: &Ctx) -> Result<Vec<u8>, Error> {
    let (message, plaintext, is_signed) = match inner {
        Sealable::Plain(message) => (message, message.write(Version::V2), false),
        Sealable::Signed(signed) => (signed.message(), signed.text().to_vec(), true),
    };
    if is_signed && packing.from.is_some() {
        return Err(Inconsistency::Layers.into());
    }
    let curve = packing.from.map(|from| from.key.public().curve());
    let to = Recipients::of(packing.to, curve)?;
    let mut parties = Parties {
        sender: packing.from.map(|from| from.kid.clone()),
        ..Parties::default()
    };
    for kid in &to.kids {
        parties
            .recipients
            .push(addressing::key(kid, "identifier of the recipient's key")?);
    }
    if is_signed && message.to.is_empty() {
        return Err(Inconsistency::Recipient.into());
    }
    addressing::check(message, &parties)?;
    let envelope = match packing.from {
        None => to.anonymous(&plaintext, packing.enc, ctx)?,
        Some(from) => to.authenticated(&plaintext, from, ctx)?,
    };
    if packing.from.is_none() || !packing.hides_sender {
        return Ok(envelope);
    }
    to.anonymous(&envelope, packing.enc, ctx)
}

impl Recipients {
    /// The keys for agreement of a document: those of this curve, or of the preferred curve that it has.
    pub(crate) fn of(document: &Document, curve: Option<AgreementCurve>) -> Result<Self, Error> {
        let has = |curve: &AgreementCurve| {
            document
                .agreement_keys()
                .any(|(_, key)| key.curve() == *curve)
        };
        let curve = curve
            .or_else(|| CURVES.into_iter().find(has))
            .ok_or(JweError::NoKey)?;
        let keys = document
            .agreement_keys()
            .filter(|(_, key)| key.curve() == curve);
        let (kids, keys): (Vec<String>, Vec<AgreementKey>) =
            keys.map(|(kid, key)| (kid.to_string(), key)).unzip();
        match kids.is_empty() {
            true => Err(JweError::NoKey.into()),
            false => Ok(Self { kids, keys }),
        }
    }

    /// One key alone.
    pub(crate) fn one(kid: String, key: AgreementKey) -> Self {
        Self {
            kids: vec![kid],
            keys: vec![key],
        }
    }

    pub(crate) fn anonymous(
        &self,
        plaintext: &[u8],
        enc: ContentEncryption,
        ctx: &Ctx,
    ) -> Result<Vec<u8>, Error> {
        self.sealed(plaintext, None, enc, ctx)
    }

    fn authenticated(
        &self,
        plaintext: &[u8],
        from: SenderKey<'_>,
        ctx: &Ctx,
    ) -> Result<Vec<u8>, Error> {
        self.sealed(plaintext, Some(from), ContentEncryption::A256CbcHs512, ctx)
    }

    fn sealed(
        &self,
        plaintext: &[u8],
        from: Option<SenderKey<'_>>,
        enc: ContentEncryption,
        ctx: &Ctx,
    ) -> Result<Vec<u8>, Error> {
        if plaintext.len() > MAX_BYTES / 2 {
            return Err(Error::TooLarge("message"));
        }
        let kids = self.kids.iter().map(String::as_str);
        let mut members = Map::new();
        let mut put = |name: &str, value: Value| members.insert(name.to_owned(), value);
        put("typ", Value::from(media::V2_ENCRYPTED));
        put("apv", addressing::member(&addressing::apv(kids.clone())));
        if let Some(from) = from {
            let skid = from.kid.to_string();
            put("apu", addressing::member(skid.as_bytes()));
            put("skid", Value::from(skid));
        }
        let to = kids.zip(&self.keys).map(|(kid, key)| Addressee {
            kid: Some(kid),
            key,
        });
        let draft = JweDraft {
            alg: match from {
                None => KeyManagement::EcdhEsA256Kw,
                Some(_) => KeyManagement::Ecdh1PuA256Kw,
            },
            enc,
            to: to.collect(),
            sender: from.map(|from| from.key),
            members,
        };
        Ok(json::to_bytes(&draft.encrypt(plaintext, ctx)?.to_value()))
    }
}
