//! Attachments of messages (RFC 0017; DIDComm v2.1, "Attachments").

pub(super) mod signature;

use selfsame_crypto::encoding::base64_encode;
use selfsame_crypto::json::{self, Limits};
use serde_json::{Map, Value, json};

use self::signature::DetachedSignature;
use super::Version;
use super::members::{Fields, put};
use crate::encoding::{decode, unpadded};
use crate::error::Error;

/// The maximum number of links of one attachment.
const MAX_LINKS: usize = 16;

/// An attachment: content with its description.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// Where it stands in a message of v1.
    pub position: Position,
    /// Its identifier within the message.
    pub id: Option<String>,
    /// A description for people.
    pub description: Option<String>,
    /// A hint for the name of a file.
    pub filename: Option<String>,
    /// The media type of the content.
    pub media_type: Option<String>,
    /// The format of the content. In v1 the protocols that have formats list them in their body.
    pub format: Option<String>,
    /// How long the content is, if the sender says so.
    pub byte_count: Option<u64>,
    /// The content.
    pub content: AttachmentContent,
    /// The content's hash as the sender gives it: SHA-256 in hexadecimal (v1) or a multihash (v2).
    pub hash: Option<String>,
    /// The signatures over the content.
    pub signatures: Vec<DetachedSignature>,
}

/// Where an attachment stands in a message of v1. In v2 all are appended.
#[derive(Clone, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Position {
    /// In the list of the whole message, `~attach`.
    #[default]
    Appended,
    /// In the list of a member, such as `offers~attach`.
    List(String),
    /// As a member itself, such as `did_doc~attach`.
    Single(String),
}

/// The content of an attachment.
#[derive(Clone, Debug, PartialEq)]
pub enum AttachmentContent {
    /// Bytes in base64 as received, in either alphabet, with or without padding (RFC 0017).
    Base64(String),
    /// JSON.
    Json(Value),
    /// Addresses of the content.
    Links(Vec<String>),
}

impl Position {
    /// The member that it belongs to.
    pub fn member(&self) -> Option<&str> {
        match self {
            Self::Appended => None,
            Self::List(member) | Self::Single(member) => Some(member),
        }
    }
}

impl Attachment {
    /// An attachment of bytes.
    pub fn of_bytes(id: impl Into<String>, bytes: &[u8]) -> Self {
        let content = AttachmentContent::Base64(base64_encode(bytes));
        Self::new(Some(id.into()), content)
    }

    /// An attachment of JSON.
    pub fn of_json(id: impl Into<String>, value: Value) -> Self {
        Self::new(Some(id.into()), AttachmentContent::Json(value))
    }

    fn new(id: Option<String>, content: AttachmentContent) -> Self {
        Self {
            position: Position::Appended,
            id,
            description: None,
            filename: None,
            media_type: None,
            format: None,
            byte_count: None,
            content,
            hash: None,
            signatures: Vec::new(),
        }
    }

    /// The same attachment in the list of this member: `offers` for `offers~attach`.
    #[must_use]
    pub fn in_list(self, member: &str) -> Self {
        let position = Position::List(member.to_owned());
        Self { position, ..self }
    }

    /// The same attachment as this member alone: `did_doc` for `did_doc~attach`.
    #[must_use]
    pub fn as_member(self, member: &str) -> Self {
        let position = Position::Single(member.to_owned());
        Self { position, ..self }
    }

    /// The same attachment with this media type.
    #[must_use]
    pub fn of_type(self, media_type: &str) -> Self {
        Self {
            media_type: Some(media_type.to_owned()),
            ..self
        }
    }

    /// The same attachment with this format.
    #[must_use]
    pub fn of_format(self, format: &str) -> Self {
        Self {
            format: Some(format.to_owned()),
            ..self
        }
    }

    /// The content as bytes; JSON is written without spaces.
    ///
    /// # Errors
    /// `Linked` if the content is at a link, `TooLarge` if it is longer than `max_bytes`.
    pub fn bytes(&self, max_bytes: usize) -> Result<Vec<u8>, Error> {
        let too_large = Error::TooLarge("attachment");
        let bytes = match &self.content {
            AttachmentContent::Links(_) => return Err(Error::Linked),
            AttachmentContent::Json(value) => json::to_bytes(value),
            AttachmentContent::Base64(text)
                if text.len().saturating_mul(3) / 4 > max_bytes.saturating_add(4) =>
            {
                return Err(too_large);
            }
            AttachmentContent::Base64(text) => decode(text, "base64 of the attachment")?,
        };
        if bytes.len() > max_bytes {
            return Err(too_large);
        }
        Ok(bytes)
    }

