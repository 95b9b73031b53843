//! What arrives: an envelope of either version is opened, and so are the envelopes in forwards to the recipient itself.

use selfsame_crypto::PublicKey;
use selfsame_crypto::json::{self, Limits};
use serde_json::{Map, Value};

use crate::encoding::decode;
use crate::error::Error;
use crate::forward::{Forward, MAX_HOPS, is_not_ours};
use crate::keys::KeyRing;
use crate::message::{self, Message, Version};
use crate::{v1, v2};

/// Limits on a text of either version, a plaintext included.
const LIMITS: Limits = Limits {
    max_bytes: v1::LIMITS.max_bytes,
    ..message::LIMITS
};

/// A message that arrived.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// In v1.
    V1(Box<IncomingV1>),
    /// In v2.
    V2(Box<v2::Opened>),
}

/// A message of v1 that arrived in an envelope.
#[derive(Clone, Debug, PartialEq)]
pub struct IncomingV1 {
    /// The message.
    pub message: Message,
    /// The recipient's key.
    pub recipient: PublicKey,
    /// The sender's key; `None` if the sender is anonymous.
    pub sender: Option<PublicKey>,
}

impl Incoming {
    /// The message.
    pub fn message(&self) -> &Message {
        match self {
            Self::V1(received) => &received.message,
            Self::V2(opened) => &opened.message,
        }
    }
}

/// The version of an envelope, by the type in its header: that of v1 is `JWM/1.0`.
///
/// # Errors
/// If it is no JSON object within the limits.
pub fn version(envelope: &[u8]) -> Result<Version, Error> {
    Ok(version_of(&members(envelope)?))
}

fn members(envelope: &[u8]) -> Result<Map<String, Value>, Error> {
    match json::parse(envelope, &LIMITS)? {
        Value::Object(members) => Ok(members),
        _ => Err(Error::Malformed("envelope")),
    }
}

fn version_of(members: &Map<String, Value>) -> Version {
    let header = members.get("protected").and_then(Value::as_str);
    let header = header.and_then(|text| decode(text, "header").ok());
    let header = header.and_then(|bytes| json::parse(&bytes, &v1::LIMITS).ok());
    match header.as_ref().and_then(|header| header.get("typ")) {
        Some(typ) if typ == v1::TYP => Version::V1,
        _ => Version::V2,
    }
}

/// The names of the keys that an envelope is encrypted to, so that those which are held can be looked up.
///
/// # Errors
/// If it is no envelope.
pub fn kids(envelope: &[u8]) -> Result<Vec<String>, Error> {
    let members = members(envelope)?;
    match version_of(&members) {
        Version::V1 => Ok(v1::Envelope::from_members(members)?
            .kids()
            .map(str::to_owned)
            .collect()),
        Version::V2 => v2::kids(envelope),
    }
}

/// Opens an envelope. A forward whose envelope is for a key that is held as well, as mediators make it that wrap
/// messages again, is opened too, up to [`MAX_HOPS`] deep. A forward to somebody else is returned: it is for a mediator
/// to pass on.
///
/// # Errors
/// `Unresolved` if a document is missing; `Jwe` with `NoKey` if no key is held; otherwise why it is refused.
pub fn receive(
    envelope: &[u8],
    ring: &impl KeyRing,
    documents: &v2::Documents,
) -> Result<Incoming, Error> {
    let mut received = open(envelope, ring, documents)?;
    for _ in 0..MAX_HOPS {
        let Some(forward) = Forward::read(received.message())? else {
            return Ok(received);
        };
        let [inner] = &forward.envelopes[..] else {
            return Ok(received);
        };
        match open(inner, ring, documents) {
            Ok(within) => received = within,
            Err(error) if is_not_ours(&error) => return Ok(received),
            Err(error) => return Err(error),
        }
    }
    match Forward::read(received.message())? {
        Some(_) => Err(Error::TooLarge("chain of forwards")),
        None => Ok(received),
    }
}

fn open(
    envelope: &[u8],
    ring: &impl KeyRing,
    documents: &v2::Documents,
) -> Result<Incoming, Error> {
    let members = members(envelope)?;
    match version_of(&members) {
        Version::V1 => {
            let unpacked = v1::unpack(&v1::Envelope::from_members(members)?, ring)?;
            Ok(Incoming::V1(Box::new(IncomingV1 {
                message: Message::read(unpacked.plaintext.expose(), Version::V1)?,
                recipient: unpacked.recipient,
                sender: unpacked.sender,
            })))
        }
        Version::V2 => {
            let opened = v2::open(envelope, ring, documents)?;
            Ok(Incoming::V2(Box::new(opened)))
        }
    }
}
