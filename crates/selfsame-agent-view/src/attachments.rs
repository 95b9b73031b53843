//! The attachments of a message, by their formats.

use selfsame_aries::exchange::{Formatted, Payload};
use selfsame_aries::formats::{Artefact, AttachmentFormat, FORMATS, find};
use selfsame_driver::{Error, Result};
use serde_json::{Map, Value};

/// An attachment in a format that is known here.
#[derive(Clone, Copy, Debug)]
pub struct KnownAttachment<'a> {
    /// The format.
    pub format: &'static AttachmentFormat,
    /// The identifier in the message.
    pub id: &'a str,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// The attachments in known formats.
pub fn known(payload: &Payload) -> impl Iterator<Item = KnownAttachment<'_>> {
    payload.attachments.iter().filter_map(|one| {
        let format = find(&one.format)?.format;
        let bytes = one.bytes.as_deref()?;
        let id = one.format.as_str();
        Some(KnownAttachment { format, id, bytes })
    })
}

/// The first attachment in a known format.
///
/// # Errors
/// `BadRequest` if it is missing.
pub fn first(payload: Option<&Payload>) -> Result<KnownAttachment<'_>> {
    let mut all = payload.into_iter().flat_map(known);
    let found = all.next();
    found.ok_or_else(|| Error::bad_request("aries-attachment-unspoken"))
}

/// The attachment in the format with this name.
///
/// # Errors
/// `BadRequest` if it is missing.
pub fn of_format<'a>(payload: Option<&'a Payload>, name: &str) -> Result<KnownAttachment<'a>> {
    let mut all = payload.into_iter().flat_map(known);
    let found = all.find(|one| one.format.name == name);
    found.ok_or_else(|| Error::bad_request("aries-format-unknown").with("format", &name))
}

/// The format with this name in the API.
///
/// # Errors
/// `BadRequest` if it is missing.
pub fn named(name: &str) -> Result<&'static AttachmentFormat> {
    let mut all = FORMATS.iter().copied();
    let found = all.find(|format| format.name == name);
    found.ok_or_else(|| Error::bad_request("aries-format-unknown").with("format", &name))
}

/// An attachment in this format.
#[must_use]
pub fn attached(
    format: &'static AttachmentFormat,
    artefact: Artefact,
    bytes: Vec<u8>,
) -> Formatted {
    Formatted {
        attach_id: format.name.to_owned(),
        format: (format.id)(artefact).to_owned(),
        bytes: Some(bytes),
    }
}

/// The attachments by the names of their formats, for controllers: JSON, or the text of a credential.
#[must_use]
pub fn by_format(payload: &Payload) -> Value {
    let mut members = Map::new();
    for one in known(payload) {
        let text = || std::str::from_utf8(one.bytes).map(Value::from);
        if let Ok(value) = serde_json::from_slice(one.bytes).or_else(|_| text()) {
            members.insert(one.format.name.to_owned(), value);
        }
    }
    Value::Object(members)
}