    /// The content as JSON.
    ///
    /// # Errors
    /// `Linked` if the content is at a link; `Json` or `TooLarge` if it is not JSON within the limits.
    pub fn json(&self, limits: &Limits) -> Result<Value, Error> {
        match &self.content {
            // It was parsed with the message, whose limits are these or wider.
            AttachmentContent::Json(value) if json::to_bytes(value).len() <= limits.max_bytes => {
                Ok(value.clone())
            }
            AttachmentContent::Json(_) => Err(Error::TooLarge("attachment")),
            _ => Ok(json::parse(&self.bytes(limits.max_bytes)?, limits)?),
        }
    }

    pub(super) fn read(value: Value, position: Position, version: Version) -> Result<Self, Error> {
        let Value::Object(members) = value else {
            return Err(Error::Malformed("attachment"));
        };
        let (id, media_type) = names(version);
        let mut members = Fields(members);
        let data = members.object("data", "data of the attachment")?;
        let mut data = Fields(data.ok_or(Error::Missing("data"))?);
        Ok(Self {
            position,
            id: members.id(id, "identifier of the attachment")?,
            description: members.text("description", "description of the attachment")?,
            filename: members.text("filename", "file name of the attachment")?,
            media_type: members.text(media_type, "media type of the attachment")?,
            format: members.text("format", "format of the attachment")?,
            byte_count: members.number("byte_count", "length of the attachment")?,
            content: content(&mut data)?,
            hash: data.text(hash(version), "hash of the attachment")?,
            signatures: DetachedSignature::read(data.object("jws", "JWS of the attachment")?)?,
        })
    }

    pub(super) fn write(&self, version: Version) -> Value {
        let (id, media_type) = names(version);
        let mut members = Map::new();
        put(&mut members, id, self.id.as_deref());
        put(&mut members, "description", self.description.as_deref());
        put(&mut members, "filename", self.filename.as_deref());
        put(&mut members, media_type, self.media_type.as_deref());
        put(&mut members, "format", self.format.as_deref());
        put(&mut members, "byte_count", self.byte_count);
        let mut data = Map::new();
        let (name, content) = match (&self.content, version) {
            // RFC 0017 shows base64 with padding, DIDComm v2.1 base64url without.
            (AttachmentContent::Base64(text), Version::V1) => ("base64", json!(text)),
            (AttachmentContent::Base64(text), Version::V2) => ("base64", json!(unpadded(text))),
            (AttachmentContent::Json(value), _) => ("json", value.clone()),
            (AttachmentContent::Links(links), _) => ("links", json!(links)),
        };
        data.insert(name.to_owned(), content);
        put(&mut data, hash(version), self.hash.as_deref());
        put(&mut data, "jws", DetachedSignature::write(&self.signatures));
        members.insert("data".to_owned(), Value::Object(data));
        Value::Object(members)
    }

    /// The content as a signature covers it: base64url without padding. `None` unless it is in base64 (RFC 0017,
    /// "Signing Attachments").
    pub(super) fn signed_text(&self) -> Option<String> {
        match &self.content {
            AttachmentContent::Base64(text) => Some(unpadded(text).into_owned()),
            AttachmentContent::Json(_) | AttachmentContent::Links(_) => None,
        }
    }
}

/// The members of identifier and media type.
fn names(version: Version) -> (&'static str, &'static str) {
    match version {
        Version::V1 => ("@id", "mime-type"),
        Version::V2 => ("id", "media_type"),
    }
}

fn hash(version: Version) -> &'static str {
    match version {
        Version::V1 => "sha256",
        Version::V2 => "hash",
    }
}

/// The content. Of several only one could be what was meant or signed, so several are refused.
fn content(data: &mut Fields) -> Result<AttachmentContent, Error> {
    let malformed = Error::Malformed("content of the attachment");
    let base64 = data.text("base64", "base64 of the attachment")?;
    let json = data.0.remove("json").filter(|value| !value.is_null());
    let links = data.array("links", "links of the attachment")?;
    if links.len() > MAX_LINKS {
        return Err(Error::TooLarge("list of links"));
    }
    let links: Vec<String> = links
        .into_iter()
        .map(|link| link.as_str().map(str::to_owned))
        .collect::<Option<_>>()
        .ok_or(malformed.clone())?;
    match (base64, json, links.is_empty()) {
        (Some(text), None, true) => Ok(AttachmentContent::Base64(text)),
        (None, Some(value), true) => Ok(AttachmentContent::Json(value)),
        (None, None, false) => Ok(AttachmentContent::Links(links)),
        _ => Err(malformed),
    }
}
