//! Messages of a protocol: read once into a type that can't be wrong, and written in the version of the peer.

use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::json::{self, JsonError};
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The messages of one protocol.
pub trait Vocabulary: Sized {
    /// The protocol's name, as message types have it.
    const PROTOCOL: &'static str;
    /// The latest supported minor version of each supported major version.
    const VERSIONS: &'static [Semver];
    /// Whether `notification/1.0/ack` and `report-problem/1.0/problem-report` count as the protocol's own (RFC 0003,
    /// "adopted messages").
    const ADOPTS: bool = true;

    /// Reads the message, whose protocol and version are right.
    ///
    /// # Errors
    /// If the message is not of this protocol, or not complete.
    fn read(message: &Message) -> Result<Self, Unreadable>;

    /// The message's name.
    fn name(&self) -> &'static str;

    /// Writes body and attachments into a message whose type is set.
    fn write(&self, message: &mut Message);
}

/// A message of the peer, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Incoming<M> {
    /// Its identifier.
    pub id: String,
    /// The identifier of its thread; its own, if it begins one.
    pub thread_id: String,
    /// The identifier of the thread or the invitation that its thread comes from.
    pub parent_thread_id: Option<String>,
    /// Its type, in the version to answer with: the latest that both sides know (RFC 0003, "semver rules").
    pub kind: MessageType,
    /// What it says.
    pub content: M,
}

/// Why a message was not read. The peer must act.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum Unreadable {
    /// The message is of another protocol.
    #[error("the message is of another protocol")]
    Protocol,
    /// The protocol's major version is not supported.
    #[error("this version of the protocol is not supported")]
    Version,
    /// The protocol has no such message.
    #[error("the protocol has no such message")]
    Name,
    /// A member of the body has the wrong form.
    #[error("the body of the message can't be read: {0}")]
    Body(#[from] JsonError),
    /// What the message says breaks a rule of the protocol.
    #[error("{0}")]
    Rule(&'static str),
    /// An attachment can't be read.
    #[error("an attachment can't be read: {0}")]
    Attachment(#[from] selfsame_didcomm::Error),
}

impl<M: Vocabulary> Incoming<M> {
    /// Reads a message of the protocol.
    ///
    /// # Errors
    /// If it is of another protocol or version, or not complete.
    pub fn read(message: &Message) -> Result<Self, Unreadable> {
        let version = match is_adopted(&message.kind) && M::ADOPTS {
            true => message.kind.version,
            false => version::<M>(&message.kind)?,
        };
        Ok(Self {
            id: message.id.clone(),
            thread_id: message.thread_id().to_owned(),
            parent_thread_id: message.thread.pthid.clone(),
            kind: message.kind.clone().with_version(version),
            content: M::read(message)?,
        })
    }
}

/// The version to answer this type with.
fn version<M: Vocabulary>(kind: &MessageType) -> Result<Semver, Unreadable> {
    if !kind.is_of(M::PROTOCOL, kind.version.major) {
        return Err(Unreadable::Protocol);
    }
    let common = M::VERSIONS
        .iter()
        .find_map(|ours| ours.common(kind.version));
    common.ok_or(Unreadable::Version)
}

impl Unreadable {
    /// The code for a problem report (RFC 0003, RFC 0035).
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Version => "version-not-supported",
            Self::Protocol | Self::Name => "message-not-understood",
            Self::Body(_) | Self::Rule(_) | Self::Attachment(_) => "message-parse-failure",
        }
    }
}

/// The protocol of acknowledgements.
pub(crate) const ACKS: &str = "notification";
/// The protocol of problem reports. Some agents send them as `notification/1.0/problem-report`, as RFC 0035 shows.
pub(crate) const REPORTS: &str = "report-problem";

/// Whether this is an acknowledgement or a problem report that other protocols adopt.
pub fn is_adopted(kind: &MessageType) -> bool {
    let is_report = kind.is(REPORTS, "problem-report") || kind.is(ACKS, "problem-report");
    Semver::new(1, 0).common(kind.version).is_some() && (kind.is(ACKS, "ack") || is_report)
}

/// Whether this is a problem report, of whatever protocol.
pub fn is_report(kind: &MessageType) -> bool {
    kind.is(&kind.protocol, "problem-report")
}

/// A new identifier of a message: a UUID of version 4 (RFC 0008 recommends one).
pub fn fresh_id(label: &str, ctx: &Ctx) -> String {
    let mut bytes: [u8; 16] = ctx.random(&format!("aries message {label}"));
    let [.., _, version, _, variant, _, _, _, _, _, _, _] = &mut bytes;
    *version = (*version & 0x0f) | 0x40;
    *variant = (*variant & 0x3f) | 0x80;
    let hex = selfsame_crypto::encoding::hex_encode(&bytes);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    let parts = parts.map(|part| hex.get(part).unwrap_or_default());
    parts.join("-")
}

/// Reads the body.
///
/// # Errors
/// If a member has the wrong form.
pub fn body<T: DeserializeOwned>(message: &Message) -> Result<T, Unreadable> {
    Ok(json::value_as(Value::Object(message.body.clone()))?)
}

/// Writes the body.
pub fn put_body<T: Serialize>(message: &mut Message, body: &T) {
    // Names of members are texts and numbers are finite, so writing to memory does not fail.
    if let Ok(Value::Object(members)) = serde_json::to_value(body) {
        message.body = members;
    }
}

/// Reads a member that is `null` as one that is absent.
///
/// # Errors
/// If it has the wrong form.
pub fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests;
