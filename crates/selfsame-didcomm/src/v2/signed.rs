//! Signed messages of v2: a JWS in JSON form (DIDComm v2.1, "Message Signing").

use selfsame_crypto::jws::{Compact, Unsigned};
use selfsame_crypto::{Algorithm, json};
use selfsame_did::{DidUrl, Relationship};
use serde_json::{Map, Value, json};

use super::addressing::{self, Parties};
use super::{Documents, MAX_BYTES};
use crate::error::{Error, Inconsistency};
use crate::media;
use crate::message::{Message, Version};

/// The maximum number of signatures.
const MAX_SIGNATURES: usize = 8;
/// The name of the type in the specification's text; its examples have the media type.
const JWM: &str = "JWM";

/// A message that waits for its signature.
#[derive(Clone, Debug)]
pub struct SignDraft {
    message: Message,
    kid: DidUrl,
    unsigned: Unsigned,
}

/// A message with its signature.
#[derive(Clone, Debug)]
pub struct SignedMessage {
    message: Message,
    text: Vec<u8>,
}

impl SignDraft {
    /// Drafts the signature over `message` by the key `kid`, whose signatures have this algorithm.
    ///
    /// # Errors
    /// If the key is not one of the message's sender.
    pub fn new(message: Message, kid: DidUrl, algorithm: Algorithm) -> Result<Self, Error> {
        let parties = Parties {
            signer: Some(kid.clone()),
            ..Parties::default()
        };
        addressing::check(&message, &parties)?;
        let header = json!({
            "typ": media::V2_SIGNED,
            "alg": algorithm.as_str(),
            "kid": kid,
        });
        let unsigned = Unsigned::with_payload_bytes(&header, &message.write(Version::V2));
        Ok(Self {
            message,
            kid,
            unsigned,
        })
    }

    /// The key that is to sign.
    pub fn kid(&self) -> &DidUrl {
        &self.kid
    }

    /// The bytes to sign.
    pub fn signing_input(&self) -> &[u8] {
        self.unsigned.signing_input()
    }

    /// The signed message.
    pub fn finish(self, signature: &[u8]) -> SignedMessage {
        let compact = self.unsigned.finish(signature);
        let mut parts = compact.split('.');
        let mut next = || parts.next().unwrap_or_default();
        let (protected, payload, signature) = (next(), next(), next());
        let text = json::to_bytes(&json!({
            "payload": payload,
            "signatures": [{
                "protected": protected,
                "signature": signature,
                // Some libraries look for it here alone.
                "header": { "kid": self.kid },
            }],
        }));
        SignedMessage {
            message: self.message,
            text,
        }
    }
}

impl SignedMessage {
    /// The envelope.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The message in it.
    pub fn message(&self) -> &Message {
        &self.message
    }
}

/// A signed envelope that was read, and not verified.
pub(super) struct Signed {
    payload: String,
    signatures: Vec<Part>,
}

/// One signature.
struct Part {
    protected: String,
    signature: String,
    /// The identifier of the key in the header that is not protected.
    kid: Option<String>,
}

impl Signed {
    /// Whether the members are those of a signed envelope.
    pub(super) fn is(members: &Map<String, Value>) -> bool {
        members.contains_key("payload")
    }

    /// Reads the general or the flattened form (RFC 7515 §7.2).
    pub(super) fn read(mut members: Map<String, Value>) -> Result<Self, Error> {
        let payload = text(&mut members, "payload")?;
        let signatures = match members.remove("signatures") {
            None => vec![Part::read(members)?],
            Some(Value::Array(all)) if (1..=MAX_SIGNATURES).contains(&all.len()) => {
                let parts = all.into_iter().map(|one| match one {
                    Value::Object(members) => Part::read(members),
                    _ => Err(Error::Malformed("signatures")),
                });
                parts.collect::<Result<_, _>>()?
            }
            Some(_) => return Err(Error::Malformed("signatures")),
        };
        Ok(Self {
            payload,
            signatures,
        })
    }

    /// The payload and the key that signed, if every signature is valid and its key authenticates the message's sender
    /// by the sender's document.
    ///
    /// # Errors
    /// `Unresolved` if the document is missing; otherwise why it is refused.
    pub(super) fn verify(&self, documents: &Documents) -> Result<(Message, DidUrl), Error> {
        let mut verified = None;
        for part in &self.signatures {
            let compact = format!("{}.{}.{}", part.protected, self.payload, part.signature);
            let jws = Compact::parse_within(&compact, MAX_BYTES)?;
            let typ = jws.header.typ.as_deref();
            if typ.is_some_and(|typ| typ != JWM && !media::is(typ, media::V2_SIGNED)) {
                return Err(Error::Malformed("type of the signature"));
            }
            let kid = match (&jws.header.kid, &part.kid) {
                (Some(one), Some(other)) if one != other => {
                    return Err(Inconsistency::Signer.into());
                }
                (one, other) => one.as_ref().or(other.as_ref()),
            };
            let kid = kid.ok_or(Error::Missing("kid"))?;
            let kid = addressing::key(kid, "identifier of the signing key")?;
            let message = Message::read(&jws.payload, Version::V2)?;
            let parties = Parties {
                signer: Some(kid.clone()),
                ..Parties::default()
            };
            addressing::check(&message, &parties)?;
            let document = documents.get(&kid.did);
            let document = document.ok_or_else(|| Error::Unresolved(Box::new(kid.did.clone())))?;
            let key = document.key(&kid, Relationship::Authentication)?;
            jws.verify(&key)?;
            verified = Some((message, kid));
        }
        verified.ok_or(Error::Missing("signatures"))
    }
}

impl Part {
    fn read(mut members: Map<String, Value>) -> Result<Self, Error> {
        let kid = match members.remove("header") {
            None => None,
            Some(Value::Object(mut header)) if header.contains_key("kid") => {
                Some(text(&mut header, "kid")?)
            }
            Some(Value::Object(_)) => None,
            Some(_) => return Err(Error::Malformed("header")),
        };
        Ok(Self {
            protected: text(&mut members, "protected")?,
            signature: text(&mut members, "signature")?,
            kid,
        })
    }
}

fn text(members: &mut Map<String, Value>, name: &'static str) -> Result<String, Error> {
    match members.remove(name) {
        Some(Value::String(text)) => Ok(text),
        None => Err(Error::Missing(name)),
        Some(_) => Err(Error::Malformed(name)),
    }
}
