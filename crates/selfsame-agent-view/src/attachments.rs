//! The attachments of a message, by their formats.

use selfsame_aries::exchange::Payload;
use selfsame_aries::formats::{AttachmentFormat, find};
use serde_json::{Map, Value};

/// An attachment in a format that is known here.
#[derive(Clone, Copy, Debug)]
pub struct KnownAttachment<'a> {
    /// The format.
    pub format: &'static AttachmentFormat,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// The attachments in known formats.
pub fn known(payload: &Payload) -> impl Iterator<Item = KnownAttachment<'_>> {
    payload.attachments.iter().filter_map(|one| {
        let format = find(&one.format)?.format;
        let bytes = one.bytes.as_deref()?;
        Some(KnownAttachment { format, bytes })
    })
}

/// The attachments as JSON by the names of their formats, for controllers.
#[must_use]
pub fn by_format(payload: &Payload) -> Value {
    let mut members = Map::new();
    for one in known(payload) {
        if let Ok(value) = serde_json::from_slice(one.bytes) {
            members.insert(one.format.name.to_owned(), value);
        }
    }
    Value::Object(members)
}
