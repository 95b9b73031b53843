//! One message for DIDComm v1 (Aries RFCs) and v2.1: what both say, in one form.

mod attachment;
mod decorator;
mod kind;
mod members;
mod v1;
mod v2;

use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use selfsame_did::DidUrl;
use serde_json::{Map, Value};

use crate::error::Error;

pub use attachment::signature::DetachedSignature;
pub use attachment::{Attachment, AttachmentContent, Position};
pub use decorator::{AckOn, PleaseAck, ReturnRoute, Thread};
pub use kind::{MessageType, Prefix, Semver};

/// Limits on the plaintext of a message. A credential with its revocation data has 30 kB; a delivery of a mediator
/// carries several messages.
pub const LIMITS: Limits = Limits {
    max_bytes: 2 * 1024 * 1024,
    max_depth: 40,
    max_members: 20_000,
};
/// The maximum number of attachments.
const MAX_ATTACHMENTS: usize = 256;
/// The maximum number of recipients in `to`.
const MAX_TO: usize = 256;

/// The version of DIDComm that a message is written in.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Version {
    /// The messages of the Aries RFCs: `@type`, `@id`, decorators.
    V1,
    /// DIDComm Messaging v2.1, and v2.0.
    V2,
}

/// A plaintext message. Its short name is that of the specifications.
pub use PlaintextMessage as Message;

/// A plaintext message.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaintextMessage {
    /// The message's identifier, unique for its sender.
    pub id: String,
    /// What kind of message it is.
    pub kind: MessageType,
    /// Where it belongs among other messages (RFC 0008).
    pub thread: Thread,
    /// The sender's DID. v2 alone.
    pub from: Option<DidUrl>,
    /// The recipients' DIDs. v2 alone.
    pub to: Vec<DidUrl>,
    /// When the message was made. v2 alone.
    pub created: Option<UnixTime>,
    /// When the sender considers it expired. v2 alone.
    pub expires: Option<UnixTime>,
    /// A JWT that says which DID the sender had before, not verified. v2 alone.
    pub from_prior: Option<String>,
    /// Which answers may come back on the connection that the message came on (RFC 0092).
    pub return_route: Option<ReturnRoute>,
    /// Whether the sender asks for acknowledgements (RFC 0317).
    pub please_ack: Option<PleaseAck>,
    /// The identifiers of messages that this one acknowledges. v2 alone.
    pub acks: Vec<String>,
    /// The attachments, in order. Those of one member of a v1 message stand together.
    pub attachments: Vec<Attachment>,
    /// What the protocol says. v1: all members without the decorators of the whole message and without attachments;
    /// decorators of one member, such as `connection~sig`, are here.
    pub body: Map<String, Value>,
    /// Decorators (v1, such as `~service`) and headers (v2) that are not among the above, as they came.
    pub other: Map<String, Value>,
}

impl Message {
    /// A message of this kind, without anything else.
    pub fn new(kind: MessageType, id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            kind,
            thread: Thread::default(),
            from: None,
            to: Vec::new(),
            created: None,
            expires: None,
            from_prior: None,
            return_route: None,
            please_ack: None,
            acks: Vec::new(),
            attachments: Vec::new(),
            body: Map::new(),
            other: Map::new(),
        }
    }

    /// A message of this kind in the thread of `self`.
    pub fn reply(&self, kind: MessageType, id: impl Into<String>) -> Self {
        let thread = Thread {
            thid: Some(self.thread_id().to_owned()),
            ..Thread::default()
        };
        Self {
            thread,
            ..Self::new(kind, id)
        }
    }

    /// Reads a plaintext.
    ///
    /// # Errors
    /// If it is not JSON within [`LIMITS`], or a member is missing or malformed. Unknown decorators and headers are no
    /// error.
    pub fn read(plaintext: &[u8], version: Version) -> Result<Self, Error> {
        match json::parse(plaintext, &LIMITS)? {
            Value::Object(members) => Self::from_members(members, version),
            _ => Err(Error::Malformed("message")),
        }
    }

    /// Reads the members of a plaintext that has been parsed within limits, such as an invitation in a request.
    ///
    /// # Errors
    /// As [`Message::read`].
    pub fn from_members(members: Map<String, Value>, version: Version) -> Result<Self, Error> {
        match version {
            Version::V1 => v1::read(members),
            Version::V2 => v2::read(members),
        }
    }

    /// Writes the plaintext. What the version does not know is left out.
    pub fn write(&self, version: Version) -> Vec<u8> {
        json::to_bytes(&Value::Object(self.to_members(version)))
    }

    /// The members of the plaintext.
    pub fn to_members(&self, version: Version) -> Map<String, Value> {
        match version {
            Version::V1 => v1::write(self),
            Version::V2 => v2::write(self),
        }
    }

    /// The identifier of its thread: that of the thread's first message (RFC 0008; DIDComm v2.1, "Threads").
    pub fn thread_id(&self) -> &str {
        self.thread.thid.as_deref().unwrap_or(&self.id)
    }

    /// The attachments of one member of a v1 message, `offers` for `offers~attach`. In v2 all are appended.
    pub fn attached<'a>(&'a self, member: &str) -> impl Iterator<Item = &'a Attachment> {
        let of_member =
            move |attachment: &&Attachment| attachment.position.member() == Some(member);
        self.attachments.iter().filter(of_member)
    }
}

#[cfg(test)]
mod tests;
