//! The type of a message: a URI of prefix, protocol, version and name (RFC 0003; DIDComm v2.1, "Message Type URI").

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The maximum length of a type in bytes.
const MAX_BYTES: usize = 512;
const DIDCOMM: &str = "https://didcomm.org/";
const LEGACY: &str = "did:sov:BzCbsNYhMrjHiqZDTUASHg;spec/";

/// The type of a message.
#[derive(Clone, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct MessageType {
    /// What the URI begins with. An answer uses the same.
    pub prefix: Prefix,
    /// The protocol's name, such as `issue-credential`.
    pub protocol: String,
    /// The protocol's version.
    pub version: Semver,
    /// The message's name in the protocol, such as `offer-credential`.
    pub name: String,
}

/// What a type begins with.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub enum Prefix {
    /// `https://didcomm.org/`.
    #[default]
    Didcomm,
    /// `did:sov:BzCbsNYhMrjHiqZDTUASHg;spec/`, of agents that are older (RFC 0348).
    Legacy,
    /// Nothing, as some controllers name the previews within a message. No message has such a type.
    Absent,
    /// Another URI, with its final delimiter: a protocol of somebody's own.
    Other(String),
}

/// The version of a protocol.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Semver {
    /// Versions that differ in it do not understand each other.
    pub major: u16,
    /// A later one adds what is optional.
    pub minor: u16,
}

impl Semver {
    /// The version `major.minor`.
    pub const fn new(major: u16, minor: u16) -> Self {
        Self { major, minor }
    }

    /// The version to answer with, if `self` is the latest that is supported and `theirs` is the peer's: the latest
    /// that both know (RFC 0003, "Semver Rules"). `None` if they do not understand each other; then a problem report
    /// with the code `version-not-supported` is due. Before 1.0 minor versions must be equal.
    pub fn common(self, theirs: Self) -> Option<Self> {
        let is_stable = self.major > 0;
        let fits = self.major == theirs.major && (is_stable || self.minor == theirs.minor);
        fits.then(|| self.min(theirs))
    }
}

impl MessageType {
    /// A type of didcomm.org.
    pub fn new(protocol: &str, version: Semver, name: &str) -> Self {
        Self {
            prefix: Prefix::Didcomm,
            protocol: protocol.to_owned(),
            version,
            name: name.to_owned(),
        }
    }

    /// Reads a type.
    ///
    /// # Errors
    /// If it has not the form `<prefix><protocol>/<major>.<minor>/<name>`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_BYTES {
            return Err(Error::TooLarge("message type"));
        }
        parts(text).ok_or(Error::Malformed("message type"))
    }

    /// Whether it is this message of this protocol. Case and punctuation do not count (RFC 0003; DIDComm v2.1,
    /// "Message Type URI"): `problem_report` is `problem-report`. Versions are for [`Semver::common`] to judge.
    pub fn is(&self, protocol: &str, name: &str) -> bool {
        is_same_name(&self.protocol, protocol) && is_same_name(&self.name, name)
    }

    /// Whether it is a message of this protocol in this major version.
    pub fn is_of(&self, protocol: &str, major: u16) -> bool {
        is_same_name(&self.protocol, protocol) && self.version.major == major
    }

    /// Another message of the same protocol, with the same prefix and version.
    #[must_use]
    pub fn sibling(&self, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..self.clone()
        }
    }

    /// The same type with another version.
    #[must_use]
    pub fn with_version(self, version: Semver) -> Self {
        Self { version, ..self }
    }

    /// The same type with another prefix, such as that of the peer.
    #[must_use]
    pub fn with_prefix(self, prefix: Prefix) -> Self {
        Self { prefix, ..self }
    }
}

/// Whether two names of protocols or messages are the same but for case and punctuation.
pub(super) fn is_same_name(one: &str, other: &str) -> bool {
    let plain = |name: &str| {
        let bytes = name.bytes().filter(u8::is_ascii_alphanumeric);
        bytes
            .map(|byte| byte.to_ascii_lowercase())
            .collect::<Vec<_>>()
    };
    one == other || plain(one) == plain(other)
}

fn parts(text: &str) -> Option<MessageType> {
    let (rest, name) = text.rsplit_once('/')?;
    let (rest, version) = rest.rsplit_once('/')?;
    let protocol = rest.rsplit(DELIMITERS).next()?;
    let prefix = rest.strip_suffix(protocol)?;
    if !is_name(name) || !is_name(protocol) {
        return None;
    }
    Some(MessageType {
        prefix: Prefix::of(prefix)?,
        protocol: protocol.to_owned(),
        version: version.parse().ok()?,
        name: name.to_owned(),
    })
}

/// What may stand between the URI of the documentation and the protocol's name (DIDComm v2.1, `delim`).
const DELIMITERS: [char; 6] = ['?', '/', '&', ':', ';', '='];

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty()
        && text.bytes().all(fits)
        && text.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

impl Prefix {
    fn of(text: &str) -> Option<Self> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic());
        match text {
            DIDCOMM => Some(Self::Didcomm),
            LEGACY => Some(Self::Legacy),
            "" => Some(Self::Absent),
            _ => is_plain.then(|| Self::Other(text.to_owned())),
        }
    }

    /// The prefix as text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Didcomm => DIDCOMM,
            Self::Legacy => LEGACY,
            Self::Absent => "",
            Self::Other(text) => text,
        }
    }
}

impl fmt::Display for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = self.prefix.as_str();
        write!(
            f,
            "{prefix}{}/{}/{}",
            self.protocol, self.version, self.name
        )
    }
}

impl fmt::Display for Semver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FromStr for Semver {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let malformed = Error::Malformed("version of the protocol");
        let number = |text: &str| {
            let digits =
                (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
            let is_shortest = text == "0" || !text.starts_with('0');
            (digits && is_shortest).then(|| text.parse().ok()).flatten()
        };
        let (major, minor) = text.split_once('.').ok_or(malformed.clone())?;
        let (major, minor) = number(major).zip(number(minor)).ok_or(malformed)?;
        Ok(Self { major, minor })
    }
}

impl FromStr for MessageType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl TryFrom<String> for MessageType {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        Self::parse(&text)
    }
}

impl From<MessageType> for String {
    fn from(kind: MessageType) -> Self {
        kind.to_string()
    }
}
