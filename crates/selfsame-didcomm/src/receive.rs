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

/// An envelope that arrived: read, not yet opened.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrivedEnvelope {
    /// In v1.
    V1(Box<v1::Envelope>),
    /// In v2. Its layers are read as they are opened.
    V2(Vec<u8>),
}

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

impl ArrivedEnvelope {
    /// Reads an envelope of either version.
    ///
    /// # Errors
    /// If it is no JSON object within the limits, or no envelope of v1 although it says so.
    pub fn read(envelope: Vec<u8>) -> Result<Self, Error> {
        let members = members(&envelope)?;
        match version_of(&members) {
            Version::V1 => v1::Envelope::from_members(members)
                .map(Box::new)
                .map(Self::V1),
            Version::V2 => Ok(Self::V2(envelope)),
        }
    }

    /// The names of the keys that it is encrypted to, so that those which are held can be looked up.
    ///
    /// # Errors
    /// If it is no envelope.
    pub fn kids(&self) -> Result<Vec<String>, Error> {
        match self {
            Self::V1(envelope) => Ok(envelope.kids().map(str::to_owned).collect()),
            Self::V2(envelope) => v2::kids(envelope),
        }
    }

    fn open(&self, ring: &impl KeyRing, documents: &v2::Documents) -> Result<Incoming, Error> {
        match self {
            Self::V1(envelope) => {
                let unpacked = v1::unpack(envelope, ring)?;
                Ok(Incoming::V1(Box::new(IncomingV1 {
                    message: Message::read(unpacked.plaintext.expose(), Version::V1)?,
                    recipient: unpacked.recipient,
                    sender: unpacked.sender,
                })))
            }
            Self::V2(envelope) => {
                let opened = v2::open(envelope, ring, documents)?;
                Ok(Incoming::V2(Box::new(opened)))
            }
        }
    }
}

/// Opens an envelope. A forward whose envelope is for a key that is held as well, as mediators make it that wrap
/// messages again, is opened too, up to [`MAX_HOPS`] deep. A forward to somebody else is returned: it is for a mediator
/// to pass on.
///
/// # Errors
/// `Unresolved` if a document is missing; `Jwe` with `NoKey` if no key is held; otherwise why it is refused.
pub fn receive(
    envelope: &ArrivedEnvelope,
    ring: &impl KeyRing,
    documents: &v2::Documents,
) -> Result<Incoming, Error> {
    let mut received = envelope.open(ring, documents)?;
    for _ in 0..MAX_HOPS {
        let Some(forward) = Forward::read(received.message())? else {
            return Ok(received);
        };
        let [inner] = &forward.envelopes[..] else {
            return Ok(received);
        };
        let inner = ArrivedEnvelope::read(inner.clone());
        match inner.and_then(|inner| inner.open(ring, documents)) {
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
