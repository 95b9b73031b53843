//! Opening the envelopes of v2, from the outside in.

use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::jwe::{Jwe, JweError, Opening};
use selfsame_did::DidUrl;
use serde_json::{Map, Value};

use super::addressing::{self, Parties};
use super::signed::Signed;
use super::{Documents, MAX_BYTES};
use crate::error::{Error, Inconsistency};
use crate::keys::KeyRing;
use crate::media;
use crate::message::{self, Message, Version};

const LIMITS: Limits = Limits {
    max_bytes: MAX_BYTES,
    ..message::LIMITS
};

/// A message, and what its envelopes prove.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// The message.
    pub message: Message,
    /// The sender's key, if it was authenticated for the recipient alone. Its DID is the message's `from`.
    pub sender: Option<DidUrl>,
    /// The key that signed the message for everybody. Its DID is the message's `from`.
    pub signer: Option<DidUrl>,
    /// The recipient's key; `None` if the message was not encrypted.
    pub recipient: Option<DidUrl>,
}

/// How far the layers have been opened. Each kind of encryption stands once, the one that hides the sender outside; a
/// signature is within them (DIDComm v2.1, "IANA Media Types"; its appendix C.3 nests all three).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Layer {
    Nothing,
    Anonymous,
    Authenticated,
}

/// The keys that an envelope is encrypted to; none if it is not encrypted. An inner envelope may have others.
///
/// # Errors
/// If it is no envelope.
pub fn kids(envelope: &[u8]) -> Result<Vec<String>, Error> {
    let members = members(envelope)?;
    if !is_encrypted(&members) {
        return Ok(Vec::new());
    }
    let jwe = Jwe::from_members(members)?;
    Ok(jwe.kids().map(str::to_owned).collect())
}

/// Opens an envelope with all its layers. A plaintext without envelope is read too, and proves nothing.
///
/// # Errors
/// `Unresolved` if the document of a DID is missing: call again with it. `Inconsistent` if the layers do not agree on
/// sender and recipient. Otherwise why it is refused.
pub fn open(envelope: &[u8], ring: &impl KeyRing, documents: &Documents) -> Result<Opened, Error> {
    let mut parties = Parties::default();
    let mut layer = Layer::Nothing;
    let mut members = members(envelope)?;
    while is_encrypted(&members) {
        let jwe = Jwe::from_members(members)?;
        let next = match jwe.header.alg.is_authenticated() {
            true => Layer::Authenticated,
            false => Layer::Anonymous,
        };
        if next <= layer {
            return Err(Inconsistency::Layers.into());
        }
        layer = next;
        members = decrypted(&jwe, ring, documents, &mut parties)?;
    }
    let message = if Signed::is(&members) {
        let (message, signer) = Signed::read(members)?.verify(documents)?;
        parties.signer = Some(signer);
        message
    } else {
        Message::from_members(members, Version::V2)?
    };
    addressing::check(&message, &parties)?;
    Ok(Opened {
        message,
        sender: parties.sender,
        signer: parties.signer,
        recipient: parties.recipients.pop(),
    })
}

/// The content of an encrypted layer.
fn decrypted(
    jwe: &Jwe,
    ring: &impl KeyRing,
    documents: &Documents,
    parties: &mut Parties,
) -> Result<Map<String, Value>, Error> {
    let typ = jwe.header.typ.as_deref();
    if typ.is_some_and(|typ| !media::is(typ, media::V2_ENCRYPTED)) {
        return Err(JweError::Unsupported("typ").into());
    }
    let sender = addressing::sender(jwe)?;
    let held = jwe.kids().find_map(|kid| Some((kid, ring.held(kid)?)));
    let (kid, own) = held.ok_or(JweError::NoKey)?;
    let key = match &sender {
        None => None,
        Some(skid) => {
            let document = documents.get(&skid.did);
            let document = document.ok_or_else(|| Error::Unresolved(Box::new(skid.did.clone())))?;
            Some(document.agreement_key(skid)?)
        }
    };
    let plain = jwe.decrypt(&Opening {
        kid: Some(kid),
        own,
        sender: key.as_ref(),
    })?;
    parties
        .recipients
        .push(addressing::key(kid, "identifier of the recipient's key")?);
    parties.sender = sender.or(parties.sender.take());
    members(plain.expose())
}

fn members(text: &[u8]) -> Result<Map<String, Value>, Error> {
    match json::parse(text, &LIMITS)? {
        Value::Object(members) => Ok(members),
        _ => Err(Error::Malformed("envelope")),
    }
}

fn is_encrypted(members: &Map<String, Value>) -> bool {
    members.contains_key("ciphertext")
}
